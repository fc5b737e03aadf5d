"""Extra: what is done wrong, and what the grader must say about it."""

from __future__ import annotations

from grader.dev.planted import Mistake

mistakes: list[Mistake] = [
    # Mistake("no mask", swap={"mask = offs < n": "mask = offs >= 0"}, fails="correct", says="mask"),
]
