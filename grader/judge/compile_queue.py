"""Which kernel is compiled next, of those that wait for a compiler.

Cases want theirs in the order of the cases. But of the kernels of an attention day the last ones are the
largest, and the last of all was compiled by one core for a second while fifteen had nothing left to do. So
every second one is taken for its length.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

LONGEST = 2  # how manyth is the longest
MANY = 8  # builders; fewer have the first case wait for one that takes seconds


@dataclass
class Waiting:
    """What is to be done for recipes (compiler/recipe.py), by whoever of so many builders asks next."""

    builders: int
    recipes: list[tuple[dict[str, Any], Callable[[], Any]]] = field(default_factory=list)
    taken: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, recipe: dict[str, Any], work: Callable[[], Any]) -> None:
        """Behind all others."""
        with self.lock:
            self.recipes.append((recipe, work))

    def next(self) -> Callable[[], Any]:
        """The first one, or the longest."""
        with self.lock:
            self.taken += 1
            longest = self.builders >= MANY and self.taken % LONGEST == 0
            at = max(range(len(self.recipes)), key=lambda at: length(self.recipes[at][0])) if longest else 0
            return self.recipes.pop(at)[1]


def length(recipe: dict[str, Any]) -> int:
    """Larger where a compilation is likely to take longer; no unit.

    A product of fp32 becomes single multiplications. Of days 16, 18 and 34 the ten first by this take 80 to
    100 % of the time of the ten longest.
    """
    given = recipe.get("arguments", {})
    sizes = (given[name] for name in recipe.get("constants", ()) if type(given[name]) is int)
    dtypes = (value["dtype"] for value in given.values() if isinstance(value, dict) and "dtype" in value)
    widths: list[int] = [getattr(torch, dtype).itemsize for dtype in dtypes]
    tile: int = math.prod(size for size in sizes if size > 0)
    return tile * min(widths, default=1) ** 3
