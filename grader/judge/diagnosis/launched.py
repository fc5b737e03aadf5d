"""What a call launched, as its runner reported it."""

from __future__ import annotations

import math

from grader.answers import Called, Launch
from grader.judge.case.trial import Trial


def launches(trial: Trial) -> list[Launch]:
    report = trial.answer.report if trial.answer else None
    return report.launches if isinstance(report, Called) else []


def grids(trial: Trial) -> list[list[int]]:
    return [launch.grid for launch in launches(trial)]


def programs(trial: Trial) -> int:
    """Of the largest launch; 0 where there was none."""
    return max((math.prod(grid) for grid in grids(trial)), default=0)
