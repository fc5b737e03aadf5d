"""Which programs of a grid stand for all of them."""

from __future__ import annotations

import random

GOLDEN, HANDFUL = 0.6180339887, 6


def programs(count: int, wanted: int) -> list[int]:
    """The first, the last, and others spread over the grid so that they share no row or column of tiles.

    They come in pairs, each as far from the start as the other from the end: work that grows along an axis of
    the grid, as a causal kernel's does, is that of the whole on average then. However many are wanted, the
    first so many of them spread as well. Beyond a handful they are drawn: an even spacing would fall into
    step with whatever repeats in the grid.
    """
    if count <= wanted:
        return list(range(count))
    drawn = random.Random(count)
    shares = [GOLDEN * turn % 1 if turn < HANDFUL else drawn.random() for turn in range(1, wanted // 2)]
    between = [1 + int((count - 2) * share) for share in shares]
    pairs = [(number, count - 1 - number) for number in [0, *between]]
    return list(dict.fromkeys(number for pair in pairs for number in pair))


def weights(chosen: list[int], count: int) -> list[float]:
    """How many programs each of the chosen, in order, stands for: the first and the last for themselves."""
    if len(chosen) == count or len(chosen) < 3:
        return [count / len(chosen)] * len(chosen)
    return [1.0, *[(count - 2) / (len(chosen) - 2)] * (len(chosen) - 2), 1.0]
