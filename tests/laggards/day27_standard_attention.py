"""Day 27: no bar on speed, so nothing that only is slow."""

from tools.planted import Laggard

laggards: list[Laggard] = []
