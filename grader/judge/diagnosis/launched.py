"""What a call launched, as its runner reported it."""

from __future__ import annotations

import math

from grader.answers import Called, Launch
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Evidence


def launches(trial: Trial) -> list[Launch]:
    report = trial.answer.report if trial.answer else None
    return report.launches if isinstance(report, Called) else []


def elsewhere(evidence: Evidence) -> frozenset[str]:
    """The kernels that ran in cases, and in none that failed; none where nothing that failed was launched."""
    failed, passed = (
        {launch.kernel for trial in trials for launch in launches(trial)}
        for trials in (evidence.failed, evidence.passed)
    )
    return frozenset(passed - failed if failed else ())


def grids(trial: Trial) -> list[list[int]]:
    return [launch.grid for launch in launches(trial)]


def programs(trial: Trial) -> int:
    """Of the largest launch; 0 where there was none."""
    return max((math.prod(grid) for grid in grids(trial)), default=0)
