"""What is dropped at random: a right kernel is never failed, and one that repeats itself always is."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case, Challenge, Chance
from grader.challenge.harness.mask_statistics import chances
from grader.challenge.harness.trial import Trial
from tests.made_up_day import Judged

SHAPE = (64, 125)


def said(keep: torch.Tensor, rate: float) -> str:
    """What is said of a choice; nothing when it passes."""
    case = Case(rows=SHAPE[0], cols=SHAPE[1])
    chance = Chance(keep=lambda *_: keep, rate=lambda case: rate)
    challenge = Challenge("f", lambda case, draw: (), lambda: None, [case], chance=chance)
    found = chances(Trial(challenge, case, (), [], kept=(keep,)))
    return found[0].reason if found else ""


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5, 0.9, 0.98])
def test_a_fair_choice_passes_every_time(rate: float) -> None:
    generator = torch.Generator().manual_seed(1)
    for _ in range(40):
        assert said(torch.rand(SHAPE, generator=generator) < rate, rate) == ""


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_a_rate_of_nothing_and_of_all_is_exact(rate: float) -> None:
    keep = torch.full(SHAPE, bool(rate))
    assert said(keep, rate) == ""
    keep[3, 4] = not rate
    assert said(keep, rate) != ""


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.9])
def test_every_kind_of_repetition_is_found(rate: float) -> None:
    random = torch.rand(SHAPE[0] * SHAPE[1], generator=torch.Generator().manual_seed(1))
    blocks = random[:1024].repeat(8)[: random.numel()]
    assert "(cols) apart" in said(random[: SHAPE[1]].repeat(SHAPE[0], 1) < rate, rate)
    assert "Elements 1024 apart" in said(blocks.view(SHAPE) < rate, rate)
    assert "Elements 1 apart" in said(random.view(-1, 2)[:, :1].repeat(1, 2).view(SHAPE) < rate, rate)


def test_the_probability_to_keep_is_told_from_that_to_drop() -> None:
    assert "p is the probability that an element is dropped" in said(torch.rand(SHAPE) < 0.3, 0.7)


HIDDEN = """
challenge = Challenge(
    entry="dropout",
    inputs=lambda case, draw: (draw(case.n), case.p, 7),
    reference=lambda x, p, seed, keep: torch.where(keep, x / (1 - p), 0.0),
    chance=Chance(keep=lambda x, p, seed, y: y != 0, rate=lambda case: 1 - case.p),
    cases=[Case(n=10, p=0.25), Case(n=5000, p=0.25)],
    relations=[
        Relation(
            "another seed", Case(n=3000, p=0.5), lambda x, p, seed: (x, p, seed + 1),
            lambda one, two: not torch.equal(one[0] != 0, two[0] != 0), "Another seed gives the same mask."
        )
    ],
)
"""
KERNEL = """@triton.jit
def dropout_kernel(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    keep = tl.rand(seed, offs) >= p
    tl.store(y_ptr + offs, tl.where(keep, x / (1 - p), 0.0), mask=offs < n)


def dropout(x, p, seed):
    y = torch.empty_like(x)
    dropout_kernel[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), p, seed, BLOCK=512)
    return y
"""


def test_a_right_dropout_passes(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL)
    assert verdict.status == "passed", verdict.diagnosis


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("tl.rand(seed, offs)", "tl.rand(seed, tl.arange(0, BLOCK))", "Elements 512 apart"),
        ("x / (1 - p)", "x", "0.75 times"),
        (">= p", "< p", "p is the probability"),
        ("tl.rand(seed, offs)", "tl.rand(0, offs)", "Another seed"),
    ],
)
def test_a_wrong_dropout_is_told_why(judged: Judged, old: str, new: str, says: str) -> None:
    verdict = judged(HIDDEN, KERNEL.replace(old, new))
    assert verdict.status == "failed"
    assert says in verdict.diagnosis
