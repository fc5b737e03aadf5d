"""Day 33: nothing is timed, so nothing is too slow: the scores are only stored here to be looked at."""

from tools.planted import Laggard

laggards: list[Laggard] = []
