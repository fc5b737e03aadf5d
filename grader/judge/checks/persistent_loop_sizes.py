"""At which sizes programs come round to what they do once in every plain case, as walks tell."""

from __future__ import annotations

from collections.abc import Callable

from grader.challenge import Case, Challenge
from grader.challenge.loading import tallest
from grader.runner_measurements import Walked

EFFORT = 6000  # programs times turns that are evaluated, some milliseconds each

Rounds = list[tuple[Case, Walked]]


def coming_round(challenge: Challenge, huge: Walked, walk: Callable[[Case], Walked]) -> Rounds:
    """Of the cases that are there for it those in which something comes round first, with their walks.

    Args:
        huge: the walk of a huge case, which tells what few programs come round to.
        walk: walks one of its cases; nothing comes round in one that cannot be walked.
    """
    left, found = set(huge.again), []
    for case in tallest([case for case in challenge.cases if case.group == "correct" and not case.gpu]):
        left -= {*walk(case).again}
    for case in challenge.turns:
        told = walk(case) if left else Walked(0)
        if left & {*told.again}:
            found.append((case, told))
            left -= {*told.again} if told.effort <= EFFORT else set()
    return found
