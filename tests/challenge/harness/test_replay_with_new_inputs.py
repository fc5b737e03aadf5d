"""Which launches are made again: those of several calls, some by lot, the first of each way to launch, and
those whose launcher had a way to values.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grader.challenge import Case, Challenge
from grader.challenge.harness import replay_with_new_inputs
from grader.challenge.harness.argument_serialization import Answer
from grader.challenge.harness.compare import Finding
from grader.challenge.harness.trial import LARGEST, RECORDED, Trial
from grader.request import Request
from grader.runner_answers import Called, Launch

LAYOUTS = ("contiguous", "offset", "sliced", "strided", "transposed")
CASES = [Case(n=n, layout=layout) for n in (3, 5, 7) for layout in LAYOUTS] + [Case(n=9, calls=2)]


def answer(kernel: str, looked: bool) -> Answer:
    """To a call that launched this kernel on its input, at address 64, and on a result."""
    launch = Launch(kernel, [1], {"x_ptr": 64, "y_ptr": 128})
    report = Called("Tensor", [], [launch], [], [], False, [], 0, [], [], [], inputs=[64], looked=looked)
    return Answer(report)


def chosen(
    seed: int,
    size: int = 10,
    findings: tuple[Finding, ...] = (),
    looked: bool = False,
    kernels: tuple[str, ...] = ("copy",),
) -> list[Case]:
    """Of the cases, launched by these kernels in turn, those that are tried again; one way is known."""
    challenge = Challenge("f", lambda case, draw: (), torch.clone, CASES)
    request = Request("grade", Path(), Path(), Path(), b"", "cpu", seed, 20.0)
    answers = [answer(kernels[at % len(kernels)], looked) for at in range(len(CASES))]
    trials = [
        Trial(challenge, case, (torch.empty(size),), ["x"], answer=known, findings=list(findings))
        for case, known in zip(CASES, answers, strict=True)
    ]
    ways = {frozenset({("copy", "x_ptr", 0), ("copy", "y_ptr", None)})}
    return [trial.case for trial in trials if replay_with_new_inputs._chosen(trial, request, ways)]


def test_a_few_and_always_that_of_several_calls() -> None:
    for seed in range(20):
        found = chosen(seed)
        assert CASES[-1] in found
        assert chosen(seed) == found
    assert 2 < sum(len(chosen(seed)) for seed in range(20)) / 20 < len(CASES) / 2


def test_every_case_may_be_drawn() -> None:
    assert {case.id for seed in range(200) for case in chosen(seed)} == {case.id for case in CASES}


def test_none_that_failed_is_empty_or_takes_its_time() -> None:
    assert chosen(1, findings=(Finding("values", "wrong"),)) == []
    assert chosen(1, size=0) == chosen(1, size=LARGEST + 1) == []


def test_the_first_case_of_a_way_to_launch_is_tried_again() -> None:
    for seed in range(20):
        assert CASES[1] in chosen(seed, kernels=("copy", "another"))


def test_all_are_where_the_launcher_had_a_way_to_values_but_the_largest() -> None:
    assert chosen(1, looked=True) == chosen(1, size=LARGEST + 1, looked=True) == CASES
    assert chosen(1, size=RECORDED + 1, looked=True) == []


@pytest.mark.parametrize(
    ("called", "findings", "is_wrong"),
    [
        ([7.0, 8.0], [Finding("values", "wrong")], True),
        ([7.001, torch.nan], [Finding("values", "wrong")], False),
        ([1.0, 2.0], [Finding("values", "wrong")], False),
        ([7.0, 8.0], [], False),
    ],
)
def test_launches_that_give_what_a_plain_call_gives_are_wrong_themselves(
    called: list[float], findings: list[Finding], is_wrong: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = Request("grade", Path(), Path(), Path(), b"", "cpu", 1, 20.0)
    challenge = Challenge("f", lambda case, draw: (), torch.clone, CASES)
    second = Trial(challenge, CASES[0], (torch.empty(2),), ["x"], answer=Answer(answer("copy", False).report))
    plain = replace(second, answer=Answer(second.answer.report, [torch.tensor(called)]), findings=findings)
    second.answer.outputs = [torch.tensor([7.0, 8.0])]
    monkeypatch.setattr(replay_with_new_inputs, "again", lambda *_: plain)
    assert replay_with_new_inputs._wrong_as_ever(None, second, request) is (plain if is_wrong else None)
