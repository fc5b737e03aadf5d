"""Extra write_the_test: is a softmax right? A test that leaves each promise of day 13 no way out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def inputs() -> Iterator[torch.Tensor]:
    """Matrices [m, n] that differ in what a softmax may depend on: one thing at a time."""
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        yield torch.randn(3, 300, device=DEVICE).to(dtype)
    # TODO 1: lengths and numbers of rows, layouts, and the numbers themselves; each where code may turn off.


def close(y: torch.Tensor, x: torch.Tensor) -> bool:
    """Whether y is the softmax of x up to rounding: in 16 bits once, in fp32 a few times."""
    wanted = torch.softmax(x.double(), dim=-1)
    # TODO 2: allow what rounding does to each element, and less than the next lower precision would do.
    # TODO 3: let NaN stand where it belongs, and nowhere else.


def is_right(candidate: Callable[[torch.Tensor], torch.Tensor]) -> bool:
    """Return whether candidate(x) is the softmax of each row of x[m, n]; what raises is refused."""
    for x in inputs():
        before = x.clone()
        y = candidate(x)
        # TODO 4: hold y against all that was promised of it, and x against what it was.
    # TODO 5: what was returned before belongs to the caller: later calls must have left it alone.


if __name__ == "__main__":
    print("torch's own softmax:", "right" if is_right(lambda x: torch.softmax(x, dim=-1)) else "refused")
    print("its logarithm:", "right" if is_right(lambda x: torch.log_softmax(x, dim=-1)) else "refused")
