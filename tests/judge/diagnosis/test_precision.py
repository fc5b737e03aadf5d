"""TF32 is named where it alone can be it: on a GPU, in fp32, in a file whose tl.dot asks for nothing else."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case
from grader.judge.case.trial import Trial
from tests.judge.tried import told, tried


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
    assert told(*trials, source=f"acc = 0\nacc = {dot}", compiled=True).startswith(
        "tl.dot on line 2 rounds fp32"
    )


@pytest.mark.parametrize(
    ("source", "compiled"),
    [
        ('tl.dot(a, b, input_precision="ieee")', True),
        ("tl.dot(a, b, **options)", True),
        ("tl.dot(a.to(tl.float16), b.to(tl.float16))", True),
        ("tl.dot(a, b)", False),
    ],
)
def test_what_may_be_something_else_is_only_called_imprecise(source: str, compiled: bool) -> None:
    sentence = told(in_tf32(16, 16, 16), in_tf32(40, 70, 50), source=source, compiled=compiled)
    assert "TF32" not in sentence
    assert "precision" in sentence
