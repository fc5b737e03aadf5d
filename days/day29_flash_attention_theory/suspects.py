"""What a learner may have computed on day 29 in the place of a merge, and of bytes."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge.formulas.partial_softmax import Part, merge, merging, shrunk


def kept(own: torch.Tensor, other: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    """A factor of 1."""
    return torch.ones_like(own)


of_sum = merging(kept, kept)
base_2 = merging(lambda own, other, m: torch.exp2(own - m), lambda own, other, m: torch.exp2(own - m))


def by_second(m1, l1, o1, m2, l2, o2) -> Part:
    """The second maximum taken for the common one."""
    a1 = torch.exp(m1 - m2).nan_to_num(0.0)
    return m2, l1 * a1 + l2, o1 * a1[:, None] + o2


def divided(*arguments: torch.Tensor) -> Part:
    m, total, o = merge(*arguments)
    return m, total, (o / total[:, None]).nan_to_num(0.0)


OF_MERGE = {
    "Only part 1 is rescaled: multiply the sums of part 2 by exp(m2 - m), too.": merging(shrunk, kept),
    "Only part 2 is rescaled: multiply the sums of part 1 by exp(m1 - m), too.": merging(kept, shrunk),
    "Neither part is rescaled: sums relative to different maxima cannot be added.": of_sum,
    "l is rescaled and o is not: o holds the same exponentials as l, and needs the same factors.": (
        lambda *a: (*merge(*a)[:2], of_sum(*a)[2])
    ),
    "o is rescaled and l is not: l holds the same exponentials as o, and needs the same factors.": (
        lambda *a: (merge(*a)[0], of_sum(*a)[1], merge(*a)[2])
    ),
    "The factors are upside down: exp(m_old - m_new) makes a sum smaller, never larger.": merging(
        lambda own, other, m: torch.exp(m - own), lambda own, other, m: torch.exp(m - own)
    ),
    "The factor of part 1 is upside down: exp(m1 - m) makes a sum smaller, never larger.": merging(
        lambda own, other, m: torch.exp(m - own), shrunk
    ),
    "The factor of part 2 is upside down: exp(m2 - m) makes a sum smaller, never larger.": merging(
        shrunk, lambda own, other, m: torch.exp(m - own)
    ),
    "The factors have changed places: part 1 is multiplied by exp(m2 - m), part 2 by exp(m1 - m).": merging(
        lambda own, other, m: torch.exp(other - m), lambda own, other, m: torch.exp(other - m)
    ),
    "The maximum of part 2 is taken for that of all keys: it is the larger of the two, whichever that is.": (
        by_second
    ),
    "The parts are weighed by powers of 2: exp2 needs its argument times log2(e).": base_2,
    "o comes out divided by l: an o that is divided cannot be merged again, so the division waits.": divided,
}


def counted(bytes_of: Callable[[int, int, int, int], int]) -> Callable[..., int]:
    """A wrong count by S, D, tiles of queries and itemsize."""
    return lambda S, D, block_m, itemsize: bytes_of(S, D, -(-S // block_m), itemsize)


OF_TRAFFIC = {
    "The last, partial tile of queries is not counted: it reads all of K and V too, so round up.": (
        lambda S, D, block_m, itemsize: itemsize * S * D * (2 + 2 * (S // block_m))
    ),
    "These are elements, not bytes: multiply by itemsize.": counted(
        lambda S, D, tiles, itemsize: S * D * (2 + 2 * tiles)
    ),
    "K and V are two matrices: each tile of queries reads both.": counted(
        lambda S, D, tiles, itemsize: itemsize * S * D * (2 + tiles)
    ),
    "Q is read and O is written: that is S * D elements twice.": counted(
        lambda S, D, tiles, itemsize: itemsize * S * D * (1 + 2 * tiles)
    ),
    "K and V are counted once: every tile of queries reads them again.": counted(
        lambda S, D, tiles, itemsize: itemsize * S * D * 4
    ),
    "Q and O are counted once for each tile: all tiles together read Q and write O once.": counted(
        lambda S, D, tiles, itemsize: itemsize * S * D * 4 * tiles
    ),
    "K and V are read once for each query: a tile of block_m queries shares them.": counted(
        lambda S, D, tiles, itemsize: itemsize * S * D * (2 + 2 * S)
    ),
}
