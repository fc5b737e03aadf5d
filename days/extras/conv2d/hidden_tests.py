"""Extra: a convolution of images as an implicit matrix product; at 0.30 of torch's speed."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor
from torch.backends import cudnn

from grader.challenge import Case, Challenge, Claim, Memory, Own, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS, convolved

CHANNELS = Own("channels_last")  # [b, c, h, w] whose channels lie side by side


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor | None, int, int, int, int]:
    """x[b, c, h, w], w[o, c / groups, r, s], a bias where `bias`, and how the window moves.

    `x_layout` and the like make x and w unlike. Where CHANNELS_LAST, channels lie side by side. A
    window is square where only `r` is given, h = w likewise.
    """
    groups, r = case.get("groups", 1), case.get("r", 3)
    x = _drawn(case, draw, "x", case.b, case.c, case.h, case.get("w", case.h))
    w = _drawn(case, draw, "w", case.o, case.c // groups, r, case.get("s", r))
    bias = draw(case.o, layout="contiguous", values="normal") if case.get("bias") else None
    return x, w, bias, case.get("stride", 1), case.get("padding", 0), case.get("dilation", 1), groups


def _drawn(case: Case, draw, which: str, *shape: int) -> Tensor:
    layout, values = case.get(f"{which}_layout", case.layout), case.get(f"{which}_values", case.values)
    if layout == CHANNELS:
        first, channels, high, wide = shape
        return draw(first, high, wide, channels, layout="contiguous", values=values).permute(0, 3, 1, 2)
    return draw(*shape, layout=layout, values=values)


def moved(
    x: Tensor, w: Tensor, bias: Tensor | None, stride: int, padding: int, dilation: int, groups: int
) -> int:
    return x.nbytes + w.nbytes + _places(x, w, stride, padding, dilation) * len(w) * x.element_size()


def flops(
    x: Tensor, w: Tensor, bias: Tensor | None, stride: int, padding: int, dilation: int, groups: int
) -> int:
    return 2 * _places(x, w, stride, padding, dilation) * w.numel()


def _places(x: Tensor, w: Tensor, stride: int, padding: int, dilation: int) -> int:
    """Pixels of all images of the result."""
    sides = zip(x.shape[2:], w.shape[2:], strict=True)
    high, wide = ((n + 2 * padding - dilation * (k - 1) - 1) // stride + 1 for n, k in sides)
    return len(x) * high * wide


def at(b: int, c: int, h: int, o: int, **more) -> Case:
    return Case(b=b, c=c, h=h, o=o, **more)


big = at(32, 256, 56, 256, padding=1, dtype=HALF, layout=CHANNELS, gpu=True)

# Fixed before anything was measured: windows of all usual sizes, few and many channels, one channel a group.
CLAIMED = [
    at(32, 256, 56, 256, r=1, dtype=HALF, gpu=True),
    big,
    at(32, 64, 56, 64, r=5, padding=2, dtype=HALF, gpu=True),
    at(32, 3, 224, 64, r=7, padding=3, stride=2, dtype=HALF, gpu=True),
    at(32, 256, 56, 256, padding=1, dtype=HALF, gpu=True),
    at(32, 256, 56, 256, padding=1, groups=256, dtype=HALF, gpu=True),
]


def tuned(*arguments) -> Tensor:
    """torch's, by the fastest of cuDNN's kernels that it finds."""
    with cudnn.flags(enabled=True, benchmark=True):
        return F.conv2d(*arguments)


SAYS = "For some sizes of the window a convolution in Triton is 1.5 times as fast as torch's"

CASES = [
    at(1, 4, 6, 4),
    at(1, 1, 1, 1, r=1),
    at(0, 3, 5, 4),
    at(2, 3, 5, 1, r=1),
    at(1, 1, 3, 1),
    at(1, 2, 3, 3, r=1, s=3, padding=1),
    at(3, 3, 5, 4, bias=1),
    at(2, 5, 7, 6, w=4, r=3, s=2, bias=1),
    at(2, 5, 4, 6, w=9, r=2, s=5, padding=2),
    at(2, 3, 8, 5, padding=1),
    at(2, 3, 8, 5, padding=3, r=2),
    at(1, 2, 9, 3, stride=2),
    at(2, 3, 10, 4, stride=3, padding=1, bias=1),
    at(1, 2, 9, 3, dilation=2),
    at(2, 3, 11, 4, w=8, r=2, s=3, dilation=3, padding=2),
    at(2, 3, 12, 4, stride=2, dilation=2, padding=2, bias=1),
    at(2, 4, 6, 6, groups=2, padding=1),
    at(2, 6, 5, 6, groups=6, padding=1, bias=1),
    at(1, 6, 5, 12, groups=3, r=2),
    at(2, 9, between(8, 12), 7, w=between(5, 9)),
    at(1, 16, 5, 16, r=1),
    at(1, 40, 6, 33, r=1),
    at(1, 65, 4, 20, r=2, dtype=HALF),
    at(2, 20, 9, 40, dtype=HALF),
    at(2, 7, 12, 130, dtype=HALF, bias=1, padding=1),
    at(1, 33, 13, 20, dtype=BRAIN, padding=1, stride=2),
    at(1, 3, 16, 8, dtype=BRAIN, r=7, padding=3, stride=2, bias=1),
    at(2, 4, 8, 6, dtype=HALF, groups=2, dilation=2, padding=2),
    at(2, 5, 7, 6, layout=CHANNELS, padding=1),
    at(2, 20, 7, 6, layout=CHANNELS, padding=1, dtype=HALF, bias=1),
    at(2, 5, 7, 6, layout=CHANNELS, w_layout="contiguous"),
    at(2, 5, 7, 6, w=9, layout="transposed", w_layout="sliced", padding=1),
    at(2, 5, 7, 6, layout="sliced", w_layout="transposed", r=3, s=2),
    at(2, 5, 7, 6, layout="strided", padding=1, stride=2),
    at(3, 5, 7, 6, layout="expanded", w_layout="contiguous"),
    at(2, 5, 7, 6, layout="offset", dtype=HALF, padding=1),
    at(2, 4, 7, 6, values="integers", exact=True, padding=1),
    at(2, 4, 7, 6, values="large", w_values="normal", padding=1),
    at(1, 4, 7, 6, values="nan", w_values="normal", padding=1),
    at(2, 5, 7, 6, calls=2, padding=1, bias=1),
    at(2, 3, 30, 8, padding=1, bias=1, gpu=True, dtype=BRAIN),
    at(40, 64, 1024, 64, padding=1, dtype=HALF, layout=CHANNELS, huge=True),
]

challenge = Challenge(
    entry="conv2d",
    inputs=inputs,
    reference=convolved,
    reduces=lambda case: case.c // case.get("groups", 1) * case.get("r", 3) * case.get("s", case.get("r", 3)),
    suspects=SUSPECTS,
    shown=at(1, 4, 6, 4),
    cases=CASES,
    speed=Speed(big, moved=moved, flops=flops, of_torch=0.30, torch=F.conv2d),
    memory=Memory(big),
    claims=[Claim(SAYS, CLAIMED, of_torch=1.5, torch=tuned)],
)
