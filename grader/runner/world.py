"""A closed world for one call of the learner's function: where every tensor came from, and who changed it.

While the call runs, every torch operator passes through here. What the launcher allocates is handed out
poisoned and between guard words, so that an element never written and a store past the end both show. Which
operators ran, which tensors reached a kernel, and whether bytes changed that no kernel wrote, is observed and
reported; the judge decides.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from grader.answers import Guard
from grader.memory import GUARD, POISON, raw, span
from grader.operators import EMPTY, FILLED, VIEWS, WHOLE_FILLS, body, tensors_in

CHECKSUM_LIMIT = 64 << 20


@dataclass
class Tracked:
    """One storage of the call: data in bytes [start, stop) of it, the rest guard words; ours to judge if
    `allocated`.
    """

    name: str
    storage: torch.UntypedStorage
    start: int
    stop: int
    allocated: bool = False
    checksum: int = 0
    launched: bool = False


class World(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Observes one call.

    Attributes:
        foreign: operators that computed something, in order, without repeats.
        early: those of them that ran before the first launch.
        late: those that ran after the last one.
        tampered: names of tensors whose bytes changed outside of kernels.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.tracked: dict[int, Tracked] = {}
        self.foreign: list[str] = []
        self.early: set[str] = set()
        self.late: set[str] = set()
        self.launched = False
        self.tampered: list[str] = []
        self.launching = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """torch would import its whole compiler (0.8 s) at the first operator, to keep it out of this
        class.
        """
        return False

    def add_input(self, name: str, tensor: torch.Tensor, start: int, stop: int) -> None:
        """Register an argument whose elements lie in bytes [start, stop) of its storage."""
        self._track(Tracked(name, tensor.untyped_storage(), start, stop))

    def find(self, tensor: torch.Tensor) -> Tracked | None:
        """What is known of a tensor's storage."""
        return self.tracked.get(tensor.untyped_storage().data_ptr())

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        own = body(func)
        if own is not None:
            with self:
                return own(*args, **(kwargs or {}))
        result = func(*args, **(kwargs or {}))
        if self.launching:
            return result
        name = func._schema.name.split("::")[-1]
        if name in EMPTY or name in FILLED:
            return self._allocate(result, name)
        if name in WHOLE_FILLS and self._is_whole(args[0]):
            self._refresh(args[0])
        elif name not in VIEWS and (tensors_in([result]) or func._schema.is_mutable):
            self._note(name, [*args, result])
        return result

    def _note(self, name: str, touched: list[Any]) -> None:
        """torch computed or changed something; its bytes are accounted for, so that they are not called
        tampering.
        """
        if name not in self.foreign:
            self.foreign.append(name)
        (self.late if self.launched else self.early).add(name)
        for tensor in tensors_in(touched):
            self._refresh(tensor)

    def _allocate(self, plain: torch.Tensor, op: str) -> torch.Tensor:
        """The same tensor between guard words, poisoned unless the operator promised values."""
        if plain.layout != torch.strided or plain.device.type == "meta":
            return plain
        with _disable_current_modes():
            size = span(plain)
            poisoned = torch.empty(size + 2 * GUARD, dtype=torch.uint8, device=plain.device).fill_(POISON)
            storage = poisoned.untyped_storage()
            guarded = torch.empty(0, dtype=plain.dtype, device=plain.device)
            guarded.set_(storage, GUARD // plain.element_size(), plain.shape, plain.stride())
            if op in FILLED:
                guarded.copy_(plain)
        name = f"the tensor from torch.{op.removeprefix('new_')}"
        self._track(Tracked(name, storage, GUARD, GUARD + size, allocated=True))
        return guarded

    def _is_whole(self, tensor: torch.Tensor) -> bool:
        known = self.find(tensor)
        return known is not None and known.allocated and span(tensor) == known.stop - known.start

    def _track(self, tracked: Tracked) -> None:
        self.tracked[tracked.storage.data_ptr()] = tracked
        tracked.checksum = checksum(tracked.storage)

    def _refresh(self, tensor: torch.Tensor) -> None:
        known = self.find(tensor)
        if known is not None:
            known.checksum = checksum(known.storage)

    def before_launch(self, arguments: list[Any]) -> None:
        """A kernel is about to run on `arguments`: whatever changed since the last look, no kernel
        changed.
        """
        self.look_for_tampering()
        self.launching += 1
        self.launched = True
        self.late.clear()
        for tensor in tensors_in(arguments):
            known = self.find(tensor)
            if known is None:
                storage = tensor.untyped_storage()
                known = Tracked("a tensor that torch computed", storage, 0, storage.nbytes())
                self.tracked[storage.data_ptr()] = known
            known.launched = True

    def after_launch(self) -> None:
        """The kernel is done; what it changed is its own."""
        self.launching -= 1
        for tracked in self.tracked.values():
            tracked.checksum = checksum(tracked.storage)

    def look_for_tampering(self) -> None:
        """Note every storage that differs from the last look."""
        for tracked in self.tracked.values():
            now = checksum(tracked.storage)
            if now != tracked.checksum:
                self.tampered.append(tracked.name)
                tracked.checksum = now

    def allocated(self) -> int:
        """Bytes that the call asked torch for, outputs included."""
        return sum(tracked.stop - tracked.start for tracked in self.tracked.values() if tracked.allocated)

    def broken_guards(self) -> list[Guard]:
        """Guard words that no longer hold poison: tensor, side, and distance in bytes of the first one from
        the data.
        """
        broken = []
        with _disable_current_modes():
            for tracked in (tracked for tracked in self.tracked.values() if tracked.allocated):
                whole = raw(tracked.storage)
                for side, words in (("before", whole[: tracked.start]), ("after", whole[tracked.stop :])):
                    changed = (words != POISON).nonzero()
                    if len(changed):
                        nearest = len(words) - int(changed[-1]) if side == "before" else int(changed[0]) + 1
                        broken.append(Guard(tracked.name, side, len(changed), nearest))
        return broken


def checksum(storage: torch.UntypedStorage) -> int:
    """A number that changes with the bytes; 0 for storages too large to look at before every launch."""
    if storage.nbytes() > CHECKSUM_LIMIT:
        return 0
    with _disable_current_modes():
        whole = raw(storage)
        if storage.device.type == "cpu":
            return zlib.crc32(whole.numpy().data)
        words = whole[: whole.numel() // 4 * 4].view(torch.int32).to(torch.int64)
        return int((words * torch.arange(1, words.numel() + 1, device=words.device)).sum())
