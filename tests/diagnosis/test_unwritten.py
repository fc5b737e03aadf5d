"""What nobody wrote is told from wrong numbers, in results of integers too."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from grader.challenge import Case
from grader.challenge.harness.compare import Finding
from grader.challenge.harness.trial import Trial
from grader.runner_answers import Launch
from tests.judge.tried import told, tried
from tests.made_up_day import Judged

HIDDEN = """
challenge = Challenge(
    entry="nearest",
    inputs=lambda case, draw: (draw(case.n).abs(),),
    reference=lambda x: (x * 100).to(torch.{dtype}),
    cases=[Case(n=100)],
)
"""
KERNEL = """
@triton.jit
def nearest_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    value = tl.where(offs < 50, {value}, (x * 100).to(tl.int32))
    tl.store(out_ptr + offs, value.to(out_ptr.dtype.element_ty), mask=offs < {n})


def nearest(x):
    out = torch.empty(len(x), dtype=torch.{dtype}, device=x.device)
    nearest_kernel[(1,)](x, out, len(x), BLOCK=128)
    return out
"""


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8"])
@pytest.mark.parametrize("value", ["-1", "127"])
def test_a_wrong_integer_is_a_number(judged: Judged, dtype: str, value: str) -> None:
    verdict = judged(HIDDEN.format(dtype=dtype), KERNEL.format(dtype=dtype, value=value, n="n"))
    assert verdict.status == "failed"
    assert "never written" not in str([check.cause for check in verdict.checks]) + verdict.diagnosis


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8"])
def test_integers_that_nobody_wrote_are_told(judged: Judged, dtype: str) -> None:
    verdict = judged(HIDDEN.format(dtype=dtype), KERNEL.format(dtype=dtype, value="-1", n="10"))
    assert "from 10 on were never written" in verdict.diagnosis


def test_a_case_in_which_no_kernel_runs_is_told_apart_from_a_file_that_launches_none(judged: Judged) -> None:
    hidden = HIDDEN.format(dtype="int64").replace("[Case(n=100)]", "[Case(n=1), Case(n=100)]")
    kernel = KERNEL.format(dtype="int64", value="(x * 100).to(tl.int32)", n="n")
    launch = "    nearest_kernel[(1,)]"
    early = kernel.replace(launch, f"    if len(x) == 1:\n        return out\n{launch}")
    assert "never written: with n=1-fp32 no kernel runs" in judged(hidden, early).diagnosis
    none = early.replace("== 1:", ">= 1:")
    assert "never written: nearest launches no kernel yet" in judged(hidden, none).diagnosis


def with_holes(holes: torch.Tensor, programs: int) -> Trial:
    """A trial whose output, called dk, has elements that nobody stored."""
    trial = tried(Case(n=8), (torch.ones(holes.shape),), torch.neg, torch.neg)
    index = holes.nonzero()[0].tolist()
    trial.findings = [Finding("unwritten", "some were never written", {"index": index, "at": "dk[…]"}, holes)]
    assert trial.answer is not None
    report = replace(trial.answer.report, launches=[Launch("k", [programs])])  # type: ignore[type-var]
    trial.answer = replace(trial.answer, report=report)
    return trial


@pytest.mark.parametrize(
    ("written", "programs", "says"),
    [
        (
            torch.arange(8) < 4,
            1,
            "Elements from 4 on were never written: one program ran, and what it stores",
        ),
        (torch.arange(8) < 4, 3, "Elements from 4 on were never written: none of 3 programs stores there"),
        ((torch.arange(5) < 3)[:, None].expand(5, 6), 2, "Rows from 3 on were never written: none of 2"),
        ((torch.arange(8) < 3).expand(5, 8), 2, "Columns from 3 on were never written: none of 2"),
        (torch.arange(8) % 2 == 0, 2, "the first at dk[…]: no store reached them. A grid, block or loop"),
    ],
)
def test_rows_columns_and_the_end_of_a_vector_are_told_with_the_programs_that_ran(
    written: torch.Tensor, programs: int, says: str
) -> None:
    assert says in told(with_holes(~written, programs))
