"""A case that a GPU has no room for is not measured, and one that a kernel fills it with fails."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case, Challenge
from grader.challenge.harness.compare import Finding
from grader.challenge.harness.trial import Trial
from grader.judge.checks import correct
from grader.judge.failures import NotMeasured

CHALLENGE = Challenge(entry="f", inputs=lambda case, draw: (), reference=lambda x: x, cases=[])
FULL = Finding("error", "OutOfMemoryError: no room", {"kind": "memory", "message": "no room"})


def tried(case: Case, finding: Finding = FULL) -> Trial:
    return Trial(CHALLENGE, case, (torch.zeros(1024),), ["x"], findings=[finding])


@pytest.mark.parametrize(("whole", "lacks"), [(16 << 10, False), ((16 << 10) - 1, True)])
def test_a_large_case_is_let_off_where_its_tensors_fill_the_gpu(
    whole: int, lacks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (0, whole))
    assert correct.lacking(tried(Case(n=1024, gpu=True))) == lacks
    assert not correct.lacking(tried(Case(n=1024))), "what every machine has room for must find it"
    assert not correct.lacking(tried(Case(n=1024, gpu=True), Finding("values", "wrong")))


def test_what_we_cannot_draw_ourselves_is_no_failure() -> None:
    with (
        pytest.raises(NotMeasured, match="more memory than this GPU has"),
        correct.drawn(Case(n=1, gpu=True)),
    ):
        raise torch.cuda.OutOfMemoryError
    with pytest.raises(torch.cuda.OutOfMemoryError), correct.drawn(Case(n=1)):
        raise torch.cuda.OutOfMemoryError
