"""Could failed cases have something in common by luck? Then it is not told."""

from __future__ import annotations

import math

UNLIKELY = 0.05  # of what is told, so much may be by luck


def luck(wrong: int, alike: int, every: int) -> float:
    """How likely it is that all wrong ones are among those alike, if that has nothing to do with it.

    Args:
        wrong: how many of all are wrong.
        alike: how many of all have something in common.
        every: of how many.
    """
    return math.comb(alike, wrong) / math.comb(every, wrong)
