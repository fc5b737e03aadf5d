"""One function that a day asks for, its bars and its pieces: what a hidden_tests.py declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch

from grader.challenge.case import Case
from grader.challenge.optional_fields import Bug, Chance, Claim, Compilations, Frequencies, Judges, Made
from grader.datasheets import MATRIX_UNITS, Gpu
from grader.pass_requirements import DEMANDS
from grader.randomness import rng


@dataclass(frozen=True)
class Speed:
    """A speed bar: the kernel must reach a share of this GPU's copy rate, or of torch, on one case.

    Args:
        case: the inputs it is timed on.
        moved: bytes that the best kernel reads plus writes, from the inputs.
        of_copy: passes at this share of a plain device copy that moves as many bytes.
        of_torch: passes at this share of torch's speed. With both, the easier one counts.
        flops: floating-point operations of products, for the physical floor of compute-bound days. Such a bar
            is not timed below compute capability 8.0, where Triton reaches no matrix units and torch does.
        torch: the torch call it is compared with; the challenge's reference when None.
        rolled: positions of the inputs whose contents change before every timed call; all when None. They are
            rolled as one flat row, so ids stay ids; what orders or bounds something is not to be rolled.
        part: what is timed: forward, backward (the gradients alone), or both.
        sweep: the sizes of the case that `track bench` scales together; when empty `cols`, or its largest.
        needs: compute capability, such as (8, 9), below which a GPU is not timed.
    """

    case: Case
    moved: Callable[..., int]
    of_copy: float | None = None
    of_torch: float | None = None
    flops: Callable[..., int] | None = None
    torch: Callable[..., Any] | None = None
    rolled: Sequence[int] | None = None
    part: Literal["forward", "backward", "both"] = "forward"
    sweep: Sequence[str] = ()
    needs: tuple[int, int] | None = None

    @property
    def capability(self) -> tuple[int, int] | None:
        """The compute capability below which a GPU is not timed; None where each is."""
        return self.needs or (MATRIX_UNITS if self.flops else None)


@dataclass(frozen=True)
class Memory:
    """A memory bar: what the call holds at its peak beyond its outputs.

    Args:
        case: the inputs it is measured on.
        extra: bytes allowed beyond the outputs, from the inputs; 5 % of the outputs and 1/256 of the inputs
            are forgiven on top.
        part: of which pass the peak is: forward, or of both together; gradients are outputs, too.
    """

    case: Case
    extra: Callable[..., int] = lambda *_: 0
    part: Literal["forward", "both"] = "forward"


@dataclass(frozen=True)
class Tuner:
    """The kernel's configs are chosen by Triton's autotuner, which is looked at once all else is right.

    Args:
        key: sizes of the cases that can change the choice: the autotuner must tell them apart.
    """

    key: Sequence[str]


@dataclass(frozen=True)
class Gradients:
    """The entry is differentiable: its backward pass is judged too.

    Args:
        of: positions of the arguments whose gradients are asked for; one that is None is left out.
        saved: bytes that the forward pass may keep for the backward pass, from the inputs. Inputs and outputs
            that it keeps count too, 5 % and 1 KiB are forgiven.
        if_asked: a gradient that nobody asks for may not be computed; seen where one is asked for `alone`.
    """

    of: Sequence[int]
    saved: Callable[..., int]
    if_asked: bool = False


@dataclass(frozen=True)
class Relation:
    """What the results of two calls must have to do with one another; one of the `edges`.

    Args:
        name: in few words.
        case: the inputs of the first call.
        other: the arguments of the second call, from those of the first.
        holds: whether it is so, from the outputs of both calls, tuples of tensors on the CPU.
        says: the sentence for a kernel of which it is not so.
    """

    name: str
    case: Case
    other: Callable[..., tuple[Any, ...]]
    holds: Callable[[tuple[torch.Tensor, ...], tuple[torch.Tensor, ...]], bool]
    says: str

    @property
    def id(self) -> str:
        """`the_same_seed_again`."""
        return self.name.replace(" ", "_")

    @property
    def gpu(self) -> bool:
        """Whether it is only tried on a GPU."""
        return self.case.gpu

    @property
    def huge(self) -> bool:
        """Whether it is too large for a GPU, too."""
        return self.case.huge


@dataclass(frozen=True)
class Piece:
    """A part of the day's work that is judged alone when a grading fails, with ours for the rest of the file.

    Args:
        name: what the screen calls it.
        of: the function of kernel.py that holds it, or `Class.method`.
        by: what it is judged by: `all` of it; `loads`, that every element of `reads` is read; `stores`, that
            every element of the results is written; `bounds`, that no access lies beside its tensor; or the
            `values` of the results, which must be there first.
        results: positions among the outputs, and the gradients behind them; all when empty.
        reads: parameters of the kernel `of` that are read whole.
    """

    name: str
    of: str
    by: Literal["all", "loads", "stores", "bounds", "values"] = "all"
    results: Sequence[int] = ()
    reads: Sequence[str] = ()


@dataclass(frozen=True)
class Challenge:
    """One function that a day asks for, and how it is judged.

    Args:
        entry: the function's name in kernel.py.
        inputs: its positional arguments for a case; tensors are drawn with `draw(rows, cols)`.
        reference: the same function by torch. Called on float64 copies of the inputs it is the oracle, on
            the inputs themselves the yardstick, which also fixes shape and dtype of the result.
        made: arguments that are no tensors, such as lists.
        writes: positions of the arguments that the entry changes in place. The reference changes nothing: it
            returns what they hold afterwards, in this order, and then what the entry returns, if anything.
        cases: what it is tried on; sorted by the judge, smallest first.
        returns: dtype of each output where torch's own dtype is not what the day asks for.
        reduces: length of the sum behind one output element; long sums are allowed √(length / 1024) times
            the gate.
        rowwise: row i of the results depends on row i of the inputs alone, so that an output of gigabytes
            can be judged by some of its rows.
        programs: how many programs the call must launch in all, where the day fixes it.
        programs_of: "the first launch" has that many of its own, and those behind it as many as they like.
        no_host_reads: the launcher may not look at a tensor's values (`.item()`, `.tolist()`, …).
        accept: from the first result that is returned and the arguments, which of its elements are right
            though they are not the oracle's, because an exact quotient is a near tie; bool. At most 1 % may
            differ so, or one of a few, and none in a case that is exact.
        probe: the entry is a device function; "tile_map" has it called for every program of a grid, with
            the case's arguments num_pid_m, num_pid_n and GROUP_M, and judges its answers, int32 [pids, 2].
        suspects: wrong functions that a learner may have computed, by the sentence that says so; tried on
            float64 copies of the inputs when values are wrong.
        gradients: the entry is differentiable.
        chance: the entry is random; the reference gets the kept elements behind its arguments.
        frequencies: the entry draws categories at random.
        relations: of the results of two calls.
        compilations: how often a kernel may be compiled over some calls.
        operator: the name by which the entry is registered with torch, such as "track::add"; torch's own
            tests of operators are run on it.
        forbids: names that do the day's work, such as "tl.softmax", each with what is said of it.
        allow: torch operators that the launcher may use beyond allocation and views, e.g. ("sum",).
        speed: the speed bar or bars.
        targets: cases that are compiled and never run, each for a GPU, which need not be here: what they
            launch fits there, and spills nothing.
        memory: the memory bar.
        shown: of the cases, the one that a picture shows the day's idea with; chosen by `track show` if None.
        image: makes the arguments of a call whose result `track show` draws, beside the first of them; a
            result of four dimensions is a film.
        pieces: what a learner who is not done yet is told of, in the order in which one fills them in.
        tuner: what is asked of the kernel's autotuner.
        judges: the entry is a test, and its argument a candidate for it.
        bugs: of a bug hunt, what is wrong with the whole file that it hands out.
        claims: what is said of the speed of such kernels; held against torch, and no gate.
        needs: compute capability, such as (8, 9), of the GPUs that can run it; on others it is not tried.
        later: whether GPUs of a higher capability can run it, too.
        requires: kinds of demands that the day teaches, and that fail a file here: of DEMANDS, where they are
            limits else.

    Raises:
        ValueError: there is no such demand.
    """

    entry: str
    inputs: Callable[[Case, Any], tuple[Any, ...]]
    reference: Callable[..., Any]
    cases: Sequence[Case]
    made: Sequence[Made] = ()
    writes: Sequence[int] = ()
    returns: torch.dtype | Sequence[torch.dtype] | None = None
    reduces: Callable[[Case], int] | None = None
    rowwise: bool = False
    programs: Callable[..., int] | None = None
    programs_of: Literal["the call", "the first launch"] = "the call"
    no_host_reads: bool = False
    accept: Callable[..., torch.Tensor] | None = None
    probe: str | None = None
    suspects: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    gradients: Gradients | None = None
    chance: Chance | None = None
    frequencies: Frequencies | None = None
    relations: Sequence[Relation] = ()
    compilations: Compilations | None = None
    operator: str = ""
    forbids: Mapping[str, str] = field(default_factory=dict)
    allow: Sequence[str] = ()
    speed: Speed | Sequence[Speed] = ()
    targets: Mapping[Case, Gpu] = field(default_factory=dict)
    memory: Memory | None = None
    shown: Case | None = None
    image: Callable[[], tuple[Any, ...]] | None = None
    pieces: Sequence[Piece] = ()
    tuner: Tuner | None = None
    judges: Judges | None = None
    bugs: Sequence[Bug] = ()
    claims: Sequence[Claim] = ()
    needs: tuple[int, int] | None = None
    later: bool = True
    requires: Sequence[str] = ()

    @property
    def on_gpu_alone(self) -> bool:
        """Whether all its cases need a GPU: without one its kernels are compiled for `targets` alone."""
        return bool(self.cases) and all(case.gpu for case in self.cases)

    def __post_init__(self) -> None:
        if unknown := [demand for demand in self.requires if demand not in DEMANDS]:
            raise ValueError(f"{self.entry}: no demand {unknown[0]!r}. There are {', '.join(DEMANDS)}.")

    def is_limit(self, demand: str) -> bool:
        """Whether such a demand is told here with a pass."""
        return not DEMANDS[demand].required and demand not in self.requires

    def drawn(self, seed: int, named: str = "") -> Challenge:
        """The same challenge with the sizes of its cases drawn, as `Case.drawn` does it."""
        return replace(self, cases=[case.drawn(rng(seed, case.id, "sizes"), named) for case in self.cases])

    @property
    def speeds(self) -> tuple[Speed, ...]:
        return (self.speed,) if isinstance(self.speed, Speed) else tuple(self.speed)
