"""Day 33: nothing is timed, so nothing is too slow: the scores are only stored here to be looked at."""

from __future__ import annotations

from grader.dev.planted import Laggard

laggards: list[Laggard] = []
