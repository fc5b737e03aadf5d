"""What came of a claim: a ratio for each of its shapes, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Shape:
    """One case of a claim.

    Attributes:
        case: its id.
        of_torch: torch's time over that of the kernel; 0 where it could not be timed.
        interval: 95 % bootstrap interval of that.
        why: it could not be timed.
    """

    case: str
    of_torch: float = 0.0
    interval: tuple[float, float] = (0.0, 0.0)
    why: str = ""


@dataclass(frozen=True)
class Claimed:
    """One claim, as measured.

    Attributes:
        says, backend, part: the claim's.
        of_torch: the ratio that is claimed.
        shapes: in the order of its cases.
    """

    says: str
    backend: str
    part: str
    of_torch: float
    shapes: tuple[Shape, ...] = field(default=())

    @property
    def timed(self) -> list[Shape]:
        """Those that could be timed, the best first."""
        return sorted((s for s in self.shapes if not s.why), key=lambda s: -s.of_torch)

    @property
    def held(self) -> int:
        """For how many shapes it holds."""
        return sum(shape.of_torch >= self.of_torch for shape in self.timed)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Claimed:
        """What was written."""
        shapes = (Shape(**{**s, "interval": tuple(s["interval"])}) for s in document["shapes"])
        return cls(**{**document, "shapes": tuple(shapes)})
