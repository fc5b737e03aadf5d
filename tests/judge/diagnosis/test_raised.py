"""What is said of results of more than 2³¹ elements: an int32 is blamed for what lies beyond it alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from grader.challenge import Case, Challenge
from grader.judge.case.compare import Expected, Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Evidence
from grader.judge.diagnosis.raised import overflow

CHALLENGE = Challenge("f", lambda case, draw: (), lambda x: x, [])
SMALL = Trial(CHALLENGE, Case(n=4), (torch.zeros(4),), ["x"])
ROWS, COLS = 2**13 + 1, 2**18
ROW_BY_ROW: dict[str, Any] = {
    "rows": ROWS,
    "picked": [0, 5000, ROWS - 1],
}  # the oracle's answer has three rows


def blamed(kind: str, index: list[int], **more: Any) -> bool:
    facts = more.pop("facts", {}) | {"index": index, "result": 0}
    shape = (len(more["picked"]) if more else ROWS, COLS)
    want = Expected(torch.empty(shape, device="meta"), torch.float32, (0.0, torch.zeros(1)))
    wrong = [Finding(kind, "", facts)]
    whole = (torch.empty(ROWS, COLS, device="meta"),)
    large = replace(SMALL, arguments=whole, expected=(want,), findings=wrong, **more)
    return overflow(large, wrong[0], Evidence([SMALL, large])) is not None


@pytest.mark.parametrize(("row", "beyond"), [(0, False), (ROWS - 2, False), (ROWS - 1, True)])
def test_what_an_int32_still_counts_is_not_laid_to_it(row: int, beyond: bool) -> None:
    assert blamed("values", [row, 0]) == beyond


@pytest.mark.parametrize(("row", "beyond"), [(1, False), (2, True)])
def test_rows_that_were_picked_count_as_the_rows_that_they_are(row: int, beyond: bool) -> None:
    assert blamed("values", [row, 0], **ROW_BY_ROW) == beyond


def test_draws_and_a_want_of_memory_are_no_offsets() -> None:
    assert not blamed("chance", [ROWS - 1, 0])
    assert not blamed("error", [], facts={"kind": "memory"})
    assert blamed("error", [], facts={"kind": "exception"})
