"""What a day's hidden_tests.py is made of: data that a person can read aloud."""

from grader.challenge.bug import Bug
from grader.challenge.case import SHORT, Case, Own, between
from grader.challenge.challenge import Challenge, Gradients, Memory, Piece, Relation, Speed, Tuner
from grader.challenge.compilation_count import Compilations
from grader.challenge.functions_for_learner_tests import Candidate, Judges
from grader.challenge.made_arguments import Made
from grader.challenge.random_outputs import Chance, Frequencies
from grader.challenge.speed_claim import Claim

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
