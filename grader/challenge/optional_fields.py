"""Fields that few challenges have: made arguments, random outputs, compilations, claims, bugs, a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch

from grader.challenge.case import Case


@dataclass(frozen=True)
class Made:
    """One argument that is made of tensors just before the learner's function is called.

    `inputs` returns the tensors, one behind the other in its place, and so the reference takes them.
    Positions (`writes`, `Gradients.of`) count tensors.

    Args:
        at: position of the first of them.
        kind: "list", of all of them; "dlpack", an object over one tensor that has nothing but `__dlpack__`
            and `__dlpack_device__`; "all_reduce", a function of one tensor: it leaves what it is given in the
            second of them, and adds the first, what all other ranks hold, to it in place.
        count: how many they are.
    """

    at: int
    kind: Literal["list", "dlpack", "all_reduce"]
    count: int = 1


@dataclass(frozen=True)
class Chance:
    """The entry drops elements at random: its choice is taken as given, and judged by statistics.

    Args:
        keep: which elements were kept, bool, from the arguments and the outputs.
        rate: the probability that one is kept.
    """

    keep: Callable[..., torch.Tensor]
    rate: Callable[[Case], float]


@dataclass(frozen=True)
class Frequencies:
    """The entry draws a category for each row at random, an integer [rows]: whatever can come is right, and
    how often it comes is judged by statistics. The reference returns the likeliest one.

    Args:
        of: the probability of each category, float64 [rows, categories], from the arguments, floating tensors
            among them in float64. A row with a single 1 leaves no choice.
        suspects: probabilities that a learner may have drawn by instead, by the sentence that says so.
    """

    of: Callable[..., torch.Tensor]
    suspects: Mapping[str, Callable[..., torch.Tensor]] = field(default_factory=dict)


@dataclass(frozen=True)
class Compilations:
    """How often a kernel may be compiled over some calls; one of the `edges`.

    Triton compiles anew for another dtype, another value of a tl.constexpr, and for an integer that is 1, or
    divisible by 16, or neither. On a GPU its compilations are counted, without one what it would tell apart.

    Args:
        cases: the inputs of the calls, in their order.
        most: so many compilations of each kernel are enough.
    """

    cases: Sequence[Case]
    most: int


@dataclass(frozen=True)
class Candidate:
    """A function that claims to be right.

    Args:
        source: of a module that defines it.
        entry: its name there.
        wrong: what it is wrong about, in a word or two; empty for a right one.
    """

    source: str
    entry: str
    wrong: str = ""


@dataclass(frozen=True)
class Judges:
    """The entry is a test: it takes a Candidate and says whether that is right, as a bool.

    Torch is its own there, and an exception refuses what it was handed.

    Args:
        missed: so many wrong candidates may be taken for right ones; no right one may be refused.
    """

    missed: int = 0


@dataclass(frozen=True)
class Claim:
    """A claim about speed: measured on a GPU by `track grade --claims`, and no gate.

    Args:
        says: the claim, in the words of those who make it.
        cases: what it is measured on, fixed beforehand, those included in which it should not hold.
        of_torch: torch's speed times this is claimed.
        backend: of torch: as it stands, compiled by torch.compile, or one backend of its attention.
        part: what is timed: forward, backward (the gradients alone), or both.
        torch: the torch call; that of the challenge's first bar when None.
    """

    says: str
    cases: Sequence[Case]
    of_torch: float
    backend: Literal["eager", "compile", "flash", "cudnn", "flex"] = "eager"
    part: Literal["forward", "backward", "both"] = "forward"
    torch: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Bug:
    """A fault that the file of a bug hunt is handed out with.

    Args:
        name: what is wrong, as the screen says it once it is gone.
        kind: of which class it is, in the words of the trade.
        witness: one of the cases; it fails while the bug stands, and passes without it, whatever else stands
            but what hides it.
        shows: what of the witness tells: its `values`, its `inputs` after the call, or the `races` in it,
            which show on a GPU by its values.
        hides: names of other bugs whose witnesses fail beside this one in any case.
    """

    name: str
    kind: str
    witness: Case
    shows: Literal["values", "inputs", "races"] = "values"
    hides: Sequence[str] = ()
