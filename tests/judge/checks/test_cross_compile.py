"""Launches that are compiled for GPUs that nobody has here: what does not fit there, and what spills."""

from __future__ import annotations

import pytest

from tests.made_up_day import Judged

HIDDEN = """
from dataclasses import replace

from grader.datasheets import GPUS

THERE = {
    "t4": GPUS["t4"],
    "4090": GPUS["4090"],
    "small": replace(GPUS["4090"], name="SMALL", shared=16384),
    "mi300": replace(GPUS["t4"], name="MI300X", capability=94),
}

challenge = Challenge(
    entry="product",
    inputs=lambda case, draw: (draw(case.n, case.n), THERE[case.on].shared),
    reference=lambda x, shared: x @ x,
    cases=[Case(n=16, on="t4"), Case(n=32, on="4090")],
    targets={Case(n=64, on=name, dtype=torch.float16): gpu for name, gpu in THERE.items()},
)
"""
KERNEL = """
@triton.jit
def product_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    rows, cols = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + rows * n + cols, mask=(rows < n) & (cols < n), other=0.0)
    y = tl.dot(x, x, input_precision="ieee")
    tl.store(y_ptr + rows * n + cols, y, mask=(rows < n) & (cols < n))


def product(x, shared):
    y = torch.empty_like(x)
    product_kernel[(1,)](x, y, len(x), BLOCK={block}, num_warps={warps})
    return y
"""


def test_what_fits_every_gpu_passes(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL.format(block=64, warps=4))
    assert verdict.status == "passed", verdict.diagnosis
    assert [check.name for check in verdict.checks if check.outcome == "passed"][-2] == "compiles[targets]"


@pytest.mark.parametrize(
    ("shared", "warps", "words"),
    [
        (16384, 8, "on=small-fp16, product_kernel needs 32 KB of shared memory, and on SMALL a program may"),
        (101376, 1, "on=4090-fp16, product_kernel, compiled for RTX 4090, spills"),
    ],
)
def test_what_a_gpu_has_no_room_for_fails(judged: Judged, shared: int, warps: int, words: str) -> None:
    there = f"shared == {shared} and x.dtype == torch.float16"
    source = KERNEL.format(block=f"128 if {there} else 64", warps=f"{warps} if {there} else 4")
    verdict = judged(HIDDEN, source)
    assert verdict.status == "failed"
    assert words in verdict.diagnosis
