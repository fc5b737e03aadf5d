"""Extra: without a speed bar nothing is too slow."""

from tools.planted import Laggard

laggards: list[Laggard] = []
