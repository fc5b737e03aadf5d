"""Huge tensors without memory: their addresses are judged on every CPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from grader.judge.checks import walked as walking
from grader.judge.failures import NotMeasured
from grader.verdict import Check, Verdict
from tests.judge.conftest import Judged

HIDDEN = """
challenge = Challenge(
    entry="double",
    inputs=lambda case, draw: (draw(case.rows, case.cols),),
    reference=lambda x: 2 * x,
    cases=[Case(rows=3, cols=32), Case(rows=170_001, cols=2**14, dtype=torch.float16, huge=True)],
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


def test_a_grid_that_cuda_refuses_fails(judged: Judged) -> None:
    wrong = {**RIGHT, "first": "tl.program_id(1)", "axis": "1", "grid": "(1, rows)"}
    verdict = judged(HIDDEN, KERNEL.format(**wrong))
    assert verdict.status == "failed"
    assert verdict.diagnosis.startswith("The grid is (1, 170001, 1); axes 1 and 2 end at 65535 programs")


def test_what_raises_at_such_a_size_is_not_measured(judged: Judged) -> None:
    kernel = KERNEL.format(**RIGHT).replace("    y = ", "    assert x.numel() < 2**31\n    y = ")
    verdict = judged(HIDDEN, kernel)
    assert (verdict.status, walked(verdict).outcome) == ("passed", "not measured")


def test_a_gpu_beside_which_nothing_can_be_interpreted_says_that_it_was_not_judged() -> None:
    session: Any = SimpleNamespace(interpreting=SimpleNamespace(possible=False))
    nothing: Any = None
    with pytest.raises(NotMeasured, match="track doctor"):
        walking.check(session, nothing, nothing)
