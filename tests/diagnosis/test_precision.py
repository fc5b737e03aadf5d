"""What rounds is named where it alone can be it; a layout or a dtype, where all that fails has it alone."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case
from grader.challenge.harness.compare import Finding
from grader.challenge.harness.trial import Trial
from tests.judge.tried import Function, told, tried


def cut(x: torch.Tensor) -> torch.Tensor:
    """x rounded to the 10 bits of fraction of TF32."""
    return ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def in_tf32(m: int, k: int, n: int) -> Trial:
    return tried(
        Case(m=m, k=k, n=n),
        (torch.randn(m, k), torch.randn(k, n)),
        lambda a, b: a @ b,
        lambda a, b: cut(a) @ cut(b),
    )


@pytest.mark.parametrize("dot", ["tl.dot(a, b, acc)", 'tl.dot(a, b, input_precision="tf32")'])
def test_tf32_is_named_with_its_line(dot: str) -> None:
    trials = [in_tf32(16, 16, 16), in_tf32(40, 70, 50)]
    assert told(*trials, source=f"acc = 0\nacc = {dot}").startswith("tl.dot on line 2 rounds fp32")


@pytest.mark.parametrize(
    "source",
    [
        'tl.dot(a, b, input_precision="ieee")',
        "tl.dot(a, b, **options)",
    ],
)
def test_what_may_be_something_else_is_only_called_imprecise(source: str) -> None:
    sentence = told(in_tf32(16, 16, 16), in_tf32(40, 70, 50), source=source)
    assert "TF32" not in sentence
    assert "precision" in sentence


def off(by: Function, dtype: torch.dtype = torch.float32, **case: object) -> Trial:
    return tried(
        Case(rows=8, cols=32, dtype=dtype, **case),  # type: ignore[arg-type]
        (torch.rand(8, 32).to(dtype) + 1,),
        lambda a: a * a,
        lambda a: by(a * a),
    )


def rounded(a: torch.Tensor) -> torch.Tensor:
    """Rounded to 12 bits of fraction, as steps on the way may leave it and no dtype holds it."""
    return ((a.contiguous().view(torch.int32) + 0x400) & ~0x7FF).view(torch.float32)


def right(a: torch.Tensor) -> torch.Tensor:
    return a


def test_what_a_relu_sets_to_0_does_not_round() -> None:
    x = torch.randn(8, 32, generator=torch.Generator().manual_seed(2)) - 1
    trial = tried(Case(), (x,), torch.relu, lambda a: rounded(torch.relu(a)))
    assert "precision" in told(trial, source="y = x.to(tl.float16)")


def laid(transposed: bool, by: Function) -> Trial:
    x = torch.randn(16, 16, generator=torch.Generator().manual_seed(3)).abs() + 1
    return tried(Case(), (x.T if transposed else x,), lambda a: a * a, lambda a: by(a * a))


FINE = 20  # right cases, of which none is so by luck


def test_rounding_in_the_one_case_that_is_not_contiguous_is_no_stride() -> None:
    fine = [laid(False, right)] * FINE
    assert "stride" in told(*fine, laid(True, lambda a: a.T))
    sentence = told(*fine, laid(True, rounded))
    assert "stride" not in sentence
    assert "precis" in sentence


def test_programs_that_meet_where_they_store_follow_no_wrong_stride() -> None:
    wrong = laid(True, lambda a: a.T)
    wrong.findings.append(Finding("race", "", {"kind": "store"}, told=("A race.", "line 3")))
    assert "stride" not in told(*[laid(False, right)] * FINE, wrong)


@pytest.mark.parametrize(("fine", "says"), [(3, False), (FINE, True)])
def test_a_layout_that_a_wrong_case_may_have_by_luck_is_no_reason(fine: int, says: bool) -> None:
    wrong = laid(True, lambda a: a.flip(0))
    assert ("a stride is ignored" in told(*[laid(False, right)] * fine, wrong)) == says


@pytest.mark.parametrize(
    ("narrow", "name"), [(torch.float16, "fp16"), (torch.bfloat16, "bf16"), (torch.float32, "fp32")]
)
def test_a_result_that_a_narrower_dtype_holds_is_told_so(narrow: torch.dtype, name: str) -> None:
    x = torch.rand(8, 32, dtype=torch.float64) + 1
    sentence = told(tried(Case(dtype=x.dtype), (x,), lambda a: a + a, lambda a: (a + a).to(narrow).to(a)))
    assert sentence.startswith(f"Every element is a number of {name}, near the right one, and fp64")


def test_numbers_that_a_narrow_dtype_has_are_not_right_for_that() -> None:
    x = torch.rand(8, 32) + 1
    assert "Every element is a number of" not in told(
        tried(Case(), (x,), lambda a: a + a, lambda a: (a + a).half().float() * 2)
    )
