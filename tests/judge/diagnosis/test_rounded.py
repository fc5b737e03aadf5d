"""A result that is right as a narrower dtype holds it is told so, and nothing else is."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case
from grader.judge.diagnosis.diagnose import diagnose
from grader.judge.diagnosis.evidence import Evidence
from tests.judge.tried import Function, told, tried


def sentence(by: Function, x: torch.Tensor) -> str:
    return told(tried(Case(dtype=x.dtype), (x,), lambda a: a + a, lambda a: by(a + a)))


@pytest.mark.parametrize(
    ("narrow", "name"), [(torch.float16, "fp16"), (torch.bfloat16, "bf16"), (torch.float32, "fp32")]
)
def test_the_dtype_is_named(narrow: torch.dtype, name: str) -> None:
    x = torch.rand(8, 32, dtype=torch.float64) + 1
    said = sentence(lambda a: a.to(narrow).to(a.dtype), x)
    assert said.startswith(f"Every element is the right one rounded to {name}, and fp64 is asked for")


def test_whole_numbers_that_went_through_fp32() -> None:
    x = 3 * torch.arange(2**24, 2**24 + 99, dtype=torch.int32) + 1
    assert "rounded to fp32, and int32" in sentence(lambda a: a.float().int(), x)


def test_numbers_that_a_narrow_dtype_has_are_not_right_for_that() -> None:
    x = torch.rand(8, 32) + 1
    assert "rounded to" not in sentence(lambda a: a.half().float() * 2, x)
    assert "rounded to" not in sentence(torch.zeros_like, x)


def test_what_is_computed_in_few_bits_is_near_and_told_so_where_it_is_long_enough() -> None:
    def in_half(a: torch.Tensor) -> torch.Tensor:
        return (2 * a.half() + 1).float()

    long, short = torch.rand(8, 32), torch.rand(1)
    trials = [tried(Case(n=x.numel()), (x,), lambda a: 2 * a + 1, in_half) for x in (short, long)]
    said, where = diagnose(Evidence(trials, source="x = load(p)\nx = x.to(tl.float16)"))
    assert said.startswith("With n=256-fp32: Every element is a number of fp16, near the right one")
    assert where == "line 2"


@pytest.mark.parametrize(("which", "said"), [((0,), "a is rounded"), ((1,), "b is"), ((0, 1), "a and b are")])
def test_inputs_that_were_rounded_are_named(which: tuple[int, ...], said: str) -> None:
    def of_rounded(*given: torch.Tensor) -> torch.Tensor:
        a, b = (x.half().float() if n in which else x for n, x in enumerate(given))
        return a @ b

    trial = tried(Case(), (torch.randn(20, 30), torch.randn(30, 40)), torch.matmul, of_rounded)
    sentence = told(trial, source="a = a.to(tl.float16)")
    assert said in sentence
    assert sentence.endswith("rounded to fp16 first, and fp32 is given.")
    assert "rounded to fp16 first" not in told(trial, source="a = a.to(tl.float32)")


def test_an_input_of_its_own_dtype_is_told_with_that() -> None:
    x, y = torch.randn(20, 30, dtype=torch.float16), torch.randn(20, 30)
    trial = tried(Case(dtype=x.dtype), (x, y), lambda a, b: a + 7 * b, lambda a, b: a + 7 * b.half().float())
    assert "b is rounded to fp16 first, and fp32 is given." in told(trial, source="y = y.to(x.dtype)")


def test_what_may_be_narrow_is_not_told_so() -> None:
    x = (torch.rand(8, 32) + 1).half()
    assert "rounded to fp16" not in sentence(lambda a: a * 1.01, x)
