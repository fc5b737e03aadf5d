"""Programs of a grid in a shuffled order, so that a kernel that leans on their order is found out.

A GPU promises no order, and one after another would hide it.
"""

from __future__ import annotations

import random

from grader.randomness import rng

_shuffle: random.Random | None = None
_seed: int | None = None


def shuffle(seed: int | None) -> None:
    """Shuffle the grids of all launches from here on; None has them run as they are numbered."""
    global _shuffle, _seed
    _shuffle, _seed = None if seed is None else random.Random(seed), seed


def lot(name: str) -> float:
    """A number below 1 for each name, the same throughout a seed, whatever ran before; 0 without a seed."""
    return 0.0 if _seed is None else rng(_seed, name).random()


def programs(count: int) -> list[int]:
    """The programs of a grid in the order in which they are to run."""
    return [*range(count)] if _shuffle is None else _shuffle.sample(range(count), count)
