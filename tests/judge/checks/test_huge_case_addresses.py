"""Huge tensors without memory: their addresses are judged on every CPU."""

from __future__ import annotations

import re
from dataclasses import asdict

import pytest

from grader.verdict import Check, Verdict
from tests.made_up_day import Judged

HIDDEN = """
challenge = Challenge(
    entry="double",
    inputs=lambda case, draw: (draw(case.rows, case.cols),),
    reference=lambda x: 2 * x,
    cases=[Case(rows=3, cols=32), Case(rows=170_001, cols=2**14, dtype=torch.float16, huge=True)],
    requires=("int32_overflow", "grid_axes", "huge_sizes"),
)
"""
KERNEL = """
@triton.jit
def double_kernel(x_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    for row in range({first}, rows, tl.num_programs({axis})):
        x = tl.load(x_ptr + {row} * cols + offs, mask=offs < cols)
        tl.store(y_ptr + {row} * cols + offs, 2 * x, mask=offs < cols)


def double(x):
    y = torch.empty_like(x)
    rows, cols = x.shape
    double_kernel[{grid}](x, y, rows, cols, BLOCK=triton.next_power_of_2(cols))
    return y
"""
RIGHT = {"first": "tl.program_id(0)", "axis": "0", "row": "row.to(tl.int64)", "grid": "(rows,)"}


def walked(verdict: Verdict) -> Check:
    return next(check for check in verdict.checks if check.name.endswith("-walked]"))


@pytest.mark.parametrize(
    "right",
    [
        RIGHT,
        {**RIGHT, "first": "tl.program_id(0).to(tl.int64)", "row": "row"},
        {**RIGHT, "grid": "(min(rows, 100),)"},
    ],
    ids=["widened in the loop", "widened before it", "many rows a program"],
)
def test_a_kernel_that_counts_in_int64_passes(judged: Judged, right: dict[str, str]) -> None:
    verdict = judged(HIDDEN, KERNEL.format(**right))
    assert (verdict.status, verdict.diagnosis) == ("passed", "")
    assert (walked(verdict).outcome, walked(verdict).group) == ("passed", "edges")


@pytest.mark.parametrize("grid", ["(rows,)", "(min(rows, 100),)"], ids=["one row", "many rows a program"])
def test_an_offset_that_passes_int32_is_named_with_its_line(judged: Judged, grid: str) -> None:
    verdict = judged(HIDDEN, KERNEL.format(**{**RIGHT, "row": "row", "grid": grid}))
    assert (verdict.status, walked(verdict).outcome) == ("failed", "failed")
    assert "elements before the start of x_ptr: its offset passed 2³¹ in int32" in verdict.diagnosis
    assert (verdict.diagnosis[:13], verdict.look_at) == ("Line 11 loads", "the offsets on line 11")


def test_where_no_lesson_asks_for_it_an_offset_in_int32_is_a_limit(judged: Judged) -> None:
    hidden = re.sub("requires=.*", "", HIDDEN)
    verdict = judged(hidden, KERNEL.format(**{**RIGHT, "row": "row"}))
    assert (verdict.status, verdict.exit_code, walked(verdict).outcome) == ("passed", 0, "limit")
    (limit,) = verdict.limits
    assert (limit.demand, limit.says) == ("int32_overflow", "line 11 counts row * cols in int32")
    assert verdict.to_json()["limits"] == (asdict(limit),)
    assert verdict.score() == judged(hidden, KERNEL.format(**RIGHT)).score()


def test_an_access_beside_its_tensor_is_named_though_it_changes_no_result(judged: Judged) -> None:
    hidden = HIDDEN.replace("(draw(case.rows, case.cols),)", "(draw(case.rows, case.cols), draw(case.cols))")
    hidden = hidden.replace("lambda x: 2 * x", "lambda x, b: x + b").replace("cols=2**14", "cols=2**14 - 5")
    kernel = KERNEL.format(**RIGHT).replace("2 * x,", "x + tl.load(b_ptr + offs),")
    kernel = kernel.replace("x_ptr, y_ptr, rows", "x_ptr, b_ptr, y_ptr, rows").replace("(x)", "(x, b)")
    verdict = judged(hidden, kernel.replace("(x, b)\n", "(x)\n").replace("(x, y,", "(x, b, y,"))
    assert (verdict.status, walked(verdict).outcome) == ("failed", "failed")
    assert "loads up to 5 elements past the end of b_ptr in program" in verdict.diagnosis
    assert verdict.diagnosis.endswith("no mask holds them back.")


def test_a_mask_that_passes_int32_is_told_with_its_kernel(judged: Judged) -> None:
    hidden = HIDDEN.replace("double", "half").replace("2 * x", "x.flatten()[: x.numel() // 2]")
    kernel = """
@triton.jit
def half_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=2 * offs < n), mask=2 * offs < n)


def half(x):
    y = torch.empty(x.numel() // 2, dtype=x.dtype, device=x.device)
    half_kernel[(triton.cdiv(y.numel(), 16384),)](x, y, x.numel(), BLOCK=16384)
    return y
"""
    verdict = judged(hidden, kernel)
    assert "past the end" in walked(verdict).cause["reason"]
    assert "Nothing in half_kernel is counted in int64" in verdict.diagnosis


def test_a_grid_that_cuda_refuses_fails(judged: Judged) -> None:
    wrong = {**RIGHT, "first": "tl.program_id(1)", "axis": "1", "grid": "(1, rows)"}
    verdict = judged(HIDDEN, KERNEL.format(**wrong))
    assert verdict.status == "failed"
    assert verdict.diagnosis.startswith("The grid is (1, 170001, 1); axes 1 and 2 end at 65535 programs")


def test_what_the_launcher_raises_at_such_a_size_alone_fails(judged: Judged) -> None:
    kernel = KERNEL.format(**RIGHT).replace("    y = ", "    assert x.numel() < 2**31\n    y = ")
    verdict = judged(HIDDEN, kernel)
    assert (verdict.status, walked(verdict).outcome, verdict.look_at) == ("failed", "failed", "line 16")
    told = "At full size your code raised AssertionError: `assert x.numel() < 2**31` does not hold"
    assert verdict.diagnosis == told


def test_what_only_a_gpu_could_do_is_not_measured(judged: Judged) -> None:
    asks = "    if x.numel() > 2**31:\n        torch.cuda.Stream()\n    y = "
    verdict = judged(HIDDEN, KERNEL.format(**RIGHT).replace("    y = ", asks))
    assert (verdict.status, walked(verdict).outcome) == ("passed", "not measured")
