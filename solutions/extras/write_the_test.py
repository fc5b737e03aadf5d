"""Extra write_the_test: is a softmax right? A test that leaves each promise of day 13 no way out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def inputs() -> Iterator[torch.Tensor]:
    """Matrices [m, n] that differ in what a softmax may depend on: one thing at a time."""
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        yield torch.randn(3, 300, device=DEVICE).to(dtype)
        # The same shape and dtype again: what is kept from one call to the next is overwritten now.
        yield torch.randn(3, 300, device=DEVICE).to(dtype)
    # Lengths: nothing, one, around a block, the longest that is promised; and more rows than programs.
    for shape in ((0, 8), (1, 1), (5, 1), (3, 127), (3, 129), (2, 4099), (1, 16384), (1500, 3)):
        yield torch.randn(shape, device=DEVICE)
    # Layouts: a slice of wider rows, one row many times.
    yield torch.randn(6, 70, device=DEVICE)[:, :64]
    yield torch.randn(1, 50, device=DEVICE).expand(4, 50)
    # Numbers: large ones of both signs, all far below 0, all equal.
    yield torch.randn(3, 77, device=DEVICE) * 1e4
    yield torch.randn(3, 77, device=DEVICE) - 1e5
    yield torch.full((2, 100), 3.0, device=DEVICE)
    # -inf here and there, in a whole row; inf; NaN.
    for special in (-math.inf, math.inf, math.nan):
        x = torch.randn(4, 77, device=DEVICE)
        x[0, 5] = x[2, 70] = special
        yield x
    yield torch.full((2, 77), -math.inf, device=DEVICE)


def close(y: torch.Tensor, x: torch.Tensor) -> bool:
    """Whether y is the softmax of x up to rounding: in 16 bits once, in fp32 a few times."""
    wanted = torch.softmax(x.double(), dim=-1)
    # Half a step of y's dtype, relative to the number at hand, and as much again for the way there.
    step = torch.finfo(y.dtype).eps
    relative = 0.52 * step if y.dtype.itemsize < 4 else 1e-5
    smallest = torch.finfo(y.dtype).smallest_normal * step
    off = (y.double() - wanted).abs()
    near = off <= relative * wanted + smallest
    # NaN is near nothing: it must stand where it belongs, and nowhere else.
    return bool((near | (y.isnan() & wanted.isnan())).all())


def is_right(candidate: Callable[[torch.Tensor], torch.Tensor]) -> bool:
    """Return whether candidate(x) is the softmax of each row of x[m, n]; what raises is refused."""
    earlier = []
    for x in inputs():
        before = x.clone()
        y = candidate(x)
        if y.shape != x.shape or y.dtype != x.dtype or not y.is_contiguous():
            return False
        if not torch.equal(x.nan_to_num(7.0), before.nan_to_num(7.0)) or not close(y, before):
            return False
        earlier.append((y, before))
    # What was returned before belongs to the caller: later calls must have left it alone.
    return all(close(y, x) for y, x in earlier)


if __name__ == "__main__":
    print("torch's own softmax:", "right" if is_right(lambda x: torch.softmax(x, dim=-1)) else "refused")
    print("its logarithm:", "right" if is_right(lambda x: torch.log_softmax(x, dim=-1)) else "refused")
