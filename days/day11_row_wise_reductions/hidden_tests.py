"""Day 11: mean, max and argmax of every row by one read of the matrix, at 0.60 of a plain copy."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge import Case, Challenge, Memory, Speed

HALF = torch.float16
Stats = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def reference(x: torch.Tensor) -> Stats:
    """Mean in fp32 or better, max in x's dtype, and the first of equal maxima."""
    largest, where = x.max(dim=1)
    return x.to(torch.promote_types(x.dtype, torch.float32)).mean(dim=1), largest, where


def moved(x: torch.Tensor) -> int:
    """x is read; a mean (4 bytes), a max and an argmax (8 bytes) of each row are written."""
    return x.nbytes + len(x) * (4 + x.element_size() + 8)


def by_lanes(x: torch.Tensor) -> Stats:
    mean, largest, where = reference(x)
    n = x.shape[1]
    return mean * n / (1 << (n - 1).bit_length()), largest, where


def other_0(x: torch.Tensor) -> Stats:
    """The first masked lane of a block stands behind the last column."""
    mean, largest, where = reference(x)
    return mean, largest.clamp(min=0), torch.where(largest < 0, x.shape[1], where)


def from_0(x: torch.Tensor) -> Stats:
    mean, largest, where = reference(x)
    return mean, largest.clamp(min=0), where * (largest >= 0)


def swapped(x: torch.Tensor) -> Stats:
    mean, largest, where = reference(x)
    return largest.to(mean.dtype), mean.to(largest.dtype), where


def later_tie(x: torch.Tensor, block: int) -> Stats:
    """The first of the largest elements in the last block that has one."""
    mean, largest, _ = reference(x)
    column = torch.arange(x.shape[1], device=x.device)
    ties = x == largest[:, None]
    last = torch.where(ties, column, 0).amax(dim=1, keepdim=True)
    return mean, largest, (ties & (column >= last // block * block)).int().argmax(dim=1)


def first_block(x: torch.Tensor, block: int) -> Stats:
    mean, largest, where = reference(x[:, :block])
    return mean * min(block, x.shape[1]) / x.shape[1], largest, where


def last_sum(x: torch.Tensor, block: int) -> Stats:
    start = (x.shape[1] - 1) // block * block
    return x[:, start:].sum(dim=1) / x.shape[1], *reference(x)[1:]


def last_argmax(x: torch.Tensor, block: int) -> Stats:
    start = (x.shape[1] - 1) // block * block
    return *reference(x)[:2], start + x[:, start:].argmax(dim=1)


def counted_anew(x: torch.Tensor, block: int) -> Stats:
    mean, largest, where = reference(x)
    return mean, largest, where % block


def of_blocks(block: int) -> dict[str, Callable[[torch.Tensor], Stats]]:
    """What goes wrong from the second block on, for a kernel with blocks of this width."""
    return {
        f"Only the first {block} columns are read: a longer row needs a loop over its blocks.": (
            lambda x: first_block(x, block)
        ),
        f"The sum starts anew with each block of {block} columns: add to what the blocks before gave.": (
            lambda x: last_sum(x, block)
        ),
        f"The argmax counts from the start of its block of {block} columns: add where that block starts.": (
            lambda x: counted_anew(x, block)
        ),
        f"Of equal maxima in two blocks of {block} columns the later one wins: on ties the first counts.": (
            lambda x: later_tie(x, block)
        ),
        f"The argmax is that of the last block of {block} columns, even if its maximum is smaller.": (
            lambda x: last_argmax(x, block)
        ),
    }


BLOCKS = [2**i for i in range(14, 6, -1)]
wide = Case(rows=8192, cols=8192)
narrow = Case(rows=2**22, cols=16, gpu=True)

challenge = Challenge(
    entry="row_stats",
    inputs=lambda case, draw: (draw(case.rows, case.cols),),
    reference=reference,
    reduces=lambda case: case.cols,
    cases=[
        Case(rows=3, cols=8),
        Case(rows=1, cols=1),
        Case(rows=9, cols=1),
        Case(rows=120, cols=3),
        Case(rows=0, cols=8),
        Case(rows=64, cols=64),
        Case(rows=63, cols=65),
        Case(rows=257, cols=16),
        Case(rows=131, cols=33),
        Case(rows=5, cols=127),
        Case(rows=5, cols=781),
        Case(rows=5, cols=1023),
        Case(rows=5, cols=1024),
        Case(rows=5, cols=1025),
        Case(rows=3, cols=4099),
        Case(rows=3, cols=8191),
        Case(rows=3, cols=8193),
        Case(rows=2, cols=40009),
        Case(rows=20, cols=100, dtype=HALF),
        Case(rows=3, cols=9001, dtype=HALF),
        Case(rows=9, cols=50, layout="sliced"),
        Case(rows=9, cols=200, layout="sliced", dtype=HALF),
        Case(rows=3, cols=9001, layout="sliced"),
        Case(rows=12, cols=60, layout="offset"),
        Case(rows=12, cols=60, layout="expanded"),
        Case(rows=9, cols=70, values="negative"),
        Case(rows=9, cols=70, values="negative", dtype=HALF),
        Case(rows=3, cols=9001, values="negative"),
        Case(rows=9, cols=70, values="ties"),
        Case(rows=3, cols=20011, values="ties"),
        Case(rows=9, cols=64, values="constant", exact=True),
        Case(rows=2, cols=20011, values="constant"),
        Case(rows=40, cols=64, values="integers", exact=True),
        Case(rows=40, cols=128, values="integers", dtype=HALF, exact=True),
        Case(rows=3, cols=16384, values="integers", exact=True),
        Case(rows=9, cols=77, values="spike"),
        Case(rows=3, cols=10007, values="spike"),
        Case(rows=3, cols=10007, values="rising"),
        Case(rows=9, cols=77, values="heavy"),
        Case(rows=9, cols=77, values="large"),
        Case(rows=2, cols=30011, values="constant", dtype=HALF),
        Case(rows=9, cols=77, values="minus_inf"),
        Case(rows=3, cols=9001, values="minus_inf"),
        Case(rows=9, cols=77, values="inf"),
        Case(rows=10, cols=60, calls=2),
    ],
    suspects={
        "The mean divides by the lanes of a block; divide by the number of columns.": by_lanes,
        "A row of negative numbers has maximum 0, that of a masked lane: other= must be -inf.": other_0,
        "A row of negative numbers has maximum 0: what is carried must start at -inf.": from_0,
        "Mean and maximum have changed places: return them in the order of the task.": swapped,
        "Of equal maxima the last one wins: on ties the first counts.": lambda x: later_tie(x, 1),
        **{told: wrong for block in BLOCKS for told, wrong in of_blocks(block).items()},
    },
    speed=(
        Speed(wide, moved=moved, of_copy=0.60),
        Speed(narrow, moved=moved, of_copy=0.60),
    ),
    memory=Memory(narrow),
)
