"""What has contents at full size, and what is only as large."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from grader.challenge import Case
from grader.judge.speed.full_size_inputs import HollowDraw
from grader.performance.counting.fake_tensors import LARGE, Hollow
from tests.kernel import fresh


def test_a_mask_has_contents_however_large_it_is() -> None:
    draw = HollowDraw(Case(n=2 * LARGE), 1)
    with Hollow(lambda *_: None):
        mask = draw.integers(2 * LARGE, low=0, high=2, dtype=torch.bool)
        codes = draw.integers(2 * LARGE, low=1, high=2, dtype=torch.uint8)
    assert 0.4 < mask.float().mean() < 0.6
    assert not codes.any(), "what is only computed on takes no memory"


def test_integers_that_no_machine_holds_are_not_drawn() -> None:
    draw = HollowDraw(Case(n=2**38), 1)
    with Hollow(lambda *_: None):
        assert draw.integers(2**38, low=0, high=256, dtype=torch.uint8).shape == (2**38,)


WIDE = torch.arange(6.0).reshape(2, 3)
MADE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "a product": lambda x: x @ x.mT,
    "products": lambda x: x.expand(4, 2, 3) @ x.mT.expand(4, 3, 2),
    "a sum of fp32 and integers, broadcast": lambda x: x + torch.arange(3),
    "a column and a row": lambda x: x[:, :1].contiguous() * x[:1],
    "a number beside a half": lambda x: x.half() * 2.5,
    "a tensor without dimensions beside a half": lambda x: x.half() * torch.tensor(2.5),
    "a comparison": lambda x: x > 1,
    "integers divided": lambda x: x.long() / 2,
    "integers divided by what may be 0": lambda x: x.long() // x.long().relu(),
    "what is not contiguous": lambda x: x.mT + x.mT,
    "a triangle": lambda x: x.bool().tril(1),
    "one number a row": lambda x: torch.logsumexp(x, -1),
    "one number a row, kept": lambda x: x.logsumexp(dim=(1,), keepdim=True),
    "a choice": lambda x: torch.where(x > 1, x, 0.0),
    "masked": lambda x: x.masked_fill(x > 1, -1.0),
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_what_has_no_contents_lies_as_torch_would_have_it(
    made: Callable[[torch.Tensor], torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    want = made(WIDE + 1)
    monkeypatch.setattr("grader.performance.counting.fake_tensors.LARGE", 1)
    with Hollow(lambda *_: None):
        hollow = made(WIDE)
    assert (hollow.shape, hollow.stride(), hollow.dtype) == (want.shape, want.stride(), want.dtype)


def test_matrices_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.performance.counting.fake_tensors.LARGE", 1)
    with pytest.raises(RuntimeError), Hollow(lambda *_: None):
        WIDE @ WIDE


def test_what_is_as_large_as_at_full_size_brings_no_compiler_along() -> None:
    """torch imports one, for more than a second, to tell of many operators what their results look like."""
    code = """
import sys
from grader.course import catalog
from grader.challenge.loading import load_challenges
from grader.judge.speed.full_size_inputs import hollow_inputs
for day in catalog.course():
    for challenge in load_challenges(day.hidden_tests):
        for speed in challenge.speeds:
            hollow_inputs(challenge, speed.case, 1, [])
            assert "torch._dynamo" not in sys.modules, day.place
"""
    assert fresh.printed(code) == ""
