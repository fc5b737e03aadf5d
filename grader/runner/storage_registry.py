"""The memory of a call of the learner's function: every storage that is met, whose it is, and what it holds.

What torch.empty gives is handed out poisoned and between guard words, so that an element never written and a
store past the end both show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grader.operator_memory_effects import EMPTY, FILLED, tensors_in
from grader.runner_answers import Guard
from grader.tensor_storage import GUARD, fetched, overwritten, poison, raw, span, unobserved


@dataclass
class Tracked:
    """One storage of the call: data in bytes [start, stop) of it, the rest guard words; ours to judge if
    `allocated`, and `poisoned` by torch.empty. `born` in the call that first had it; None for an argument's,
    which may be there to be `written`.
    """

    name: str
    storage: torch.UntypedStorage
    start: int
    stop: int
    allocated: bool = False
    born: int | None = None
    poisoned: bool = False
    launched: bool = False
    written: bool = False

    @property
    def known(self) -> bool:
        """Whether it came in, or from torch."""
        return self.allocated or self.born is None


class Storages:
    """The storages of a call, by address."""

    def __init__(self) -> None:
        self.tracked: dict[int, Tracked] = {}

    def add_inputs(self, specs: list[dict[str, Any]], values: list[Any], writes: Sequence[int] = ()) -> None:
        """Register the tensors among the arguments, whose elements lie in bytes [start, stop)."""
        for at, (spec, value) in enumerate(zip(specs, values, strict=True)):
            if isinstance(value, torch.Tensor):
                place = value.untyped_storage(), spec["start"], spec["stop"]
                self.track(Tracked(spec["name"], *place, written=at in writes))

    def find(self, tensor: torch.Tensor) -> Tracked | None:
        """What is known of a tensor's storage, or of the one that it is a part of, as by way of DLPack."""
        at = tensor.untyped_storage().data_ptr()
        around = (one for base, one in self.tracked.items() if base < at < base + one.storage.nbytes())
        return self.tracked.get(at) or next(around, None)

    def meet(self, tensor: torch.Tensor, call: int) -> Tracked:
        """What is known of a tensor that a kernel is handed: where nothing is, torch computed it."""
        known = self.find(tensor)
        if known is None:
            storage = tensor.untyped_storage()
            known = Tracked("a tensor that torch computed", storage, 0, storage.nbytes(), born=call)
            self.track(known)
        return known

    def track(self, tracked: Tracked) -> None:
        """From here on this one is known."""
        self.tracked[tracked.storage.data_ptr()] = tracked

    def allocate(self, plain: torch.Tensor, op: str, call: int) -> torch.Tensor:
        """The same tensor between guard words, poisoned unless the operator promised values."""
        if plain.layout != torch.strided or plain.device.type == "meta":
            return plain
        with unobserved():
            size = span(plain)
            memory = torch.empty(size + 2 * GUARD, dtype=torch.uint8, device=plain.device)
            poison(memory)
            storage = memory.untyped_storage()
            guarded = torch.empty(0, dtype=plain.dtype, device=plain.device)
            guarded.set_(storage, GUARD // plain.element_size(), plain.shape, plain.stride())
            if op in FILLED:
                guarded.copy_(plain)
        name = f"the tensor from torch.{op.removeprefix('new_')}"
        poisoned = op in EMPTY and size > 0
        self.track(Tracked(name, storage, GUARD, GUARD + size, allocated=True, born=call, poisoned=poisoned))
        return guarded

    def is_whole(self, tensor: torch.Tensor) -> bool:
        """Whether it has all elements of a storage that torch allocated."""
        known = self.find(tensor)
        return known is not None and known.allocated and span(tensor) == known.stop - known.start

    def own(self, values: list[Any]) -> Iterator[torch.UntypedStorage]:
        """The memory behind tensors that is no argument's."""
        for tensor in tensors_in(values):
            known = self.find(tensor)
            if known is None or known.born is not None:
                yield tensor.untyped_storage()

    def untouched(self, read: set[int]) -> list[int]:
        """Of these addresses those that torch.empty allocated and that are still as they were."""
        poisoned = (at for at in sorted(read) if at in self.tracked and self.tracked[at].poisoned)
        with unobserved():
            return [at for at in poisoned if not bool(_written(self.tracked[at]).any())]

    def holes(self, stored: Mapping[int, Any]) -> list[int]:
        """Addresses of what torch.empty allocated and that nobody wrote to in part, or at all.

        Args:
            stored: by address, which bytes kernels stored: a number may look like what nobody wrote.
        """
        found = []
        with unobserved():
            for at, tracked in self.tracked.items():
                if tracked.poisoned:
                    written = _written(tracked)
                    if at in stored:
                        written |= torch.from_numpy(stored[at][tracked.start : tracked.stop])
                    found += [at] * (not bool(written.all()))
        return found

    def elsewhere(self) -> bool:
        """Whether kernels were handed memory that came neither in nor from torch."""
        return not all(one.known for one in self.tracked.values())

    def allocated(self) -> int:
        """Bytes that the call asked torch for, outputs included."""
        return sum(tracked.stop - tracked.start for tracked in self.tracked.values() if tracked.allocated)

    def broken_guards(self) -> list[Guard]:
        """Guard words that no longer hold poison: tensor, side, and distance in bytes of the first one from
        the data.
        """
        with unobserved():
            sides = [side for one in self.tracked.values() if one.allocated for side in _guards(one)]
            broken = fetched([overwritten(words, at).any() for _, _, words, at in sides])
            return [_broken(*side) for side, is_broken in zip(sides, broken, strict=True) if is_broken]


def _written(tracked: Tracked) -> torch.Tensor:
    """Which bytes of its data hold no poison; bool [n]."""
    return overwritten(raw(tracked.storage)[tracked.start : tracked.stop], tracked.start)


def _guards(tracked: Tracked) -> Iterator[tuple[str, str, torch.Tensor, int]]:
    """Whose they are, their side, their bytes, and where in the storage these begin."""
    whole = raw(tracked.storage)
    yield tracked.name, "before", whole[: tracked.start], 0
    yield tracked.name, "after", whole[tracked.stop :], tracked.stop


def _broken(name: str, side: str, words: torch.Tensor, at: int) -> Guard:
    changed = overwritten(words, at).nonzero()
    nearest = len(words) - int(changed[-1]) if side == "before" else int(changed[0]) + 1
    return Guard(name, side, len(changed), nearest)
