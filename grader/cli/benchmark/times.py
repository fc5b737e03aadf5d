"""What turns come to: the times of one kernel, and how far other rounds would have moved their median."""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass, field
from typing import Any

RESAMPLES = 400


@dataclass
class Times:
    """Of one kernel, µs: of each round the median, and of one call by the wall clock."""

    rounds: list[float] = field(default_factory=list)
    wall_us: float = 0.0
    problem: str = ""
    kernels: list[dict[str, Any]] = field(default_factory=list)

    @property
    def us(self) -> float:
        return statistics.median(self.rounds) if self.rounds else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 % of the medians that other draws of these rounds have."""
        if not self.rounds:
            return 0.0, 0.0
        rng, count = random.Random(0), len(self.rounds)
        drawn = sorted(statistics.median(rng.choices(self.rounds, k=count)) for _ in range(RESAMPLES))
        return drawn[int(0.025 * RESAMPLES)], drawn[int(0.975 * RESAMPLES) - 1]
