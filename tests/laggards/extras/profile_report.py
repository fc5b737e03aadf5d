"""Extra: there is no speed bar, so nothing is too slow."""

from tools.planted import Laggard

laggards: list[Laggard] = []
