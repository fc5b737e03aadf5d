"""One thing that was looked at in a call."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """One thing that was looked at.

    Attributes:
        name: compiles, compile time, shared memory, spills, matrix units, sectors, stores, fp64, divisions,
            programs, in flight, bytes, order, products, time.
        passed: whether it is within its margin.
        says: one sentence, with the factor.
        line: of the learner's file; 0 where none is to blame, or the meter does not know it.
        look_at: what to look for there then.
    """

    name: str
    passed: bool
    says: str
    line: int = 0
    look_at: str = ""
