"""Extra write_the_test: a test of day 13's softmax, tried on sixteen wrong candidates and five right ones."""

from __future__ import annotations

from grader.challenge import Case, Challenge, Judges

from .suspects import CANDIDATES

challenge = Challenge(
    entry="is_right",
    inputs=lambda case, draw: (CANDIDATES[case.candidate - 1],),
    reference=lambda candidate: not candidate.wrong,
    judges=Judges(missed=2),
    cases=[Case(candidate=number + 1) for number in range(len(CANDIDATES))],
)
