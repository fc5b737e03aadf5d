"""Extra: frames of a moving pattern, exact to the bit, at 0.40 of the time of a copy's writes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Speed, between
from grader.challenge.formulas.image_demos import rainbow

Frames = Callable[[Tensor, int, int, int, int], Tensor]


def inputs(case: Case, draw) -> tuple[Tensor, int, int, int, int]:
    """palette, t0, count, h, w; of a `grey` palette colour i is (i, i, i)."""
    palette = draw.integers(256, 3, low=0, high=256, dtype=torch.uint8, layout=case.layout)
    if "grey" in case:
        palette.copy_(torch.arange(256, device=palette.device)[:, None].expand(256, 3))
    return palette, case.get("t0", 0), case.count, case.h, case.w


def drawn(palette: Tensor, t: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """The pattern, from times [count], rows [h] and columns [w]: [count, h, w, 3]."""
    code = ((2 * x[None, None, :]) ^ y[None, :, None]) + t[:, None, None]
    return palette[code & 255]


def axes(palette: Tensor, t0: int, count: int, h: int, w: int) -> tuple[Tensor, Tensor, Tensor]:
    """Times, rows and columns, int64."""
    times, rows, columns = (torch.arange(n, device=palette.device) for n in (count, h, w))
    return times + t0, rows, columns


def frames(palette: Tensor, t0: int, count: int, h: int, w: int) -> Tensor:
    return drawn(palette, *axes(palette, t0, count, h, w))


def eager(palette: Tensor, t0: int, count: int, h: int, w: int) -> Tensor:
    """torch's own way: codes in int32, and a row of the palette for each."""
    t, y, x = (one.int() for one in axes(palette, t0, count, h, w))
    return drawn(palette, t, y, x)


def swapped(palette: Tensor, t0: int, count: int, h: int, w: int) -> Tensor:
    t, y, x = axes(palette, t0, count, h, w)
    code = ((2 * y[None, :, None]) ^ x[None, None, :]) + t[:, None, None]
    return palette[code & 255]


def planes(palette: Tensor, t0: int, count: int, h: int, w: int) -> Tensor:
    return frames(palette.reshape(3, 256).T, t0, count, h, w)


def with_times(change: Callable[[Tensor, int], Tensor]) -> Frames:
    """Someone who has other times, from the right ones and t0."""

    def wrong(palette: Tensor, t0: int, count: int, h: int, w: int) -> Tensor:
        t, y, x = axes(palette, t0, count, h, w)
        return drawn(palette, change(t, t0), y, x)

    return wrong


def with_code(code: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Frames:
    """Someone with another formula of times, rows and columns."""

    def wrong(palette: Tensor, t0: int, count: int, h: int, w: int) -> Tensor:
        t, y, x = axes(palette, t0, count, h, w)
        return palette[code(t[:, None, None], y[None, :, None], x[None, None, :]) & 255]

    return wrong


def at(count: int, h: int, w: int, **more) -> Case:
    return Case(count=count, h=h, w=w, dtype=torch.uint8, **more)


film = at(64, 1024, 1024, t0=5, gpu=True)

CASES = [
    at(2, 3, 5),
    at(1, 1, 1),
    at(0, 3, 5),
    at(2, 0, 5),
    at(2, 3, 0),
    at(1, 1, 1, t0=255),
    at(1, 4, 4, t0=1),
    at(1, 4, 4, t0=256),
    at(3, 1, 40),
    at(3, 40, 1),
    at(40, 1, 1),
    at(3, 16, 32, t0=7),
    at(2, 8, 30, t0=7),
    at(2, 9, 30, grey=1),
    at(2, 9, 30, grey=1, t0=250),
    at(1, 3, 682),
    at(1, 3, 683),
    at(1, 2, 1023, t0=3),
    at(1, 2, 1024),
    at(1, 2, 1025),
    at(1, 256, 5),
    at(2, 257, 3, t0=2),
    at(1, 1100, 2),
    at(between(3, 9), between(11, 29), between(31, 61), t0=101),
    at(70, 2, 3, t0=11),
    at(2, 261, 131, t0=-3),
    at(2, 7, 23, t0=1_000_003),
    at(2, 7, 23, t0=-1_000_003),
    at(2, 7, 23, t0=2**31 - 1),
    at(2, 7, 23, layout="offset"),
    at(2, 7, 23, t0=9, calls=2),
    at(1001, 1009, 1013, huge=True),
]

challenge = Challenge(
    entry="frames",
    inputs=inputs,
    reference=frames,
    cases=CASES,
    shown=at(2, 8, 30, t0=7),
    image=lambda: (rainbow(), 0, 24, 128, 192),
    suspects={
        "Rows and columns are swapped in the formula: x is the column.": swapped,
        "All frames are the first one: t grows by one from frame to frame.": with_times(
            lambda t, t0: torch.full_like(t, t0)
        ),
        "The first frame is at time 0: it is at t0.": with_times(lambda t, t0: t - t0),
        "The palette is taken for three planes: the three bytes of a colour lie side by side.": planes,
        "Time passes twice as fast: t grows by one from frame to frame.": with_times(
            lambda t, t0: t0 + 2 * (t - t0)
        ),
        "Time is added before the xor: in Python + comes before ^, so the xor needs brackets.": with_code(
            lambda t, y, x: 2 * x ^ (y + t)
        ),
        "x is not doubled.": with_code(lambda t, y, x: (x ^ y) + t),
        "The sum of x, doubled, and y is taken: the formula has their xor.": with_code(
            lambda t, y, x: 2 * x + y + t
        ),
        "The colours' channels are in the opposite order.": lambda *given: frames(*given).flip(-1),
    },
    speed=Speed(
        film,
        moved=lambda palette, t0, count, h, w: palette.nbytes + 3 * count * h * w,
        of_copy=0.40,
        torch=eager,
        sweep=("count",),
    ),
)
