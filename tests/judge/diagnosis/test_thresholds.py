"""Rules about which cases fail: lengths beyond a block, lengths that are no whole blocks, second calls."""

from __future__ import annotations

from dataclasses import replace

import torch

from grader.answers import Launch
from grader.challenge import Case
from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.diagnose import diagnose
from grader.judge.diagnosis.evidence import Evidence
from tests.judge.tried import told, tried


def summed(n: int, right: bool, off: float = 0.5, **case: object) -> Trial:
    """Sums of rows of n elements; a wrong one is off by noise of `off` times its size."""
    noise = 0.0 if right else off
    return tried(
        Case(m=4, n=n, **case),  # type: ignore[arg-type]
        (torch.randn(4, n),),
        lambda a: a.sum(1),
        lambda a: a.sum(1) * (1 + noise * torch.tensor([0.9, -1.1, 0.7, 1.3])),
    )


def test_right_up_to_a_length_is_told_with_the_length() -> None:
    trials = [summed(n, right=n <= 128) for n in (3, 64, 128, 130, 200, 1000)]
    assert told(*trials).startswith("Right up to n = 128, wrong from n = 130 on")


def test_a_loop_is_to_be_looked_at_only_in_a_kernel_that_has_one() -> None:
    for right in (lambda n: n <= 128, lambda n: n % 32 == 0):
        trials = [summed(n, right=right(n)) for n in (3, 32, 33, 64, 96, 100, 128, 130, 200, 1000)]
        kernel = "@triton.jit\ndef kernel(n):\n    for i in range(n):\n        pass\n"
        assert "loop" in diagnose(Evidence(trials, source=kernel))[1]
        assert "loop" not in diagnose(Evidence(trials, source="x = 1"))[1]


def test_rounding_that_grows_with_the_length_is_no_block() -> None:
    trials = [summed(n, right=n <= 128, off=1e-3) for n in (3, 64, 128, 130, 200, 1000)]
    assert "close enough" in told(*trials)


def test_lengths_in_any_order_tell_nothing() -> None:
    trials = [summed(n, right=n in (64, 130, 1000)) for n in (3, 64, 128, 130, 200, 1000)]
    assert told(*trials).startswith("At [")


def test_whole_blocks_alone_come_out_right() -> None:
    trials = [summed(n, right=n % 32 == 0) for n in (5, 32, 33, 96, 100, 128, 200)]
    assert told(*trials).startswith("Only multiples of 32 come out right as n: the last, partial block")


def test_a_second_call_that_alone_is_wrong_comes_before_what_its_values_look_like() -> None:
    trials = [summed(n, right=True) for n in (5, 32, 33)]
    doubled = tried(Case(m=4, n=9, calls=2), (torch.randn(4, 9),), lambda a: a.sum(1), lambda a: 2 * a.sum(1))
    assert told(*trials, doubled).startswith("A second call gives a wrong result")
    assert "2 times what it should be" in told(doubled)


def test_an_overflow_is_laid_to_exp_only_where_there_is_one() -> None:
    large = Case(m=4, n=9, values="large", dtype=torch.float16)
    trial = tried(large, (torch.full((4, 9), 300.0).half(),), lambda a: a * 2, lambda a: a * a)
    assert "fp16 ends at 65504" in told(trial, source="y = a * a")
    assert "exp()" in told(trial, source="y = tl.exp(a)")


def test_nan_from_masked_lanes_and_from_memory_that_nobody_zeroed_is_told() -> None:
    trial = tried(Case(n=9), (torch.randn(9),), lambda a: a, lambda a: a * float("nan"))
    load = "tl.load(a, mask=m, other=float('-inf'))"
    assert "lanes that hold no element" in told(trial, source=f"y = tl.sum({load})")
    assert "lanes that hold no element" not in told(trial, source=f"y = tl.max({load})")
    assert "torch.zeros" in told(trial, source="tl.atomic_add(p, x)\nout = torch.empty(3)")
    assert "torch.zeros" not in told(trial, source="tl.atomic_add(p, x)\nout = torch.zeros(3)")


def first_tile(programs: int) -> Trial:
    """A matrix of which only the tile in the corner was written, by so many programs."""
    trial = tried(Case(m=40, n=50), (torch.randn(40, 50),), lambda a: a, lambda a: a)
    assert trial.answer is not None
    where = torch.ones(40, 50, dtype=torch.bool)
    where[:16, :32] = False
    trial.answer.outputs[0][where] = torch.full((1,), -1, dtype=torch.int32).view(torch.float32)
    trial.answer.report = replace(trial.answer.report, launches=[Launch("k", [programs, 1, 1])])
    trial.findings = [Finding("unwritten", "elements were never written", {"index": [0, 32]}, where)]
    return trial


def test_one_tile_is_laid_to_the_grid_when_there_was_one_program() -> None:
    assert "the grid has one program" in told(first_tile(1))
    assert "by 6 programs: all take the same tile" in told(first_tile(6))


def test_nan_on_a_gpu_may_come_from_a_buffer_of_the_launcher() -> None:
    trial = tried(Case(n=9), (torch.randn(9),), lambda a: a, lambda a: a * float("nan"))
    one = "out = torch.empty(3)"
    assert told(trial, source=one, compiled=True).startswith("Unmasked load: NaN from beside the input")
    assert "torch.empty" in told(trial, source=f"partial = torch.empty(9)\n{one}", compiled=True)


def scaled(scale: float, right: bool) -> Trial:
    return tried(
        Case(n=8, scale=scale),
        (torch.randn(8),),
        lambda a: a + 1,
        lambda a: a + 1 if right else a * torch.nan,
    )


def test_scales_of_no_positive_sign_are_told_where_they_alone_fail() -> None:
    wrong = [scaled(0.0, False), scaled(-0.4, False)]
    assert told(scaled(1.0, True), *wrong).startswith("Only a scale of 0 or less comes out wrong")
    assert "Only a scale" not in told(scaled(-1.0, True), *wrong)


def grouped(n: int, heads: int, wrong: bool, **case: object) -> Trial:
    by = torch.randn(n) if wrong else torch.zeros(n)
    of = Case(n=n, heads=heads, **case)  # type: ignore[arg-type]
    return tried(of, (torch.randn(n),), lambda a: a.exp(), lambda a: a.exp() + by)


SHARED = "Every case that fails has heads=4."
SIZES = (5, 6, 70, 90, 33)


def test_what_all_failed_cases_share_is_told_with_the_place() -> None:
    right, wrong = ([grouped(n, heads, heads == 4) for n in SIZES] for heads in (1, 4))
    assert told(*right, *wrong).endswith(SHARED)


def test_what_failed_cases_may_share_by_luck_is_not_told() -> None:
    """Most cases have it, they are few, or they share something else, or a length, that is as good."""
    most = [grouped(n, 4, wrong=n > 80) for n in (5, 6, 70, 7, 8, 81, 82, 83)]
    assert SHARED not in told(*most, grouped(9, 1, wrong=False), grouped(11, 1, wrong=False))
    few = [grouped(n, heads, heads == 4) for n in SIZES[:3] for heads in (1, 4)]
    assert SHARED not in told(*few)
    right = [grouped(n, 1, wrong=False) for n in SIZES]
    assert SHARED not in told(*right, *(grouped(n, 4, wrong=True, layout="offset") for n in SIZES))
    longer = [grouped(n, 4, wrong=True) for n in (91, 95, 112, 200, 300)]
    assert SHARED not in told(*right, grouped(150, 1, wrong=False), *longer)


def test_a_length_that_few_cases_part_is_no_threshold() -> None:
    assert told(*(summed(n, right=n <= 128) for n in (3, 64, 128, 130, 200))).startswith("At [")
    others = (5, 32, 7, 64, 9, 16)  # of which a block might part as many as well
    lengths = zip((32, 33, 96, 100, 128, 200), others, strict=True)
    assert "Only multiples" not in told(*(summed(n, right=n % 32 == 0, k=k) for n, k in lengths))


def test_a_gross_error_of_large_numbers_in_16_bits_is_rounding_before_exp() -> None:
    right = [summed(n, right=True, values="large") for n in (5, 6, 70)]
    plain = [summed(n, right=True, dtype=torch.float16) for n in (5, 6, 70)]
    wrong = summed(90, right=False, off=0.3, values="large", dtype=torch.float16)
    assert "half precision is too low" not in told(*right, *plain, wrong)
    assert "half precision is too low" in told(*right, *plain, wrong, source="y = tl.exp(a)")
