"""What a day's hidden_tests.py is made of: data that a person can read aloud."""

from grader.challenge.case import SHORT, Case, Own, between
from grader.challenge.challenge import Challenge, Gradients, Memory, Piece, Relation, Speed, Tuner
from grader.challenge.optional_fields import (
    Bug,
    Candidate,
    Chance,
    Claim,
    Compilations,
    Frequencies,
    Judges,
    Made,
)

__all__ = [
    "SHORT",
    "Bug",
    "Candidate",
    "Case",
    "Challenge",
    "Chance",
    "Claim",
    "Compilations",
    "Frequencies",
    "Gradients",
    "Judges",
    "Made",
    "Memory",
    "Own",
    "Piece",
    "Relation",
    "Speed",
    "Tuner",
    "between",
]
