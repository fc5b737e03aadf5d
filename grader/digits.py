"""Numbers as a person reads them: in few digits, but in as many as tell two of them apart."""

from __future__ import annotations

import math
from typing import Any

FEW, MOST = 6, 17  # significant digits; so many tell any two float64 apart


def figure(value: Any, digits: int = FEW) -> str:
    """A figure; whole numbers are whole, and what is no number is shown as it is."""
    return f"{value:.{digits}g}" if isinstance(value, float) and math.isfinite(value) else str(value)


def apart(one: Any, other: Any) -> tuple[str, str]:
    """Two figures that are told side by side."""
    for digits in range(FEW, MOST, 3):
        if figure(one, digits) != figure(other, digits):
            return figure(one, digits), figure(other, digits)
    return figure(one, MOST), figure(other, MOST)
