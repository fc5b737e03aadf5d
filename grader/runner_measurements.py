"""What runners and builders answer of a call's times, memory and counts, and of what is compiled for it.

Each is a claim, as those of `runner_answers.py` are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from grader.kernel.tensor_regions import Overrun
from grader.performance.compiler.assembly import Facts
from grader.performance.counting.access_trace import TracedLaunch
from grader.performance.counting.counts import LaunchCounts
from grader.runner_answers import PlainOutput, TensorOutput


@dataclass(frozen=True)
class Work:
    """What did the work of the calls that were watched: the operators by which torch computed something, and
    the kernels that the call with the fewest launched.
    """

    operators: list[str]
    launches: int


@dataclass(frozen=True)
class Prepared:
    """To `prepare`: µs of one call, how many calls a CUDA graph holds, 0 where none was captured."""

    us: float
    graph_calls: int
    work: Work


@dataclass(frozen=True)
class Round:
    """To `round`: µs of each call."""

    us: list[float]
    work: Work


@dataclass(frozen=True)
class Burst:
    """To `burst`: that it is over."""


@dataclass(frozen=True)
class Verified:
    """To `verify`: pieces of the outputs of one timed call, and which inputs it had."""

    nonce: int
    outputs: list[TensorOutput | PlainOutput]


@dataclass(frozen=True)
class Held:
    """One tensor of a call: its bytes, and the line of the learner's file that made it; 0 where none did."""

    line: int
    bytes: int


@dataclass(frozen=True)
class Peak:
    """To `peak`: bytes that one call holds at its peak, and its outputs' bytes, gradients among them.

    Attributes:
        held: what else than outputs there was at the peak; empty on a GPU.
    """

    peak: int
    outputs: int
    held: list[Held] = field(default_factory=list)


@dataclass(frozen=True)
class Metered:
    """To `meter`: what each launch of one call at full size would do.

    Attributes:
        results: where the storage of each result of the call begins, and the bytes of the result.
    """

    launches: list[LaunchCounts]
    results: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Surveyed:
    """To `survey`: how to compile what a call would launch on a GPU, as compiler/recipe.py has it."""

    recipes: list[dict[str, Any]]


@dataclass(frozen=True)
class Accepted:
    """To `accept`: bytes of shared memory that a program of a kernel needs; None where that is not known."""

    shared: int | None


@dataclass(frozen=True)
class Built:
    """To `build`: what the compiler made of one launch, and the code that was asked for."""

    facts: Facts
    code: str


@dataclass(frozen=True)
class Walked:
    """To `walk`: no address lay far outside of its tensor.

    Attributes:
        overruns: those that lay beside it.
    """

    overruns: list[Overrun]


@dataclass(frozen=True)
class Traced:
    """To `trace`: every launch of one small call."""

    launches: list[TracedLaunch]
