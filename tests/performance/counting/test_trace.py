"""What `track show` draws and remarks upon: right kernels, and those that a picture must give away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.course import catalog
from grader.course.catalog import Day
from grader.errors import TrackError
from grader.grading.inspection_request import ask
from grader.grading.warm_client import Warm
from tools.planted import swapped

MASK, CASE = "mask=(source >= 0) & (source < n), other=fill", "n=10-k=9-"


def launches(warm: Warm, day: Day, path: Path, **options: Any) -> list[dict[str, Any]]:
    return [launch for part in ask(day, path, "show", warm=warm, **options) for launch in part["launches"]]


def changed(tmp_path: Path, number: int, swap: dict[str, str]) -> tuple[Day, Path]:
    day = catalog.find(str(number))
    path = tmp_path / "kernel.py"
    path.write_text(swapped(day, swap), encoding="utf-8")
    return day, path


def steps(found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield from (step for launch in found for program in launch["programs"] for step in program["steps"])


def says(found: list[dict[str, Any]]) -> str:
    return "\n".join(finding["says"] for launch in found for finding in launch["findings"])


@pytest.mark.parametrize("day", catalog.days()[::6], ids=lambda day: day.stem)
def test_of_our_solution_there_is_nothing_to_remark(day: Day, warm: Warm) -> None:
    found = launches(warm, day, day.solution)
    assert says(found) == ""
    assert not any(step["stray"] for step in steps(found))


def test_a_load_without_a_mask_is_drawn_where_it_strays(warm: Warm, tmp_path: Path) -> None:
    found = launches(warm, *changed(tmp_path, 3, {f", {MASK}": ""}), only=CASE)
    load = next(step for step in steps(found) if step["kind"] == "load")
    assert (load["tensor"], load["touched"]) == ("x_ptr", [[9, 1]])
    assert (load["strays"], load["stray"]) == ([[10, 15]], 15)
    assert "reads 15 elements outside of x_ptr: no mask holds them back" in says(found)


def test_a_store_without_a_mask_is_drawn_as_well(warm: Warm, tmp_path: Path) -> None:
    found = launches(warm, *changed(tmp_path, 3, {", mask=offs < n": ""}), only=CASE)
    assert "stores 6 elements outside of y_ptr" in says(found)
    assert {step["kind"] for step in steps(found)} == {"load", "store"}


def test_masked_lanes_are_drawn_where_they_would_have_gone(warm: Warm) -> None:
    day = catalog.find("3")
    load, store = steps(launches(warm, day, day.solution, only=CASE))
    assert (load["masked"], load["left"]) == ([[10, 15]], 15)
    assert (store["masked"], store["left"]) == ([[10, 6]], 6)


def test_the_lanes_of_a_warp_are_in_its_order(warm: Warm) -> None:
    day = catalog.find("7")
    launch = launches(warm, day, day.solution)[0]
    for step in steps([launch]):
        apart = [b - a for a, b in zip(step["lanes"], step["lanes"][1:], strict=False) if None not in (a, b)]
        assert step["apart"] == 1
        assert max(set(apart), key=apart.count) in (1, 4)  # 16 bytes a lane where rows allow it


def test_what_nobody_stores_and_what_two_store_is_said(warm: Warm, tmp_path: Path) -> None:
    day = catalog.find("8")
    source = day.solution.read_text(encoding="utf-8")
    doubled = source.replace("tl.program_id(0)", "(tl.program_id(0) // 2 * 2)")
    assert doubled != source
    path = tmp_path / "kernel.py"
    path.write_text(doubled, encoding="utf-8")
    text = says(launches(warm, day, path))
    assert "that another program has stored, too" in text
    assert "are stored by no program" in text


def test_a_case_that_is_not_there_is_named(warm: Warm) -> None:
    day = catalog.find("3")
    with pytest.raises(TrackError, match='no case matches "k=12345"'):
        ask(day, day.solution, "show", warm=warm, only="k=12345")


def test_steps_of_a_loop_are_numbered(warm: Warm) -> None:
    day = catalog.find("17")
    loads = [step for step in steps(launches(warm, day, day.solution)[:1]) if step["kind"] == "load"]
    assert loads[-1]["time"] == loads[-1]["times"] > 1


def test_a_finding_points_at_the_access_that_it_is_about(warm: Warm, tmp_path: Path) -> None:
    day, path = changed(tmp_path, 6, {"b = tl.load(b_ptrs, mask=mask)": "b = tl.load(b_ptrs)"})
    launch = launches(warm, day, path, only="B=3-M=20-N=70-b=MN")[0]  # 3 × 1 × 2: its last axis runs first
    finding = launch["findings"][0]
    assert "outside of b_ptr" in finding["says"]
    assert launch["programs"][finding["program"]]["at"] == [0, 0, 1]  # the first of them that ran
    step = launch["programs"][finding["program"]]["steps"][finding["step"]]
    assert (step["kind"], step["line"], step["tensor"]) == ("load", finding["line"], "b_ptr")
    assert step["stray"] > 0
