"""A thousand programs whatever the size: what their loops keep is looked at where they have a second turn."""

from __future__ import annotations

import pytest

from tests.made_up_day import Judged

HIDDEN = """
challenge = Challenge(
    entry="double",
    inputs=lambda case, draw: (draw(case.rows, case.cols),),
    reference=lambda x: 2 * x,
    cases=[Case(rows=3, cols=32), Case(rows=170_001, cols=64, dtype=torch.float16, huge=True)],
    turns=[Case(rows=rows, cols=4) for rows in (11, 301, 2001)],
)
"""
KERNEL = """
@triton.jit
def double_kernel(x_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    y = tl.zeros((BLOCK,), tl.float32)
    for row in range(tl.program_id(0), rows, {programs}):
        x = tl.load(x_ptr + row.to(tl.int64) * cols + offs, mask=offs < cols, other=0.0)
        y = {y}
        tl.store(y_ptr + row.to(tl.int64) * cols + offs, y, mask=offs < cols)


def double(x):
    y = torch.empty_like(x)
    rows, cols = x.shape
    double_kernel[(min(rows, {programs}),)](x, y, rows, cols, BLOCK=triton.next_power_of_2(cols))
    return y
"""


def test_right_loops_pass(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL.format(y="2 * x", programs=200))
    assert (verdict.status, verdict.diagnosis) == ("passed", "")


@pytest.mark.parametrize(("programs", "rows"), [(10, 11), (200, 301)])
def test_the_smallest_case_with_a_second_turn_is_named(judged: Judged, programs: int, rows: int) -> None:
    verdict = judged(HIDDEN, KERNEL.format(y="y + 2 * x", programs=programs))
    assert verdict.status == "failed"
    said = f"With rows={rows}-cols=4-fp32, where programs have more than one tile to do: "
    assert verdict.diagnosis.startswith(said)


def test_what_takes_too_long_is_not_tried(judged: Judged) -> None:
    """2000 programs of two rows: so many are not evaluated, and huge cases show addresses alone."""
    hidden = HIDDEN.replace("(11, 301, 2001)", "(20_001,)")
    verdict = judged(hidden, KERNEL.format(y="y + 2 * x", programs=10_000))
    assert verdict.status == "passed"
