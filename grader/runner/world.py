"""A closed world for a call of the learner's function: where every tensor came from, and who changed it.

While the call runs, every torch operator passes through here. What the launcher allocates is handed out
poisoned and between guard words, so that an element never written and a store past the end both show. Which
operators ran, which tensors reached a kernel, and whether bytes changed that no kernel wrote, is observed and
reported; the judge decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from grader.answers import Guard, Tuning
from grader.memory import GUARD, checksum, overwritten, poison, raw, span
from grader.operators import EMPTY, FILLED, VIEWS, WHOLE_FILLS, Watch, body, tensors_in
from grader.runner.beside import beside
from grader.runner.replay import Recording


@dataclass
class Tracked:
    """One storage of the call: data in bytes [start, stop) of it, the rest guard words; ours to judge if
    `allocated`. `born` in the call that first had it; None for an argument's, which may be there to be
    `written`. `poisoned` is the checksum of what torch.empty left there.
    """

    name: str
    storage: torch.UntypedStorage
    start: int
    stop: int
    allocated: bool = False
    born: int | None = None
    checksum: int = 0
    poisoned: int | None = None
    launched: bool = False
    written: bool = False

    @property
    def known(self) -> bool:
        """Whether it came in, or from torch."""
        return self.allocated or self.born is None


class World(Watch):  # type: ignore[no-untyped-call]
    """Observes one call.

    Args:
        allow: operators that are the launcher's to use.

    Attributes:
        foreign: operators that computed something, in order, without repeats.
        early: those of them that ran before the first launch.
        late: those that ran after the last one.
        tampered: names of tensors whose bytes changed outside of kernels.
        call: the number of the call that is running.
        tunings: what autotuners were called with.
        beside: what else could run while a kernel does.
        answered: whether an operator gave a number, as item() does, or a kernel printed or raised.
        launching, tuning: above 0 while a kernel is launched, while an autotuner tries one.
        hooks: above 0 while a hook of the file's is called meanwhile.
    """

    def __init__(self, allow: Sequence[str] = ()) -> None:
        super().__init__()
        self.allow = allow
        self.tracked: dict[int, Tracked] = {}
        self.call = 0
        self.recording: Recording | None = None
        self.foreign: list[str] = []
        self.early: set[str] = set()
        self.late: set[str] = set()
        self.launched = False
        self.tampered: list[str] = []
        self.launching = 0
        self.tunings: list[Tuning] = []
        self.tuning = 0
        self.hooks = 0
        self.beside: set[str] = set()
        self.answered = False

    def add_inputs(self, specs: list[dict[str, Any]], values: list[Any], writes: Sequence[int] = ()) -> None:
        """Register the tensors among the arguments, whose elements lie in bytes [start, stop)."""
        for at, (spec, value) in enumerate(zip(specs, values, strict=True)):
            if isinstance(value, torch.Tensor):
                extent = value.untyped_storage(), spec["start"], spec["stop"]
                self._track(Tracked(spec["name"], *extent, written=at in writes))

    def next_call(self) -> None:
        """Another call begins, of the same function in the same world."""
        self.call += 1

    def busy(self) -> bool:
        """Whether it is not the learner's launcher that runs."""
        return (self.launching > 0 or self.tuning > 0) and not self.hooks

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
        if self.tuning:  # torch's work, not the learner's
            self._account_for_all([*args, result])
            return result
        name = func._schema.name.removeprefix("aten::")  # and not what a file names so
        if name in EMPTY or name in FILLED:
            return self._allocate(result, name)
        if name in WHOLE_FILLS and self._is_whole(args[0]) and self._are_numbers(args[1:]):
            self.account_for(args[0])
            self.note(partial(func, *args, **(kwargs or {})))
        elif name not in VIEWS and (tensors_in([result]) or func._schema.is_mutable):
            self._note(name, [*args, result])
            if name in self.allow:
                self.note(partial(self._again, func, args, kwargs or {}, result))
        else:
            self.answered |= name not in VIEWS
        return result

    def _note(self, name: str, touched: list[Any]) -> None:
        """torch computed or changed something; its bytes are accounted for, so that they are not called
        tampering.
        """
        if name not in self.foreign:
            self.foreign.append(name)
        (self.late if self.launched else self.early).add(name)
        self._account_for_all(touched)

    def _again(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Put what an allowed operator of torch's gives by now where its result lay."""
        with torch.no_grad():
            made = tensors_in([func(*args, **kwargs)])
            for kept, new in zip(tensors_in([result]), made, strict=True):
                kept.detach().copy_(new)

    def _account_for_all(self, touched: list[Any]) -> None:
        for tensor in tensors_in(touched):
            self.account_for(tensor)

    def _allocate(self, plain: torch.Tensor, op: str) -> torch.Tensor:
        """The same tensor between guard words, poisoned unless the operator promised values."""
        if plain.layout != torch.strided or plain.device.type == "meta":
            return plain
        with _disable_current_modes():
            size = span(plain)
            memory = torch.empty(size + 2 * GUARD, dtype=torch.uint8, device=plain.device)
            poison(memory)
            storage = memory.untyped_storage()
            guarded = torch.empty(0, dtype=plain.dtype, device=plain.device)
            guarded.set_(storage, GUARD // plain.element_size(), plain.shape, plain.stride())
            if op in FILLED:
                guarded.copy_(plain)
        name = f"the tensor from torch.{op.removeprefix('new_')}"
        tracked = Tracked(name, storage, GUARD, GUARD + size, allocated=True, born=self.call)
        self._track(tracked)
        # Too large ones have no checksum, empty ones no bytes.
        tracked.poisoned = (tracked.checksum or None) if op in EMPTY and size else None
        return guarded

    def _is_whole(self, tensor: torch.Tensor) -> bool:
        known = self.find(tensor)
        return known is not None and known.allocated and span(tensor) == known.stop - known.start

    def _are_numbers(self, values: Sequence[Any]) -> bool:
        """Not what a tensor holds; torch itself makes a tensor of its own of the number in y[:] = 0."""
        return all(type(one) is torch.Tensor and self.find(one) is None for one in tensors_in(values))

    def _track(self, tracked: Tracked) -> None:
        self.tracked[tracked.storage.data_ptr()] = tracked
        tracked.checksum = checksum(tracked.storage)

    def account_for(self, tensor: torch.Tensor) -> None:
        """What a tensor holds by now is known to be right."""
        known = self.find(tensor)
        if known is not None:
            known.checksum = checksum(known.storage)

    def before_launch(self, arguments: list[Any]) -> None:
        """A kernel is about to run on `arguments`: whatever changed since the last look, no kernel
        changed.
        """
        self.look_for_tampering()
        self.beside |= beside(arguments)
        self.launching += 1
        self.launched = True
        self.late.clear()
        for tensor in tensors_in(arguments):
            known = self.find(tensor)
            if known is None:
                storage = tensor.untyped_storage()
                known = Tracked("a tensor that torch computed", storage, 0, storage.nbytes(), born=self.call)
                self._track(known)
            known.launched = True
        if self.recording:
            self.recording.meets(self._own(arguments))

    def _own(self, values: list[Any]) -> Iterator[torch.UntypedStorage]:
        """The memory behind tensors that is no argument's."""
        for tensor in tensors_in(values):
            known = self.find(tensor)
            if known is None or known.born is not None:
                yield tensor.untyped_storage()

    def record(self, keeps: bool = True) -> Recording:
        """From here on, until `keep`, what kernels do is recorded, as a Recording is told."""
        self.recording = Recording(keeps)
        return self.recording

    def note(self, step: Callable[[], Any]) -> None:
        """What a kernel, a fill of a whole tensor or an allowed operator did can be repeated by this."""
        if self.recording and self.recording.keeps and not self.tuning:
            self.recording.steps.append(step)

    def keep(self, results: list[Any]) -> list[Any]:
        """The call that is recorded returned these."""
        assert self.recording is not None
        self.recording.meets(self._own(results))
        self.recording.results, self.recording = results, None
        return results

    def after_launch(self) -> None:
        """The kernel is done; what it changed is its own."""
        self.launching -= 1
        for tracked in self.tracked.values():
            tracked.checksum = checksum(tracked.storage)

    def outside(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the launcher's that is called in the middle of a launch, such as its grid."""

        def called(*args: Any, **kwargs: Any) -> Any:
            self.launching -= 1
            try:
                return function(*args, **kwargs)
            finally:
                self.look_for_tampering()
                self.launching += 1

        return called

    def hooked(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A hook of the launcher's that an autotuner calls around a trial: values that it reads are read."""

        def called(*args: Any, **kwargs: Any) -> Any:
            self.hooks += 1
            try:
                return function(*args, **kwargs)
            finally:
                self.hooks -= 1

        return called

    def close(self) -> None:
        """The call is over: nothing of it may go on, nor have changed what no kernel changed."""
        self.beside |= beside([])
        self.look_for_tampering()

    def look_for_tampering(self) -> None:
        """Note every storage that differs from the last look."""
        for tracked in self.tracked.values():
            now = checksum(tracked.storage)
            if now != tracked.checksum:
                self.tampered.append(tracked.name)
                tracked.checksum = now

    def untouched(self, read: set[int]) -> list[int]:
        """Of these addresses those that torch.empty allocated and that are still as they were."""
        known = ((at, self.tracked[at]) for at in sorted(read) if at in self.tracked)
        return [at for at, tracked in known if tracked.poisoned == tracked.checksum]

    def holes(self, stored: Mapping[int, Any]) -> list[int]:
        """Addresses of what torch.empty allocated and that nobody wrote to in part, or at all.

        Args:
            stored: by address, which bytes kernels stored: a number may look like what nobody wrote.
        """
        found = []
        with _disable_current_modes():
            for at, tracked in self.tracked.items():
                if tracked.poisoned is not None:
                    here = slice(tracked.start, tracked.stop)
                    written = overwritten(raw(tracked.storage)[here], tracked.start)
                    if at in stored:
                        written |= torch.from_numpy(stored[at][here])
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
        broken = []
        with _disable_current_modes():
            for tracked in (tracked for tracked in self.tracked.values() if tracked.allocated):
                whole, start, stop = raw(tracked.storage), tracked.start, tracked.stop
                for side, words, at in (("before", whole[:start], 0), ("after", whole[stop:], stop)):
                    changed = overwritten(words, at).nonzero()
                    if len(changed):
                        nearest = len(words) - int(changed[-1]) if side == "before" else int(changed[0]) + 1
                        broken.append(Guard(tracked.name, side, len(changed), nearest))
        return broken
