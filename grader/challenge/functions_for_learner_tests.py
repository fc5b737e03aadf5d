"""Functions that a learner's test is handed, right and wrong ones: they travel as source."""

from __future__ import annotations

from dataclasses import dataclass


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
