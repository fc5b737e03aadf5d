"""Other contents for the inputs of a case of several calls: alike at a glance, and another result."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy
import torch

from grader.challenge.harness.oracle import Values
from grader.tensor_storage import raw

ONE_IN = 256  # elements that change, besides a few: most samples of some elements miss them
LEAST = 3

Indices = tuple[torch.Tensor, ...]  # of elements, one for each dimension
Change = Callable[[torch.Tensor, Indices, Indices], None]


def others(values: Values, rng: random.Random) -> list[Values]:
    """For each earlier call, the inputs with some elements changed; the first and the last stay as they are.

    First elements are swapped, which changes no sum over all; then replaced by others of the same tensor.
    """
    return [_changed(values, change, rng) for change in (_swapped, _replaced)]


def _swapped(memory: torch.Tensor, one: Indices, two: Indices) -> None:
    memory[one], memory[two] = memory[two].clone(), memory[one].clone()


def _replaced(memory: torch.Tensor, one: Indices, two: Indices) -> None:
    """Integers count something, so that their sum may have to stay."""
    if memory.is_floating_point():
        memory[one] = memory[two]
    else:
        _swapped(memory, one, two)


def _changed(values: Values, change: Change, rng: random.Random) -> Values:
    storages: dict[int, torch.UntypedStorage] = {}
    found = []
    for value in values:
        if not isinstance(value, torch.Tensor):
            found.append(value)
            continue
        storage = value.untyped_storage()
        copy = storages.setdefault(storage.data_ptr(), raw(storage).clone().untyped_storage())
        empty = torch.empty(0, dtype=value.dtype, device=value.device)
        found.append(empty.set_(copy, value.storage_offset(), value.shape, value.stride()))
        _change(found[-1], change, rng)
    return tuple(found)


def _change(view: torch.Tensor, change: Change, rng: random.Random) -> None:
    # An expanded dimension is one element in memory, however long it looks.
    memory = view[tuple(slice(None, None if stride else 1) for stride in view.stride())]
    count = min(LEAST + memory.numel() // ONE_IN, (memory.numel() - 2) // 2)
    if count < 1:
        return
    where = rng.sample(range(1, memory.numel() - 1), 2 * count)
    change(memory, *(_indices(memory, each) for each in (where[:count], where[count:])))


def _indices(memory: torch.Tensor, where: list[int]) -> Indices:
    """The elements counted by `where`."""
    found = numpy.unravel_index(where, tuple(memory.shape))
    return tuple(torch.from_numpy(index).to(memory.device) for index in found)
