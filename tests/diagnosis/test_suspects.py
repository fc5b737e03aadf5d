"""A suspect is held against every case: those it gives, those that passed, and those it cannot give."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge import Case, Challenge
from grader.challenge.harness.argument_serialization import Answer
from grader.challenge.harness.compare import Expected
from grader.challenge.harness.oracle import expect
from grader.challenge.harness.trial import Trial
from grader.challenge.harness.value_checks import value_findings
from grader.diagnosis.diagnose import diagnose
from grader.diagnosis.evidence import Evidence
from tests.judge.tried import REPORT

Two = Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]
SQUARES = "The square is missing."
NAMED = "dx and dw lack the square."


def right(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x**2 + 1, x**2 - 3


def wrong(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x + 1, x - 3


def first_alone(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return wrong(x)[0], right(x)[1]


def trial(given: Two, n: int, sentence: str = SQUARES, values: str = "normal", source: str = "") -> Trial:
    x = torch.randn(n)
    case = Case(n=n, values=values)
    challenge = Challenge("f", lambda case, draw: (x,), right, [case], suspects={sentence: wrong})
    one = Trial(challenge, case, (x,), ["x"], results=["dx", "dw"])
    one.expected = expect(challenge, (x,))
    assert all(isinstance(want, Expected) for want in one.expected)
    one.answer = Answer(REPORT, list(given(x)))
    one.answer.report.outputs[:] = [None, None]  # type: ignore[list-item]
    one.findings = value_findings(one)
    return one


def told(given: dict[int, Two], sentence: str = SQUARES) -> str:
    trials = [trial(function, n, sentence) for n, function in given.items()]
    for one in trials:
        one.challenge = trials[0].challenge
    return diagnose(Evidence(trials, source="x = 1"))[0]


def test_a_suspect_that_gives_all_outputs_is_told_as_it_is() -> None:
    assert told({8: wrong, 9: wrong}) == SQUARES


def test_a_suspect_that_gives_one_output_says_which_and_which_is_right() -> None:
    assert told({8: first_alone, 9: first_alone}) == f"In dx, not in dw: {SQUARES}"


def test_a_sentence_that_names_an_output_is_not_told_of_another() -> None:
    sentence = told({8: first_alone, 9: first_alone}, NAMED)
    assert NAMED not in sentence
    assert sentence.endswith("dw: right in every case.")


def test_a_suspect_that_gives_the_first_case_alone_is_none() -> None:
    def other(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x**3, x**3

    assert SQUARES not in told({8: wrong, 9: other, 10: other, 11: other})


def test_more_cases_that_passed_than_it_gives_refute_a_suspect_though_they_are_smaller() -> None:
    assert SQUARES not in told({4: right, 5: right, 6: right, 8: wrong, 9: wrong})
    assert told({4: right, 8: wrong, 9: wrong}) == SQUARES


def test_integers_that_a_kernel_rounds_otherwise_are_what_a_suspect_gives_unless_many_are() -> None:
    def down(x: torch.Tensor) -> torch.Tensor:
        return (4 * x).floor().int()

    def told_of(others: int) -> str:
        x = torch.randn(300)
        case = Case(n=300)
        challenge = Challenge(
            "f",
            lambda case, draw: (x,),
            lambda x: (4 * x).round().int(),
            [case],
            suspects={"Rounded down.": down},
        )
        one = Trial(challenge, case, (x,), ["x"])
        one.expected = expect(challenge, (x,))
        got = down(x)
        got[:others] += 1
        one.answer = Answer(REPORT, [got])
        one.answer.report.outputs[:] = [None]  # type: ignore[list-item]
        one.findings = value_findings(one)
        return diagnose(Evidence([one], source="x = 1"))[0]

    assert told_of(0) == told_of(3) == "Rounded down."
    assert told_of(30) != "Rounded down."
