"""An output needs a kernel, unless there is nothing to compute for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from grader.challenge import Case, Challenge, Gradients
from grader.challenge.harness.argument_serialization import Answer
from grader.challenge.harness.oracle import Values, expect, expect_gradients
from grader.challenge.harness.trial import Trial
from grader.diagnosis.evidence import Evidence
from grader.judge.checks import honest
from grader.judge.failures import CheckFailed
from grader.judge.session import Session
from grader.runner_answers import Launch, TensorOutput
from grader.verdict import Verdict
from tests.judge.tried import REPORT

NOT_LAUNCHED = "No kernel was launched: the result was computed by something else."
NO_KERNELS = "The result is a tensor that no kernel was given."
WEIGHED = Challenge("f", lambda case, draw: (), lambda x, w, b: (x @ w, 2 * b), [Case(n=1)])
IN_PLACE = Challenge("f", lambda case, draw: (), lambda x, w, b: b + (x @ w).sum(), [Case(n=1)], writes=(2,))


class Tried:
    """A session in which one call was made."""

    def __init__(self, arguments: Values, by_kernels: Sequence[bool], challenge: Challenge) -> None:
        trial = Trial(challenge, challenge.cases[0], arguments, ["x", "w", "b"])
        trial.expected = expect(challenge, arguments)
        outputs = [want.exact.float() for want in trial.expected]
        entries = [
            TensorOutput("float32", list(out.shape), list(out.stride()), "cpu", "torch.empty", launched)
            for out, launched in zip(outputs, by_kernels, strict=True)
        ]
        launches = [Launch("k", [1, 1, 1])] if any(by_kernels) else []
        trial.answer = Answer(replace(REPORT, outputs=entries, launches=launches), outputs)
        self.evidence = Evidence([trial])
        self.request = SimpleNamespace(limits=False)
        self.challenges: list[Challenge] = []

    is_limit, weighed = Session.is_limit, Session.weighed


def said(
    x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, *by_kernels: bool, challenge: Challenge = WEIGHED
) -> str:
    try:
        honest.check(Tried((x, w, b), by_kernels, challenge))  # type: ignore[arg-type]
    except CheckFailed as failed:
        return str(failed.cause["reason"])
    return ""


def test_zeros_that_follow_from_an_empty_input_need_no_kernel() -> None:
    x, w = torch.ones(3, 0), torch.ones(0)
    assert said(x, w, torch.arange(4.0), False, True) == ""
    assert said(x, w, torch.ones(0), False, False) == ""


def test_what_depends_on_an_input_that_is_not_empty_needs_one_all_the_same() -> None:
    x, w, b = torch.ones(3, 0), torch.ones(0), torch.arange(4.0)
    assert said(x, w, b, False, False) == NOT_LAUNCHED
    assert said(x, w, b, True, False) == NO_KERNELS


@pytest.mark.parametrize("value", [0.0, float("nan")])
def test_an_output_that_is_the_same_everywhere_needs_one_where_no_input_is_empty(value: float) -> None:
    x, w, b = torch.full((3, 2), value), torch.ones(2), torch.ones(4)
    assert said(x, w, b, True, True) == ""
    assert said(x, w, b, False, False) == NOT_LAUNCHED
    assert said(x, w, b, False, True) == NO_KERNELS


def test_an_empty_output_needs_none() -> None:
    assert said(torch.ones(0, 2), torch.ones(2), torch.ones(4), False, True) == ""
    assert said(torch.ones(0, 2), torch.ones(2), torch.ones(4), False, False) == NOT_LAUNCHED


def test_an_argument_that_stays_as_it_is_for_want_of_input_needs_none() -> None:
    x, w, b = torch.ones(0, 2), torch.ones(2), torch.arange(4.0)
    assert said(x, w, b, False, challenge=IN_PLACE) == ""
    assert said(torch.ones(1, 2), w, b, False, challenge=IN_PLACE) == NOT_LAUNCHED


HIDDEN = """
challenge = Challenge("f", lambda case, draw: (draw(case.n),), lambda x: 2 * x, [Case(n=5)])
"""
KERNEL = """
@triton.jit
def double(x_ptr, y_ptr):
    tl.store(y_ptr + tl.program_id(0), 2 * tl.load(x_ptr + tl.program_id(0)))

def f(x):
    {before}
    y = torch.empty_like(x, dtype={dtype})
    double[(len(x),)](x, y)
    return y{after}
"""


def test_a_conversion_after_the_kernel_is_no_copy_before_it(judged: Callable[[str, str], Verdict]) -> None:
    after = judged(HIDDEN, KERNEL.format(before="", dtype="torch.float64", after=".to(x.dtype)"))
    assert after.status == "failed"
    assert after.diagnosis.startswith("torch converted or copied the result after your kernel (_to_copy)")
    before = judged(HIDDEN, KERNEL.format(before="x = x.clone()", dtype="x.dtype", after=""))
    assert before.diagnosis.startswith("torch copied a tensor first (clone)")
    both = judged(HIDDEN, KERNEL.format(before="x = x.clone()", dtype="x.dtype", after=".clone()"))
    assert both.diagnosis.startswith("torch copied a tensor first (clone)")


@pytest.mark.parametrize("forgotten", [False, True], ids=["small", "large, on a GPU"])
def test_a_gradient_that_came_in_needs_no_kernel_and_another_does(forgotten: bool) -> None:
    challenge = Challenge(
        "f",
        lambda case, draw: (),
        lambda x, y: x + 2 * y,
        [Case(n=4)],
        gradients=Gradients((0, 1), saved=lambda x, y: 0),
    )
    x, y, upstream = torch.ones(4), torch.ones(4), torch.arange(4.0)
    tried = Tried((x, y), (True,), challenge)
    (trial,) = tried.evidence.trials
    trial.upstream, trial.of = (upstream,), [0, 1]
    trial.expected += expect_gradients(challenge, (x, y), trial.upstream, (), trial.names, trial.of)
    if forgotten:  # which is what becomes of gigabytes that were right
        trial.expected = tuple(one.forgotten() for one in trial.expected)
    assert trial.answer is not None
    (made,) = trial.answer.report.outputs
    came_in = replace(made, launched=False)
    outcomes = []
    for gradients in ([came_in, made], [made, came_in]):
        trial.answer.report = replace(trial.answer.report, outputs=[made, *gradients])
        try:
            honest.check(tried)  # type: ignore[arg-type]
            outcomes.append("")
        except CheckFailed as failed:
            outcomes.append(failed.cause["reason"])
    assert outcomes == ["", NO_KERNELS]


def test_a_name_that_does_the_days_work_is_told_with_its_line() -> None:
    forbids = {"tl.softmax": "Write its steps."}
    assert honest._forbidden("x = 1\ny = tl.softmax(x)\n", forbids) == (
        "Write its steps.",
        "`tl.softmax`: line 2",
    )
    assert honest._forbidden("y = tl.exp(x)  # not tl.softmax\n", forbids) is None
