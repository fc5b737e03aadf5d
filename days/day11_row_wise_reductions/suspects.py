"""What a learner may have computed on day 11 in the place of mean, max and argmax."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge.formulas.block_bounds import lanes, last_block
from grader.challenge.formulas.reductions import row_stats

Stats = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
BLOCKS = [2**i for i in range(14, 6, -1)]


def by_lanes(x: torch.Tensor) -> Stats:
    mean, largest, where = row_stats(x)
    n = x.shape[1]
    return mean * n / lanes(n), largest, where


def by_one_less(x: torch.Tensor) -> Stats:
    mean, largest, where = row_stats(x)
    return mean * x.shape[1] / max(x.shape[1] - 1, 1), largest, where


def other_0(x: torch.Tensor) -> Stats:
    """The first masked lane of a block stands behind the last column. One column fills its block, as a rule,
    and half of such rows are negative: there the suspect would be refuted by what it does not mean.
    """
    mean, largest, where = row_stats(x)
    if x.shape[1] == 1:
        return mean, largest, where
    return mean, largest.clamp(min=0), torch.where(largest < 0, x.shape[1], where)


def from_0(x: torch.Tensor) -> Stats:
    mean, largest, where = row_stats(x)
    return mean, largest.clamp(min=0), where * (largest >= 0)


def swapped(x: torch.Tensor) -> Stats:
    mean, largest, where = row_stats(x)
    return largest.to(mean.dtype), mean.to(largest.dtype), where


def later_tie(x: torch.Tensor, block: int) -> Stats:
    """The first of the largest elements in the last block that has one."""
    mean, largest, _ = row_stats(x)
    column = torch.arange(x.shape[1], device=x.device)
    ties = x == largest[:, None]
    last = torch.where(ties, column, 0).amax(dim=1, keepdim=True)
    return mean, largest, (ties & (column >= last // block * block)).int().argmax(dim=1)


def below_0(x: torch.Tensor) -> Stats:
    """Compared by their bits, -0 is less than 0."""
    mean, largest, _ = row_stats(x)
    return mean, largest, torch.where((x == 0) & x.signbit(), -1e-30, x.double()).argmax(dim=1)


def first_lane(x: torch.Tensor, block: int) -> Stats:
    """The first of the largest elements in the first lane that has one, where lanes walk along the row."""
    mean, largest, _ = row_stats(x)
    lane = torch.arange(x.shape[1], device=x.device) % block
    ties = x == largest[:, None]
    first = torch.where(ties, lane, block).amin(dim=1, keepdim=True)
    return mean, largest, (ties & (lane == first)).int().argmax(dim=1)


def first_block(x: torch.Tensor, block: int) -> Stats:
    mean, largest, where = row_stats(x[:, :block])
    return mean * min(block, x.shape[1]) / x.shape[1], largest, where


def last_sum(x: torch.Tensor, block: int) -> Stats:
    start = last_block(x.shape[1], block)
    return x[:, start:].sum(dim=1) / x.shape[1], *row_stats(x)[1:]


def last_argmax(x: torch.Tensor, block: int) -> Stats:
    start = last_block(x.shape[1], block)
    return *row_stats(x)[:2], start + x[:, start:].argmax(dim=1)


def counted_anew(x: torch.Tensor, block: int) -> Stats:
    mean, largest, where = row_stats(x)
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
        f"Of equal maxima that {block} lanes have found, that of the first lane wins, and another may have "
        "found an earlier column: on ties the first column counts.": lambda x: first_lane(x, block),
        f"Of equal maxima in two blocks of {block} columns the later one wins: on ties the first counts.": (
            lambda x: later_tie(x, block)
        ),
        f"The argmax is that of the last block of {block} columns, even if its maximum is smaller.": (
            lambda x: last_argmax(x, block)
        ),
    }


SUSPECTS = {
    "The mean divides by the lanes of a block; divide by the number of columns.": by_lanes,
    "The mean divides by n - 1; divide by n, the number of columns.": by_one_less,
    "A row of negative numbers has maximum 0, that of a masked lane: other= must be -inf.": other_0,
    "A row of negative numbers has maximum 0: what is carried must start at -inf.": from_0,
    "Mean and maximum have changed places: return them in the order of the task.": swapped,
    "0 counts as larger than -0: they are equal, and of equal maxima the first counts.": below_0,
    "Of equal maxima the last one wins: on ties the first counts.": lambda x: later_tie(x, 1),
    **{told: wrong for block in BLOCKS for told, wrong in of_blocks(block).items()},
}
