"""Extra: there is no speed bar, so nothing is too slow."""

from __future__ import annotations

from tools.planted import Laggard

laggards: list[Laggard] = []
