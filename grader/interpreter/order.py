"""Programs of a grid in a shuffled order, so that a kernel that leans on their order is found out.

A GPU promises no order; the interpreter runs programs one after another, x outermost, and would hide it.
"""

from __future__ import annotations

import random
from typing import Any

from triton.runtime import interpreter

from grader.randomness import rng

_builder: Any = interpreter.interpreter_builder
_shuffle: random.Random | None = None
_seed: int | None = None
_visit: dict[tuple[int, int, int], tuple[int, int, int]] = {}


def install() -> None:
    """Route the interpreter's grid walk through the shuffle."""
    stock_dim, stock_idx = type(_builder).set_grid_dim, type(_builder).set_grid_idx

    def set_grid_dim(nx: int, ny: int, nz: int) -> None:
        _visit.clear()
        if _shuffle is not None:
            grid = [(x, y, z) for x in range(nx) for y in range(ny) for z in range(nz)]
            _visit.update(zip(grid, _shuffle.sample(grid, len(grid)), strict=True))
        stock_dim(_builder, nx, ny, nz)

    def set_grid_idx(x: int, y: int, z: int) -> None:
        stock_idx(_builder, *_visit.get((x, y, z), (x, y, z)))

    _builder.set_grid_dim, _builder.set_grid_idx = set_grid_dim, set_grid_idx


def shuffle(seed: int | None) -> None:
    """Shuffle the grids of all launches from here on; None restores the interpreter's own order."""
    global _shuffle, _seed
    _shuffle, _seed = None if seed is None else random.Random(seed), seed


def lot(name: str) -> float:
    """A number below 1 for each name, the same throughout a seed, whatever ran before; 0 without a seed."""
    return 0.0 if _seed is None else rng(_seed, name).random()
