"""320 slips by people who had not seen the rules: each fails, something is said of it, no proof is untrue.

`tests/slips.jsonl` has them: the day, what was done wrong, the edit of our solution, a piece of the line to
blame. Every 100th is graded here; test_search.py has four whose edit must be found.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from grader.cli.grade import EXPLAIN
from grader.course import catalog
from grader.grading.grade import grade
from grader.grading.warm_client import Warm
from tools.planted import TESTS, swapped

DAYS = {day.place.rpartition("/")[2]: day for day in catalog.course()}
SLIPS = [json.loads(line) for line in (TESTS / "slips.jsonl").read_text("utf-8").splitlines()]
ON_ONE_LINE = re.compile(r"On line (\d+) `(.*)` becomes `(.*)`: then every case that was tried is right\.")


def test_every_slip_can_be_planted_and_has_its_line() -> None:
    missing = [slip for slip in SLIPS if slip["at"] not in swapped(DAYS[slip["day"]], slip["swap"])]
    assert not missing


@pytest.mark.parametrize("slip", SLIPS[::100], ids=lambda slip: f"{slip['day']}: {slip['name']}")
def test_a_slip_fails_and_an_edit_that_is_told_passes(
    slip: dict[str, Any], warm: Warm, tmp_path: Path
) -> None:
    day, path = DAYS[slip["day"]], tmp_path / "kernel.py"
    source = swapped(day, slip["swap"])
    path.write_text(source, encoding="utf-8")
    verdict = grade(day, path, warm=warm, seed=4021, speed=False, explain=EXPLAIN)
    assert verdict.status == "failed"
    assert verdict.diagnosis
    edit = ON_ONE_LINE.fullmatch(verdict.edit)
    lines = source.splitlines()
    if edit and edit[2] in lines[int(edit[1]) - 1]:
        lines[int(edit[1]) - 1] = lines[int(edit[1]) - 1].replace(edit[2], edit[3], 1)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        assert grade(day, path, warm=warm, seed=4021, speed=False).status == "passed", verdict.edit
