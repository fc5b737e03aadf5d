"""The tables of solutions say what was measured, and a dash where nothing was."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.challenge import Case, Speed
from grader.cli.benchmark.results import Point, Result
from grader.course import catalog
from tools import extras_table, planted, solutions_table
from tools.check_planted import Tried
from tools.extras_table import _caught, row
from tools.grade_planted import Record
from tools.measure import KEPT
from tools.solutions_table import _row, page

DAY = catalog.find("rms_norm")
SLOW, SLOWER = (laggard.name for laggard in planted.laggards(DAY))
NAME = "rms_norm/rms_norm/rows=16384-cols=4096-bf16/forward"
POINT = Point("rms_norm", NAME, "rms_norm", "forward", "", "bf16", {}, True, 58.0)
TIMES = {
    "ours": 70.0,
    "right: loop": 85.0,
    SLOW: 200.0,
    SLOWER: 184.0,
    "copy": 60.0,
    "eager": 90.0,
    "compile": 80.0,
}
SPEED = Speed(Case(), moved=lambda: 1, of_copy=0.5)


def test_a_row_has_every_time_in_milliseconds() -> None:
    times = {name: Result(POINT, "H200", name, "", us) for name, us in TIMES.items()}
    link = "[rms_norm](../../days/extras/rms_norm/README.md)"
    cells = "0.058 | 0.070 | 0.085 | 0.200 / 0.184 | 0.090 | 0.080 | 0.069 | 0.120 | 28 of 28 |"
    wanted = f"| {link} | `rms_norm` rows=16384 cols=4096 bf16, forward: 0.5 copy | {cells}"
    assert row(DAY, NAME, SPEED, times, "28 of 28") == wanted


def test_what_was_not_measured_is_a_dash_and_ours_a_prediction() -> None:
    text = row(DAY, NAME.replace("forward", "backward"), SPEED, {}, "28 planted")
    assert text.endswith(": 0.5 copy | – | (0.099) | – | – | – | – | – | – | 28 planted |")


def test_mistakes_are_counted_as_a_proof_kept_them(tmp_path: Path) -> None:
    proof = tmp_path / "proof.jsonl"
    record = Record(proof)
    record.keep(Tried("rms_norm", "mistake", "one", "0", "gpu", False))
    record.keep(Tried("rms_norm", "mistake", "two", "1", "gpu", False, wrong=("passed",)))
    record.keep(Tried("rope", "mistake", "one", "2", "gpu", False))
    every = len(planted.mistakes(DAY))
    assert _caught(DAY, proof) == f"1 of {every}"
    assert _caught(DAY, None) == f"{every} planted"


def test_a_day_has_the_fastest_library_by_name_and_the_faster_one_in_gluon() -> None:
    us = {"ours": 100.0, "eager": 90.0, "cudnn": 50.0, "flex": 80.0, "gluon": 60.0, "gluon fast": 40.0}
    results = {name: Result(POINT, "H200", name, "", time) for name, time in us.items()}
    assert _row(DAY, "ours", results).endswith("| 0.90 | – | 0.90 | 0.50 cudnn | 0.40 | 0 |")
    of_torch = {name: results[name] for name in ("ours", "eager")}
    assert _row(DAY, "ours", of_torch).endswith("| 0.90 | – | 0.90 | – | – | 0 |")


@pytest.mark.parametrize("extras", [False, True])
def test_the_pages_are_what_the_kept_times_give(extras: bool) -> None:
    text, place = (
        (extras_table.page(KEPT, None), extras_table.PAGE) if extras else (page(KEPT), solutions_table.PAGE)
    )
    again = f"track dev table{' --extras' if extras else ''} --write makes it anew"
    assert place.read_text(encoding="utf-8") == text, again
