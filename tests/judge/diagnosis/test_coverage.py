"""What nobody wrote is told from wrong numbers, in results of integers too."""

from __future__ import annotations

import pytest

from tests.judge.conftest import Judged

HIDDEN = """
challenge = Challenge(
    entry="nearest",
    inputs=lambda case, draw: (draw(case.n).abs(),),
    reference=lambda x: (x * 100).to(torch.{dtype}),
    cases=[Case(n=100)],
)
"""
KERNEL = """
@triton.jit
def nearest_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    value = tl.where(offs < 50, {value}, (x * 100).to(tl.int32))
    tl.store(out_ptr + offs, value.to(out_ptr.dtype.element_ty), mask=offs < {n})


def nearest(x):
    out = torch.empty(len(x), dtype=torch.{dtype}, device=x.device)
    nearest_kernel[(1,)](x, out, len(x), BLOCK=128)
    return out
"""


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8"])
@pytest.mark.parametrize("value", ["-1", "127"])
def test_a_wrong_integer_is_a_number(judged: Judged, dtype: str, value: str) -> None:
    verdict = judged(HIDDEN.format(dtype=dtype), KERNEL.format(dtype=dtype, value=value, n="n"))
    assert verdict.status == "failed"
    assert "never written" not in str([check.cause for check in verdict.checks]) + verdict.diagnosis


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8"])
def test_integers_that_nobody_wrote_are_told(judged: Judged, dtype: str) -> None:
    verdict = judged(HIDDEN.format(dtype=dtype), KERNEL.format(dtype=dtype, value="-1", n="10"))
    assert "from 10 on were never written" in verdict.diagnosis
