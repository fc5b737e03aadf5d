"""References and suspects make what they need where their arguments are: a GPU's tensors meet no other's.

Tried the other way round: the arguments lie on the CPU, and what is made without saying where lies nowhere.
"""

from __future__ import annotations

import re

import pytest
import torch

from grader.challenge import Challenge
from grader.challenge.harness.oracle import as_tuple, cast, values_of
from grader.challenge.harness.trial import draw
from grader.challenge.loading import load_challenges
from grader.course import catalog
from grader.course.catalog import Day

READ = r"copy out of meta tensor|cannot be called on meta tensors"  # `.to(x)`, `.item()`: a GPU allows both
FEW = 4  # cases of a challenge, the smallest ones that have elements


def arguments(challenge: Challenge) -> list[tuple[object, ...]]:
    cases = [case for case in challenge.cases if not case.gpu and case.calls == 1]
    drawn = [cast(draw(challenge, case, 1, "cpu"), torch.float64) for case in cases]
    return sorted((one for one in drawn if all(sizes(one)) and sizes(one)), key=lambda one: sum(sizes(one)))[
        :FEW
    ]


def sizes(given: tuple[object, ...]) -> list[int]:
    return [value.numel() for value in given if isinstance(value, torch.Tensor)]


def devices(function: object, given: tuple[object, ...]) -> set[str]:
    """Where the results of a function lie; nothing where a number is read from what lies nowhere."""
    try:
        with torch.device("meta"):
            results = as_tuple(function(*given))  # type: ignore[operator]
    except (NotImplementedError, RuntimeError) as error:
        if re.search(READ, str(error)):
            return set()
        raise
    return {out.device.type for out in results if isinstance(out, torch.Tensor)}


@pytest.mark.parametrize("day", catalog.course(), ids=lambda day: str(day.key))
def test_nothing_is_made_on_another_device(day: Day) -> None:
    for challenge in load_challenges(day.hidden_tests):
        for given in arguments(challenge):
            assert devices(lambda *one, c=challenge: values_of(c, one), given) <= {"cpu"}, challenge.entry
            for sentence, wrong in challenge.suspects.items() if challenge.chance is None else ():
                assert devices(wrong, given) <= {"cpu"}, sentence
