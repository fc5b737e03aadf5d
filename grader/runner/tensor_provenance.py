"""A closed world for a call of the learner's function: where every tensor came from.

While the call runs, every torch operator passes through here. Which operators ran, and which tensors reached
a kernel, is observed and reported; the judge decides.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from grader.kernel.tensor_regions import Region
from grader.operator_memory_effects import EMPTY, FILLED, VIEWS, WHOLE_FILLS, Watch, tensors_in
from grader.runner.launch_replay import Recording
from grader.runner.storage_registry import Storages
from grader.runner_answers import Tuning


class World(Watch):  # type: ignore[no-untyped-call]
    """Observes one call.

    Args:
        allow: operators that are the launcher's to use.
        path: the learner's file.

    Attributes:
        foreign: operators that computed something, in order, without repeats.
        lines: of the file, from which each of them ran first; 0 where autograd ran it.
        early: those of them that ran before the first launch.
        late: those that ran after the last one.
        memory: the storages that were met, and what became of them.
        call: the number of the call that is running, of the same function in the same world.
        tunings: what autotuners were called with.
        answered: whether an operator gave a number, as item() does, or a kernel raised.
        launching, tuning: above 0 while a kernel is launched, while an autotuner tries one.
    """

    def __init__(self, allow: Sequence[str] = (), path: str = "") -> None:
        super().__init__()
        self.allow = allow
        self.memory = Storages()
        self.call = 0
        self.recording: Recording | None = None
        self.path = path
        self.foreign: list[str] = []
        self.lines: dict[str, int] = {}
        self.early: set[str] = set()
        self.late: set[str] = set()
        self.launched = False
        self.launching = 0
        self.tunings: list[Tuning] = []
        self.tuning = 0
        self.answered = False

    def busy(self) -> bool:
        """Whether it is not the learner's launcher that runs."""
        return self.launching > 0 or self.tuning > 0

    def ran(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> Any:
        if self.busy():  # torch's work, not the learner's
            return result
        name = func._schema.name.removeprefix("aten::")  # and not what a file names so
        if name in EMPTY or name in FILLED:
            return self.memory.allocate(result, name, self.call)
        if name in WHOLE_FILLS and self.memory.is_whole(args[0]) and self._are_numbers(args[1:]):
            self.note(partial(func, *args, **kwargs))
        elif name not in VIEWS and (tensors_in([result]) or func._schema.is_mutable):
            self._note(name)
            if name in self.allow:
                self.note(partial(self._again, func, args, kwargs, result))
        else:
            self.answered |= name not in VIEWS and bool(tensors_in(args))
        return result

    def _note(self, name: str) -> None:
        """torch computed or changed something."""
        if name not in self.foreign:
            self.foreign.append(name)
            self.lines[name] = self._line()
        (self.late if self.launched else self.early).add(name)

    def _line(self) -> int:
        """The line of the file that is running; 0 where none is."""
        frame = sys._getframe()
        while frame.f_back and frame.f_code.co_filename != self.path:
            frame = frame.f_back
        return frame.f_lineno if frame.f_code.co_filename == self.path else 0

    def _again(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Put what an allowed operator of torch's gives by now where its result lay."""
        with torch.no_grad():
            made = tensors_in([func(*args, **kwargs)])
            for kept, new in zip(tensors_in([result]), made, strict=True):
                kept.detach().copy_(new)

    def _are_numbers(self, values: Sequence[Any]) -> bool:
        """Not what a tensor holds; torch itself makes a tensor of its own of the number in y[:] = 0."""
        return all(type(one) is torch.Tensor and self.memory.find(one) is None for one in tensors_in(values))

    def regions(self) -> list[Region]:
        """The memory that kernels may touch by now."""
        return [
            Region(
                one.name,
                base,
                base + one.start,
                base + one.stop,
                base + one.storage.nbytes(),
                one.allocated or one.written,
            )
            for base, one in self.memory.tracked.items()
        ]

    def before_launch(self, arguments: list[Any]) -> None:
        """A kernel is about to run on `arguments`."""
        self.launching += 1
        self.launched = True
        self.late.clear()
        for tensor in tensors_in(arguments):
            self.memory.meet(tensor, self.call).launched = True
        if self.recording:
            self.recording.meets(self.memory.own(arguments))

    def record(self) -> Recording:
        """From here on, until `keep`, what kernels do is recorded."""
        self.recording = Recording()
        return self.recording

    def note(self, step: Callable[[], Any]) -> None:
        """What a kernel, a fill of a whole tensor or an allowed operator did can be repeated by this."""
        if self.recording and not self.tuning:
            self.recording.steps.append(step)

    def keep(self, results: list[Any]) -> list[Any]:
        """The call returned these."""
        if self.recording:
            self.recording.meets(self.memory.own(results))
            self.recording.results, self.recording = results, None
        return results

    def after_launch(self) -> None:
        """The kernel is done."""
        self.launching -= 1

    def outside(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the launcher's that is called in the middle of a launch, such as its grid."""

        def called(*args: Any, **kwargs: Any) -> Any:
            self.launching -= 1
            try:
                return function(*args, **kwargs)
            finally:
                self.launching += 1

        return called
