"""A number that stands for -inf is named where it comes out."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case
from grader.judge.diagnosis.diagnose import diagnose
from grader.judge.diagnosis.evidence import Evidence
from tests.judge.tried import tried

KERNEL = """
NOTHING = {number}

@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    m = tl.full((), NOTHING, tl.float32)
    tl.store(y_ptr, tl.maximum(m, tl.max(tl.load(x_ptr + offs, mask=offs < n, other=NOTHING))))
"""


def highest(x: torch.Tensor) -> torch.Tensor:
    return x.amax(dim=-1)


def of_finite(x: torch.Tensor) -> torch.Tensor:
    return x.amax(dim=-1).clamp(min=-1e30)


@pytest.mark.parametrize(
    ("number", "named"), [("-1e30", True), ("float('-inf')", False), ("-10000.0", False)]
)
def test_it_is_named_with_its_line_where_it_is_what_comes_out(number: str, named: bool) -> None:
    x = torch.randn(4, 8)
    x[2] = -torch.inf
    trial = tried(Case(n=8), (x,), highest, of_finite)
    sentence, look_at = diagnose(Evidence(source=KERNEL.format(number=number), trials=[trial]))
    assert ("stands on line 2" in sentence) is named
    assert not named or look_at == "line 2"


def test_it_is_named_as_it_stands_there_and_not_as_it_was_rounded() -> None:
    x = torch.randn(4, 8).bfloat16()
    x[2] = -torch.inf
    trial = tried(Case(n=8, dtype=torch.bfloat16), (x,), highest, lambda x: highest(x).clamp(min=-10000.0))
    sentence, _ = diagnose(Evidence(source=KERNEL.format(number="-10000.0"), trials=[trial]))
    assert "is -9984 where -inf is right, and -10000 stands on line 2" in sentence
