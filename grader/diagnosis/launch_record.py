"""What a call launched, as its runner reported it."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass

from grader.challenge.harness.trial import Trial
from grader.diagnosis.provenance import behind, reached
from grader.diagnosis.source_context import functions, jitted
from grader.runner_answers import Called, Failed, Launch


def launches(trial: Trial) -> list[Launch]:
    report = trial.answer.report if trial.answer else None
    return report.launches if isinstance(report, Called) else []


@dataclass(frozen=True)
class Involved:
    """What took part in a wrong result.

    Attributes:
        elsewhere: kernels that took none.
        stores: lines of the stores that it comes from, where that is known; none where no kernel stored it.
        right: functions, or `Class.method`, that are right with our code around them, where others are not.
        wrong: those others.
    """

    elsewhere: frozenset[str] = frozenset()
    stores: frozenset[int] | None = None
    right: frozenset[str] = frozenset()
    wrong: frozenset[str] = frozenset()


NOBODY = Involved()


def involved(trial: Trial, source: str) -> Involved:
    """By the memory that launches were handed; where that does not tell, by which kernels were launched."""
    tree = ast.parse(source)
    # What a kernel of ours launched is the learner's entry alone.
    probed = [trial.challenge.entry] if trial.challenge.probe else []
    known = None if probed else behind(trial, tree)
    every = {kernel.name for kernel in functions(tree) if jitted(kernel)}
    ran = (known and known.whole and [*known.stores]) or probed
    ran = ran or [launch.kernel for launch in launches(trial)]
    apart = every - reached(ran or _stopped(trial, every), tree)
    lines = None if known is None else frozenset().union(*known.stores.values())
    return Involved(frozenset(apart if apart < every else ()), lines)


def _stopped(trial: Trial, kernels: set[str]) -> list[str]:
    """The kernel in which an exception was raised, if it was in one."""
    report = trial.answer.report if trial.answer else None
    frames = report.fault.traceback if isinstance(report, Failed) else []
    names = [found[1] for frame in frames if (found := re.search(r"\bin (\w+)", frame))]
    return [name for name in names if name in kernels][:1]


def grids(trial: Trial) -> list[list[int]]:
    return [launch.grid for launch in launches(trial)]


def programs(trial: Trial) -> int:
    """Of the largest launch; 0 where there was none."""
    return max((math.prod(grid) for grid in grids(trial)), default=0)
