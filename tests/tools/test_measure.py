"""From one file of measured times: which bars stand, and how good our solutions are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.cli.benchmark import results
from grader.cli.benchmark.results import Machine, Point, Result
from grader.cli.screens import Terminal
from grader.course import catalog
from grader.errors import TrackError
from tests.shown import Screen
from tools import measure, planted, prediction_accuracy, solutions_table, speed_bar_margins

DAY = catalog.find("11")  # two bars, and a laggard that is slow on one of them alone
MACHINE = Machine(
    "NVIDIA H200", 4000.0, {"fp16": 700.0}, 1900, 1980, versions={"triton": "3.6.0"}, at="2026-11-23T"
)
WIDE, NARROW = ("rows=8192-cols=8192-fp32", "rows=4194304-cols=16-fp32")
ONE_ROW = "one row a program, however short"


def result(case: str, provider: str, us: float, **more: object) -> Result:
    bar = f"{DAY.stem}/row_stats/{case}/forward"
    point = Point(11, bar, "row_stats", "forward", case, "fp32", {"rows": 8192}, True, 64.0)
    stamp = measure.hashes(DAY).get(provider, "torch 2.11.0")
    return Result(point, MACHINE.gpu, provider, stamp, us, us, us, us + 9, **more)  # type: ignore[arg-type]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A copy takes 60 µs, so that a bar of 0.6 of it allows 100."""
    path = tmp_path / "h200.jsonl"
    wide = {"copy": 60.0, "eager": 90.0, "compile": 75.0, "ours": 80.0, "right: lanes": 85.0, ONE_ROW: 81.0}
    narrow = {"copy": 60.0, "eager": 90.0, "ours": 80.0, "right: lanes": 82.0, ONE_ROW: 2500.0}
    three = {laggard.name: 200.0 for laggard in planted.laggards(DAY) if laggard.name != ONE_ROW}
    every = [result(WIDE, *one) for one in {**wide, **three}.items()]
    every += [result(NARROW, *one) for one in {**narrow, **three, **dict.fromkeys(three, 190.0)}.items()]
    fact = {"kernel": "row_stats_kernel", "registers": 32, "stack": 0, "shared": 0}
    every[3] = replace(every[3], kernels=[fact])
    results.append(path, [MACHINE, *every])
    return path


def test_a_laggard_counts_on_the_bar_where_it_is_slowest(file: Path) -> None:
    wide, narrow = speed_bar_margins.held(DAY, measure.timed(measure.record(file)))
    assert wide.needed == narrow.needed == pytest.approx(100.0)
    assert wide.right == ("right: lanes", 85.0)
    assert wide.slow is not None
    assert wide.slow[1] == 200.0
    assert narrow.slow == (ONE_ROW, 2500.0)
    assert wide.stands
    assert narrow.stands


def test_what_changed_since_has_no_time(file: Path) -> None:
    results.append(file, [replace(result(WIDE, "ours", 50.0), stamp="0123456789ab triton 3.6.0")])
    found = measure.timed(measure.record(file))[result(WIDE, "ours", 0.0).point.bar]
    assert "ours" not in found
    assert found["right: lanes"].us == 85.0


def test_a_bar_falls_where_a_right_kernel_nearly_fails_or_a_slow_one_nearly_passes(file: Path) -> None:
    results.append(file, [result(WIDE, "right: lanes", 90.0)])
    (wide, _) = speed_bar_margins.held(DAY, measure.timed(measure.record(file)))
    assert not wide.stands
    assert wide.fitting == 0.45  # 103.5 to 174 µs: shares of 0.34 to 0.58
    results.append(file, [result(WIDE, "right: lanes", 85.0)])
    slow = next(one.name for one in planted.laggards(DAY) if one.name != ONE_ROW)
    results.append(file, [result(WIDE, slow, 110.0), result(NARROW, slow, 84.0)])
    (wide, _) = speed_bar_margins.held(DAY, measure.timed(measure.record(file)))
    assert not wide.stands
    assert wide.fitting is None  # 110 is not 1.15² times 85


def test_the_report_names_both_sides_and_says_by_its_code_whether_all_stand(file: Path) -> None:
    screen = Screen()
    assert speed_bar_margins.report(Terminal(screen), file, [DAY]) == 0
    shown = screen.shown
    assert "right: lanes 85 µs" in shown
    assert "+18%" in shown
    assert "2 of 2 bars stand." in shown
    results.append(file, [result(WIDE, "ours", 99.0)])
    assert speed_bar_margins.report(Terminal(screen), file, [DAY]) == 1
    assert "1 of 2 bars stand." in screen.shown


def test_the_table_has_a_row_a_bar_and_says_by_what_it_was_measured(file: Path) -> None:
    text = solutions_table.page(file)
    assert "one NVIDIA H200, 2026-11-23" in text.replace("\n", " ")
    rows = [line for line in text.splitlines() if line.startswith("| [11]")]
    assert rows[0] == (
        f"| [11]({DAY.place}.py) | `row_stats` {WIDE} "
        "| 80.0 | 0.80 | 1.12 | 0.94 | 0.94 | – | – | 89, eager 99 |"
    )
    assert len(rows) == 2
    results.append(
        file, [result(WIDE, "compile", 75.0, problem="its values are off"), result(WIDE, "liger", 70.0)]
    )
    row = next(line for line in solutions_table.page(file).splitlines() if WIDE in line)
    assert "| 80.0 | 0.80 | 1.12 | – | 1.12 | 0.88 liger |" in row
    anew = result(WIDE, "ours", 79.0)
    results.append(file, [MACHINE, replace(anew, point=replace(anew.point, limit_us=65.0))])
    row = next(line for line in solutions_table.page(file).splitlines() if WIDE in line)
    assert row.endswith("| 79.0 | 0.82 | – | – | – | – | – | 88 |"), "a ratio is of one run"


def test_predictions_are_held_against_the_same_file(file: Path) -> None:
    known = prediction_accuracy._record(file)
    assert known["triton"] == "3.6.0"
    assert known["times"][f"{DAY.stem}/row_stats/{WIDE}/forward"]["ours"] == 80.0
    assert known["launches"][DAY.stem]["ours"][0]["registers"] == 32


def test_a_file_without_a_measurement_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrackError, match="holds no measurement"):
        solutions_table.page(tmp_path / "none.jsonl")


def test_every_planted_kernel_is_written_where_it_can_be_loaded(tmp_path: Path) -> None:
    found = measure.planted_files(DAY, tmp_path)
    assert set(found) == {name for name, _, _ in measure.kernels(DAY)} - {"ours", "fast"}
    assert all("row_stats" in Path(path).read_text() for path in found.values())
