"""Where a quotient is a near tie either side is right, and another rule of rounding is wrong all the same."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from grader.challenge import Case, Challenge
from grader.challenge.harness.argument_serialization import Answer
from grader.challenge.harness.oracle import expect
from grader.challenge.harness.rounding_ties import most, without
from grader.challenge.harness.trial import Trial, draw
from grader.challenge.harness.value_checks import value_findings
from grader.judge.speed.values_of_timed_calls import wrong
from tests.judge.tried import REPORT, Function
from tests.made_up_day import Judged

DAY = """
def inputs(case, draw):
    x, scale = draw(case.n) * 20, draw(1, values="constant") * 0.0321
    if case.exact:  # quotients are halves, exactly
        scale.fill_(0.25)
        x.copy_(draw.integers(case.n, low=-99, high=100) * 0.125)
    halves = draw.integers(case.ties, low=-60, high=60) + 0.5
    x[: case.ties] = (halves.double() * scale.double()).float()
    return x, scale


def quotient(x, scale):
    return (x.double() / scale.double()).clamp(-127, 127)


def near_tie(got, x, scale):
    exact = quotient(x, scale)
    tied = (exact - exact.floor() - 0.5).abs() <= exact.abs() * 2**-20
    return tied & ((got == exact.floor()) | (got == exact.ceil()))


challenge = Challenge(
    entry="quantize",
    inputs=inputs,
    reference=lambda x, scale: quotient(x, scale).round().to(torch.int8),
    accept=near_tie,
    cases=[Case(n=300, ties=3), Case(n=200, ties=0, values="negative"), Case(n=64, ties=0, exact=True)],
)
"""
KERNEL = """@triton.jit
def quantize_kernel(x_ptr, scale_ptr, q_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    scaled = tl.load(x_ptr + offs, mask=mask) * (1.0 / tl.load(scale_ptr))
    q = tl.minimum(tl.maximum(tl.extra.libdevice.rint(scaled), -127.0), 127.0)
    tl.store(q_ptr + offs, q.to(tl.int8), mask=mask)


def quantize(x, scale):
    q = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    quantize_kernel[(triton.cdiv(len(x), 64),)](x, scale, q, len(x), BLOCK=64)
    return q
"""
FEW, MANY, EXACT = Case(n=300, ties=3), Case(n=300, ties=60), Case(n=64, ties=0, exact=True)


@pytest.fixture(scope="module")
def challenge() -> Challenge:
    scope: dict[str, Any] = {"torch": torch, "Case": Case, "Challenge": Challenge}
    exec(DAY, scope)
    found: Challenge = scope["challenge"]
    return found


def reasons(challenge: Challenge, case: Case, given: Function) -> list[str]:
    """What is said of the values that `given` computes."""
    arguments = draw(challenge, case, 4021, "cpu")
    trial = Trial(challenge, case, arguments, ["x", "scale"], oracle_arguments=arguments)
    trial.expected = expect(challenge, arguments)
    trial.answer = Answer(REPORT, [given(*arguments)])
    return [finding.reason for finding in value_findings(trial)]


def quantized(round_: Function, quotient: Function = torch.div) -> Function:
    return lambda x, scale: round_(quotient(x, scale)).clamp(-127, 127).to(torch.int8)


def up(x: Tensor) -> Tensor:
    return (x + 0.5).floor()


@pytest.mark.parametrize("case", [FEW, EXACT])
@pytest.mark.parametrize("quotient", [torch.div, lambda x, scale: x * (1 / scale)])
def test_a_right_rule_is_right_whatever_is_rounded_before(
    challenge: Challenge, case: Case, quotient: Function
) -> None:
    assert reasons(challenge, case, quantized(torch.round, quotient)) == []


@pytest.mark.parametrize("by", [1.0000002, 0.9999998])
def test_a_near_tie_may_go_either_way_where_it_is_not_exact(challenge: Challenge, by: float) -> None:
    given = quantized(torch.round, lambda x, scale: x / scale * by)
    assert reasons(challenge, FEW, given) == []
    assert reasons(challenge, EXACT, given)


def test_only_one_in_a_hundred_may(challenge: Challenge) -> None:
    assert reasons(challenge, FEW, quantized(up)) == []
    [reason] = reasons(challenge, MANY, quantized(up))
    assert reason.endswith("of 300 elements differ")


@pytest.mark.parametrize("rule", [torch.trunc, torch.floor, lambda x: torch.round(x) + (x > 60)])
def test_another_rule_is_wrong(challenge: Challenge, rule: Function) -> None:
    assert reasons(challenge, FEW, quantized(rule))


def test_who_rounds_halves_up_is_found_where_they_are_exact(challenge: Challenge) -> None:
    assert reasons(challenge, EXACT, quantized(up))


def test_a_kernel_is_judged_so(judged: Judged) -> None:
    verdict = judged(DAY, KERNEL)
    assert verdict.status == "passed", verdict.diagnosis
    half_up = KERNEL.replace("tl.extra.libdevice.rint(scaled)", "tl.floor(scaled + 0.5)")
    failed = judged(DAY, half_up).failed
    assert failed is not None
    assert failed.name == "correct[n=64-ties=0-fp32]"


def test_of_a_timed_call_so_many_elements_may_differ() -> None:
    plain = torch.arange(400, dtype=torch.int32) % 100
    got = plain.clone()
    got[: most(400)] += 1
    assert wrong(got, plain, plain)
    assert not wrong(without(got, plain), plain, plain)
    got[300] -= 1
    assert wrong(without(got, plain), plain, plain)
    assert (most(3), most(299), most(300)) == (1, 2, 3)


def test_what_is_near_a_tie_goes_by_what_the_last_call_was_given() -> None:
    """The total of the first call is the start of the second: x + 2 * 0.25 there, a half for odd x / 2."""

    def near(got: Tensor, total: Tensor, x: Tensor) -> Tensor:
        exact = total.double() + x
        return (exact - exact.floor() == 0.5) & ((got - exact).abs() == 0.5)

    challenge = Challenge(
        entry="add",
        inputs=lambda case, draw: (torch.zeros(case.n), torch.arange(case.n) * 0.25),
        reference=lambda total, x: (total + x, (total + x).round().to(torch.int8)),
        writes=(0,),
        accept=near,
        cases=[],
    )
    case = Case(n=5, calls=2)
    arguments = draw(challenge, case, 1, "cpu")
    trial = Trial(challenge, case, arguments, ["total", "x"], oracle_arguments=arguments)
    trial.expected = expect(trial.asked, arguments)
    total = arguments[1] * 2
    trial.answer = Answer(REPORT, [total, up(total).to(torch.int8)])  # 0.5 goes to 1, and 0 is torch's
    assert value_findings(trial) == []
