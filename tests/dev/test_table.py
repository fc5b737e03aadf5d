"""The table of the extras says what was measured, and what the rule for bars makes of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from grader import catalog
from grader.challenge import Case, Speed
from grader.dev import planted
from grader.dev.measured import _before
from grader.dev.tabled import PAGE, Bar, caught_in, every, page, row, rule

DAY = catalog.find("rms_norm")
SLOW, SLOWER = (laggard.name for laggard in planted.laggards(DAY))
NAME = "rms_norm/rms_norm/rows=16384-cols=4096-bf16/forward"
TIMES = {
    "ours": 70.0, "honest: loop": 85.0, SLOW: 200.0, SLOWER: 184.0, "copy": 60.0, "torch": 90.0,
    "torch.compile": 80.0,
}  # fmt: skip
SPEED = Speed(Case(), moved=lambda: 1, of_copy=0.5)
BAR = Bar(DAY, NAME, SPEED, times=TIMES, caught="28 of 28")


def test_a_row_has_every_time_in_milliseconds() -> None:
    link = "[rms_norm](../../days/extras/rms_norm/README.md)"
    cells = "0.060 | 0.070 | 0.085 | 0.200 / 0.184 | 0.090 | 0.080 | 0.069 | 0.120 | 28 of 28 |"
    assert row(BAR) == f"| {link} | `rms_norm` rows=16384 cols=4096 bf16, forward: 0.5 copy | {cells}"


def test_what_was_not_measured_is_a_dash_and_ours_a_prediction() -> None:
    text = row(replace(BAR, times={}, name=NAME.replace("forward", "backward")))
    assert text.endswith(": 0.5 copy | – | (0.101) | – | – | – | – | – | – | 28 of 28 |")


def test_the_limit_is_of_bytes_or_of_operations() -> None:
    assert replace(BAR, flops=9e9, product=1e8).limit == 90.0
    assert replace(BAR, flops=9e9, product=9e8).limit == 60.0


@pytest.mark.parametrize(
    ("speed", "said"),
    [
        (SPEED, "0.5 copy keeps to the rule: 0.375 to 0.600 of copy"),
        (replace(SPEED, of_copy=0.7), "0.7 copy BREAKS the rule"),
        (replace(SPEED, of_copy=0.3), "0.3 copy BREAKS the rule"),
        (Speed(Case(), moved=lambda: 1, of_torch=0.7), "0.562 to 0.900 of torch"),
    ],
)
def test_the_rule_lies_between_a_plain_kernel_and_a_laggard(speed: Speed, said: str) -> None:
    assert said in rule(replace(BAR, speed=speed))


def test_where_a_laggard_is_too_near_there_is_no_bar() -> None:
    assert "no bar keeps to the rule: plain 85 µs, a laggard 99" in rule(
        replace(BAR, times={**TIMES, SLOWER: 99.0})
    )
    assert rule(replace(BAR, times={})) == ""


def test_mistakes_are_counted_as_a_proof_wrote_them(tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    proof.write_text(json.dumps([{"day": "rope", "caught": 21, "planted": 22}]))
    assert caught_in([proof]) == {"rope": "21 of 22"}
    assert caught_in([]) == {}


def test_the_page_has_every_bar_as_it_stands() -> None:
    found = list(every({}, {}))
    text = PAGE.read_text(encoding="utf-8")
    assert page(found, {}).startswith("# The extras, measured\n\nNot measured yet:")
    bars = [line.split("|")[2] for line in page(found, {}).splitlines() if line.startswith("| [")]
    assert bars == [line.split("|")[2] for line in text.splitlines() if line.startswith("| [")], (
        "track dev table makes it anew"
    )


def test_a_run_that_was_cut_short_goes_on_in_the_same_file(tmp_path: Path) -> None:
    file = tmp_path / "measured.json"
    assert _before(file) == {"times": {}, "launches": {}}
    file.write_text(json.dumps({"gpu": "old", "times": {NAME: TIMES}, "launches": {"rms_norm": {}}}))
    assert _before(file) == {"times": {NAME: TIMES}, "launches": {"rms_norm": {}}}
