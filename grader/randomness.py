"""The one way from a grading's seed to random numbers: each purpose has its own, whatever else was drawn."""

from __future__ import annotations

import random


def rng(seed: int, *purpose: str) -> random.Random:
    """A generator for one purpose, such as a case's id, or that and "order": the same for the same seed,
    whichever other cases run before it.
    """
    return random.Random("/".join((str(seed), *purpose)))
