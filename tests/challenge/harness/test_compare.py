"""The gates reject what is wrong and let pass what rounding alone explains."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from grader.challenge import Case, Challenge
from grader.challenge.harness.compare import Expected, Finding, compare, gate, rows
from grader.challenge.harness.oracle import expect

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
LOWER = {torch.float32: torch.float16, torch.float16: torch.bfloat16, torch.bfloat16: torch.float8_e4m3fn}


def expected(x: torch.Tensor, returns: torch.dtype | None = None) -> Expected:
    challenge = Challenge("f", lambda case, draw: (x,), lambda x: torch.softmax(x, -1), [], returns=returns)
    return expect(challenge, (x,))[0]


def judged(out: torch.Tensor, want: Expected, **case: object) -> Finding | None:
    return compare(out, want, Case(**case))  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_right_result_rounded_once_passes(dtype: torch.dtype) -> None:
    want = expected(torch.randn(64, 300).to(dtype))
    assert judged(want.exact.to(dtype), want) is None


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_next_lower_precision_fails(dtype: torch.dtype) -> None:
    want = expected(torch.randn(64, 300).to(dtype))
    assert judged(want.exact.to(LOWER[dtype]).to(dtype), want) is not None


def test_one_bad_row_among_thousands_cannot_hide() -> None:
    want = expected(torch.randn(4096, 64))
    out = want.exact.float()
    out[1234] *= 1.0001
    finding = judged(out, want)
    assert finding is not None
    assert finding.facts["bad_rows"] == 1
    assert finding.facts["index"][0] == 1234


@pytest.mark.parametrize("answer", [float("nan"), float("inf"), -float("inf")])
def test_nan_and_inf_are_no_wildcards(answer: float) -> None:
    want = expected(torch.randn(4, 8))
    out = want.exact.float()
    out[2, 3] = answer
    finding = judged(out, want)
    assert finding is not None
    assert finding.facts["index"] == [2, 3]


def test_a_nan_that_belongs_there_must_be_there() -> None:
    x = torch.randn(4, 8)
    x[1, 1] = float("nan")
    want = expected(x)
    assert judged(want.exact.float(), want) is None
    assert judged(want.exact.float().nan_to_num(), want) is not None


def test_a_wider_result_is_held_to_its_own_precision() -> None:
    want = expected(torch.randn(16, 16).half(), returns=torch.float32)
    assert want.dtype == torch.float32
    assert judged(want.exact.half().float(), want) is not None


def test_exact_means_every_bit() -> None:
    want = expected(torch.randn(4, 8))
    out = want.exact.float()
    assert judged(out, want, exact=True) is None
    out[0, 0] = torch.nextafter(out[0, 0], torch.tensor(1.0))
    assert judged(out, want) is None
    assert judged(out, want, exact=True) is not None


def test_long_sums_get_the_square_root_of_their_length() -> None:
    assert gate(torch.float32, 1024) == gate(torch.float32)
    assert gate(torch.float32, 4096) == pytest.approx(2 * gate(torch.float32))


def test_the_gate_of_16_bits_does_not_grow_with_a_sum_in_fp32() -> None:
    assert gate(torch.float16, 16384) == gate(torch.float16)
    a = torch.randn(8, 16384)
    a[:, 8192:] = -0.75 * a[:, :8192].abs()
    a[:, :8192].abs_()
    half = a.half()
    want = Expected(half.double().sum(1), torch.float16, (0.0, torch.zeros(1)))
    parts = torch.zeros(8, dtype=torch.float16)
    for part in half.split(64, dim=1):
        parts = (parts.float() + part.float().sum(1)).half()
    assert compare(parts, want, Case(), 16384) is not None
    assert compare(half.float().sum(1).half(), want, Case(), 16384) is None


def test_rows_too_short_to_hold_digits_are_judged_together() -> None:
    exact = torch.randn(300, 1).double()
    exact[7] = 1e-4  # the difference of large terms: as wrong as they are, and next to nothing itself
    want = Expected(exact, torch.float32, (0.0, torch.zeros(1)))
    out = exact.float()
    out[7] += 1e-6
    assert compare(out, want, Case()) is None
    out[7] += 1.0
    assert compare(out, want, Case()) is not None


def test_a_row_of_few_elements_cannot_hide_in_those_around_it() -> None:
    want = expected(torch.randn(4096, 3))
    out = want.exact.float()
    out[1234] *= 1.001
    assert judged(out, want) is not None


def told(out: torch.Tensor, exact: torch.Tensor, yardstick: float = 0.0) -> dict[str, object]:
    """The facts of an fp32 result that is wrong."""
    finding = compare(
        out.float(), Expected(exact.double(), torch.float32, (yardstick, torch.zeros(1))), Case()
    )
    assert finding is not None
    return finding.facts


def test_beside_0_alone_what_is_left_of_an_exp_is_nothing() -> None:
    zeros = torch.zeros(4, 64)
    want = Expected(zeros.double(), torch.float32, (0.0, torch.zeros(4)))
    assert compare(zeros + 5e-35, want, Case(n=4)) is None
    assert compare(zeros + 1e-20, want, Case(n=4)) is not None
    small = replace(want, exact=torch.full((4, 64), 1e-33).double())
    assert compare(zeros + 5e-35, small, Case(n=4)) is not None


def test_the_limit_that_is_told_is_the_one_that_was_broken() -> None:
    right = torch.ones(100, 64)
    out = right.clone()
    out[7] += 3e-5  # 3e-6 of the whole
    facts = told(out, right, yardstick=1.0)
    assert facts["over"] == "its row"
    assert facts["max_error"] == pytest.approx(3e-5, rel=0.01)
    assert facts["allowed"] == pytest.approx(gate(torch.float32))
    assert facts["index"] == [7, 0]
    everywhere = told(right + 4e-3 * torch.eye(100, 64), right)
    assert everywhere["max_error"] > everywhere["allowed"]


def test_the_element_that_is_told_lies_in_the_row_that_is_told() -> None:
    right = torch.ones(4, 64)
    right[0] = 1e6
    out = right.clone()
    out[0, 5] += 1.0  # farther off, and rounding in its row
    out[2, 9] += 0.5
    facts = told(out, right)
    assert (facts["index"], facts["off"]) == ([2, 9], 0.5)


@pytest.mark.parametrize("right", [torch.zeros(1), torch.zeros(4, 64), torch.ones(4, 64).tril(-3)])
def test_where_0_is_right_the_error_is_a_norm_and_no_share(right: torch.Tensor) -> None:
    out = right.clone()
    out[0] += 49.6 / right[0].numel() ** 0.5
    facts = told(out, right)
    assert facts["relative"] is False
    assert facts["max_error"] == pytest.approx(49.6)
    assert facts["allowed"] < 1e-2


def test_what_the_oracle_left_of_0_is_no_measure() -> None:
    right = torch.full((1, 16), 1e-17)  # its terms cancel, and torch is off by 1e10 times as much
    want = Expected(right.double(), torch.float32, (1e10, torch.full((1,), 1e10)))
    finding = compare(torch.ones(1, 16), want, Case())
    assert finding is not None
    assert finding.facts["relative"] is False
    assert finding.facts["max_error"] == pytest.approx(4.0)
    assert finding.facts["allowed"] < 1e-5


def test_a_row_far_below_the_others_is_held_against_a_typical_one() -> None:
    right = torch.ones(4, 64)
    right[3] = 1e-9
    out = right.clone()
    out[3] = 0.1
    assert told(out, right)["over"] == "a thousandth of a typical row"
    assert told(torch.ones(600).index_fill(0, torch.tensor(300), 2.0), torch.ones(600))["over"] == (
        "the elements 256 to 511"
    )


@pytest.mark.parametrize(
    ("shape", "run"),
    [
        ((5,), 256),  # fewer than a run: judged as they are
        ((256,), 256),
        ((257,), 257),
        ((2053,), 257),  # 8 runs of 256 would leave 5
        ((2**20 + 64,), 256),
        ((7, 33), 33),
        ((17, 1), 17),
        ((33, 5), 35),
        ((9, 5), 25),
    ],
)
def test_a_last_run_is_no_short_one(shape: tuple[int, ...], run: int) -> None:
    numbers = torch.arange(1, math.prod(shape) + 1).reshape(shape)
    together = rows(numbers)
    assert together.shape[1] == run
    assert torch.equal(together.reshape(-1)[: numbers.numel()], numbers.reshape(-1)), (
        "places stay what they are"
    )
