"""The page of `track show`, from accesses made by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import pytest

from grader.cli.screens import access_page
from grader.course import catalog

DAY = catalog.find("7")
Json = dict[str, Any]


def runs(elements: Iterable[int]) -> list[list[int]]:
    """[[first, count], …] of elements in any order."""
    found: list[list[int]] = []
    for element in sorted(set(elements)):
        if found and sum(found[-1]) == element:
            found[-1][1] += 1
        else:
            found.append([element, 1])
    return found


def access(
    kind: str, line: int, tensor: str, lanes: list[int], allowed: list[bool], size: int, **more: int
) -> Json:
    """An access of a tensor of `size` elements, whose lanes go to `lanes` where they are `allowed`."""
    touched = [lane for lane, free in zip(lanes, allowed, strict=True) if free and 0 <= lane < size]
    strays = [lane for lane, free in zip(lanes, allowed, strict=True) if free and not 0 <= lane < size]
    masked = [lane for lane, free in zip(lanes, allowed, strict=True) if not free]
    near = range(-1024, size + 1024)
    return {
        "kind": kind, "line": line, "tensor": tensor, "time": 1, "times": 1,
        "touched": runs(touched),
        "strays": runs(e for e in strays if e in near), "stray": len(strays),
        "masked": runs(e for e in masked if e in near), "left": len(masked),
        "lanes": [lane if free else None for lane, free in zip(lanes, allowed, strict=True)][:32],
        "apart": abs(lanes[1] - lanes[0]), "sectors": len({lane // 8 for lane in touched}),
        "needed": -(-len(touched) // 8),
        **more,
    }  # fmt: skip


def launch(
    kernel: str, grid: list[int], tensors: dict[str, list[int]], steps: list[list[Json]], findings: Any = ()
) -> Json:
    """A launch on contiguous tensors of these shapes; `steps` has a list for each program."""
    strides = {name: [shape[1], 1] if len(shape) > 1 else [1] for name, shape in tensors.items()}
    ats = [[x, y, 0] for y in range(grid[1]) for x in range(grid[0])]
    programs = enumerate(zip(ats, steps, strict=True))
    return {
        "kernel": kernel, "line": 5, "grid": grid, "total": len(ats),
        "tensors": {
            name: {"shape": shape, "stride": strides[name], "itemsize": 4} for name, shape in tensors.items()
        },
        "programs": [{"at": at, "number": number, "steps": mine} for number, (at, mine) in programs],
        "findings": list(findings),
    }  # fmt: skip


def part(name: str, *launches: Json) -> list[Json]:
    return [{"entry": name, "case": "by-hand", "launches": list(launches)}]


def vector_add(masked: bool = False) -> list[Json]:
    """1777 elements in blocks of 512; the load of x has a mask only where `masked`."""

    def program(pid: int) -> list[Json]:
        offs = [512 * pid + i for i in range(512)]
        mask = [o < 1777 for o in offs]
        loads = access("load", 9, "x_ptr", offs, mask if masked else [True] * 512, 1777)
        return [
            loads,
            access("load", 10, "y_ptr", offs, mask, 1777),
            access("store", 11, "z_ptr", offs, mask, 1777),
        ]

    found = {"says": "Line 9 reads 271 elements outside of x_ptr: no mask holds these lanes back.", "line": 9}
    tensors = {name: [1777] for name in ("x_ptr", "y_ptr", "z_ptr")}
    found = [] if masked else [{**found, "program": 3, "step": 0}]
    return part("add", launch("add_kernel", [4, 1, 1], tensors, [program(i) for i in range(4)], found))


def tile(
    kind: str,
    line: int,
    tensor: str,
    first: tuple[int, int],
    size: tuple[int, int],
    shape: tuple[int, int],
    down: bool = False,
) -> Json:
    """A masked tile of a matrix; its lanes go along rows, or down columns."""
    places = [(first[0] + i, first[1] + j) for i in range(size[0]) for j in range(size[1])]
    if down:
        places.sort(key=lambda place: place[::-1])
    mask = [i < shape[0] and j < shape[1] for i, j in places]
    return access(kind, line, tensor, [i * shape[1] + j for i, j in places], mask, shape[0] * shape[1])


def transpose() -> list[Json]:
    """70 × 100 in tiles of 32 × 32: loads go along rows, stores down columns."""

    def program(m: int, n: int) -> list[Json]:
        return [
            tile("load", 9, "x_ptr", (32 * m, 32 * n), (32, 32), (70, 100)),
            tile("store", 10, "y_ptr", (32 * n, 32 * m), (32, 32), (100, 70), down=True),
        ]

    steps = [program(m, n) for n in range(4) for m in range(3)]
    return part(
        "transpose", launch("transpose_kernel", [3, 4, 1], {"x_ptr": [70, 100], "y_ptr": [100, 70]}, steps)
    )


def softmax() -> list[Json]:
    """9 rows of 40, each in a block of 64."""

    def program(row: int) -> list[Json]:
        return [
            tile(kind, 9, name, (row, 0), (1, 64), (9, 40))
            for kind, name in (("load", "x_ptr"), ("store", "y_ptr"))
        ]

    return part(
        "softmax",
        launch(
            "softmax_kernel", [9, 1, 1], {"x_ptr": [9, 40], "y_ptr": [9, 40]}, [program(i) for i in range(9)]
        ),
    )


def drawn(parts: list[Json], name: str) -> tuple[access_page.Sheet, list[Json]]:
    sheet = access_page.Sheet.of(parts[0]["launches"][0], name)
    return sheet, sheet.drawn


def cells(boxes: list[tuple[int, int, int, int]]) -> set[tuple[int, int]]:
    return {(x + i, y + j) for x, y, width, height in boxes for i in range(width) for j in range(height)}


def test_the_page_is_one_file_that_fetches_nothing_and_quotes_source_safely() -> None:
    page = access_page.page(DAY, ["a < b & c  # </script><!-- {{title}}"], vector_add())
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    data = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    held = json.loads(data[1])
    assert held["source"] == ["a < b & c  # </script><!-- {{title}}"]
    assert held["launches"][0]["findings"][0]["program"] == 3
    assert "track show" in page  # by which it is known as ours, so that it may be written anew
    assert "<title>Day 7 · " in page


def test_lanes_that_no_mask_holds_back_are_drawn_after_the_end_of_a_vector() -> None:
    sheet, steps = drawn(vector_add(), "x_ptr")
    last = 1777 // 64, 1777 % 64
    assert cells(steps[3]["strays"]) == {(e % 64, e // 64) for e in range(1777, 2048)}
    assert not steps[3]["masked"]
    assert sheet.outline() == [
        [(0, 0), (64, 0), (64, last[0]), (last[1], last[0]), (last[1], last[0] + 1), (0, last[0] + 1)]
    ]
    assert sheet.notes() == ["64 a row"]


def test_lanes_that_a_mask_holds_back_are_drawn_after_the_end_of_a_vector() -> None:
    _, steps = drawn(vector_add(masked=True), "x_ptr")
    assert not steps[3]["strays"]
    assert cells(steps[3]["masked"]) == {(e % 64, e // 64) for e in range(1777, 2048)}


def test_strays_that_are_too_far_away_to_be_drawn_are_owned_up_to() -> None:
    far = access("store", 9, "x_ptr", list(range(64, 4160)), [True] * 4096, 64)
    sheet, (step,) = drawn(part("far", launch("far_kernel", [1, 1, 1], {"x_ptr": [64]}, [[far]])), "x_ptr")
    assert len(cells(step["strays"])) == 1024
    assert step["unseen"]["strays"]
    assert sheet.bands == [(0, 0, 17)]


def test_what_lies_before_a_tensor_is_drawn_above_it() -> None:
    before = access("load", 9, "x_ptr", list(range(-1, 63)), [True] * 64, 128)
    sheet, (step,) = drawn(
        part("off", launch("off_kernel", [1, 1, 1], {"x_ptr": [128]}, [[before]])), "x_ptr"
    )
    assert step["strays"] == [(63, 0, 1, 1)]
    assert sheet.outline()[0][0] == (0, 1)


def test_masked_lanes_at_the_end_of_a_row_lie_beside_it_and_not_on_the_next() -> None:
    _, steps = drawn(softmax(), "x_ptr")
    for row, step in enumerate(steps):
        assert step["touched"] == [(0, row, 40, 1)]
        assert step["masked"] == [(40, row, 24, 1)]


def test_a_block_of_several_rows_has_a_margin_and_below_it_lies_in_memory() -> None:
    block = tile("load", 9, "x_ptr", (0, 0), (16, 64), (9, 40))
    _, (step,) = drawn(part("rows", launch("rows_kernel", [1, 1, 1], {"x_ptr": [9, 40]}, [[block]])), "x_ptr")
    assert step["touched"] == [(0, 0, 40, 9)]
    margin = {(x, y) for x in range(40, 64) for y in range(8)}
    assert cells(step["masked"]) == margin | {(e % 40, e // 40) for e in range(9 * 40, 15 * 40 + 64)}


def test_rows_that_are_masked_whole_lie_below_those_that_are_touched() -> None:
    block = tile("load", 9, "x_ptr", (0, 0), (16, 40), (9, 40))
    _, (step,) = drawn(part("tall", launch("tall_kernel", [1, 1, 1], {"x_ptr": [9, 40]}, [[block]])), "x_ptr")
    assert step["masked"] == [(0, 9, 40, 7)]


def test_ragged_tiles_reach_over_both_edges() -> None:
    sheet, steps = drawn(transpose(), "x_ptr")
    assert steps[-1]["touched"] == [(96, 64, 4, 6)]
    assert steps[9]["masked"] == [(100, 0, 28, 32)]
    assert sheet.data()["right"] == 128


def test_a_matrix_that_is_taken_for_a_vector_has_no_margins() -> None:
    offs = list(range(256, 512))
    flat = access("load", 9, "x_ptr", offs, [o < 400 for o in offs], 400)
    _, (step,) = drawn(part("flat", launch("flat_kernel", [1, 1, 1], {"x_ptr": [10, 40]}, [[flat]])), "x_ptr")
    assert cells(step["masked"]) == {(e % 40, e // 40) for e in range(400, 512)}


def test_a_walk_down_a_column_is_drawn_as_one() -> None:
    _, steps = drawn(transpose(), "y_ptr")
    assert steps[0]["lanes"] == [(0, y) for y in range(32)]
    assert steps[-1]["lanes"][4:] == [None] * 28  # held back by the mask


def sheet(shape: list[int], stride: list[int]) -> access_page.Sheet:
    tensors = {"x_ptr": {"shape": shape, "stride": stride, "itemsize": 4}}
    step = {**access("load", 9, "x_ptr", [0, 1], [True] * 2, 2)}
    return access_page.Sheet.of(
        {"tensors": tensors, "programs": [{"at": [0, 0, 0], "number": 0, "steps": [step]}]}, "x_ptr"
    )


def test_a_sliced_tensor_is_drawn_as_it_lies_in_memory() -> None:
    sliced = sheet([70, 100], [128, 1])
    assert sliced.outline() == [[(0, 0), (100, 0), (100, 69), (100, 69), (100, 70), (0, 70)]]
    assert sliced.notes() == ["as it lies in memory"]


def test_between_slices_is_a_gap() -> None:
    assert sheet([3, 20, 32], [640, 32, 1]).bands == [(0, 0, 20), (21, 20, 20), (42, 40, 20)]


def test_a_large_tensor_is_cut_and_says_so() -> None:
    large = sheet([1000, 1000], [1000, 1])
    assert sum(rows for _, _, rows in large.bands) == 262
    assert large.bands[-1][1] + large.bands[-1][2] == 1000  # the last rows are among those drawn
    assert large.notes() == ["262,000 of its 1,000,000 elements are drawn"]


def test_a_long_vector_gets_longer_rows() -> None:
    assert [sheet([n], [1]).columns for n in (5, 8192, 8193, 1 << 20)] == [64, 64, 128, 512]


def test_lanes_that_share_a_place_are_all_drawn() -> None:
    twice = access("load", 9, "x_ptr", [0, 1, 1, 2] * 2, [True, False, False, False] * 2, 64)
    _, (step,) = drawn(part("twice", launch("k", [1, 1, 1], {"x_ptr": [64]}, [[twice]])), "x_ptr")
    assert step["unseen"] == {"strays": False, "masked": False}


@pytest.mark.parametrize("shape", [[], [1], [0], [0, 4], [1, 1]])
def test_tensors_of_one_element_or_none_can_be_drawn(shape: list[int]) -> None:
    assert sheet(shape, [1] * len(shape)).data()["height"] >= 1
