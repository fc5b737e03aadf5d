"""Calls over which a kernel may be compiled a few times, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.challenge.case import Case


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
