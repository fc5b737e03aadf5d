"""A claim is timed like a bar, shape by shape, and whatever comes of it nobody fails."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grader.challenge import Case, Challenge, Claim, Speed
from grader.challenge.loading import load_challenges
from grader.claim_result import Claimed, Shape
from grader.cli.screens.result_footer import claims as show
from grader.course import catalog
from grader.judge.checks import speed_claims
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.speed.ratio import Ratio
from tests.shown import shown

SHAPES = [Case(n=1), Case(n=2), Case(n=3), Case(n=4)]
CLAIM = Claim("it is twice as fast", SHAPES, of_torch=2.0)
CHALLENGE = Challenge("f", tuple, tuple, SHAPES, speed=Speed(SHAPES[0], moved=lambda: 8), claims=[CLAIM])


class Timed:
    """A benchmark that knows what will come of it: of the last shape, that it cannot be."""

    rounds = 3

    def __init__(self, session: Any, challenge: Challenge, speed: Speed) -> None:
        self.speed, self.run = speed, 0

    def prepare(self) -> None:
        if self.speed.case.n == 3:
            raise CheckFailed("failed", {"reason": "At full size your code raised ValueError: n"})
        if self.speed.case.n == 4:
            raise RuntimeError("CUDA out of memory.\nTried to allocate")

    def round(self) -> None:
        self.run += 1

    def ratio(self) -> Ratio:
        assert self.run == self.rounds
        value = {1: 1.25, 2: 0.5}[self.speed.case.n]
        return Ratio(value, (value - 0.05, value + 0.05), "2.00 of torch", 1.0, "slow")


def session(device: str) -> Any:
    closed: list[bool] = []
    return SimpleNamespace(
        device=device, claimed={}, all_compiled=lambda: None, close=lambda: closed.append(True), closed=closed
    )


def measured(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[str]]:
    """A session in which every shape was tried on a GPU, and what was not measured."""
    monkeypatch.setattr(speed_claims, "Benchmark", Timed)
    monkeypatch.setattr(speed_claims, "own_stream", contextlib.nullcontext)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    one, untimed = session("cuda"), []
    for case in SHAPES:
        try:
            speed_claims.check(one, CHALLENGE, CLAIM, case)
        except NotMeasured as why:
            untimed.append(str(why))
    return one, untimed


def test_without_a_gpu_it_is_not_measured() -> None:
    with pytest.raises(NotMeasured, match="claims are measured on a GPU"):
        speed_claims.check(session("cpu"), CHALLENGE, CLAIM, SHAPES[0])


def test_nothing_that_comes_of_it_fails_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    one, untimed = measured(monkeypatch)
    assert untimed == ["At full size your code raised ValueError: n", "torch: CUDA out of memory."]
    assert one.closed == [True]  # that runner may be lost; torch's trouble is none of its
    [shapes] = one.claimed.values()
    assert [(shape.of_torch, shape.interval) for shape in shapes[:2]] == [
        (2.5, (2.4, 2.6)),
        (1.0, (0.9, 1.1)),
    ]


def test_the_report_has_how_many_hold_the_best_and_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = measured(monkeypatch)
    [shapes] = one.claimed.values()
    claimed = Claimed(CLAIM.says, CLAIM.backend, CLAIM.part, CLAIM.of_torch, tuple(shapes))
    verdict: Any = SimpleNamespace(claims=(claimed,), versions={"torch": "2.12"})
    text = " ".join(shown(lambda terminal: show(terminal, verdict)).split())
    assert "Claim: it is twice as fast (torch 2.12, eager, forward)." in text
    assert "2.00× is claimed: so it is for 1 of 2 shapes. Best 2.50× with n=1-fp32, worst 1.00×" in text
    assert "2.50× torch's speed (2.40 to 2.60)" in text
    assert "torch: CUDA out of memory." in text


def test_where_no_shape_can_be_timed_it_says_so() -> None:
    shape = Shape("n=1", why="torch: no such backend")
    claimed = Claimed("it is so", "cudnn", "both", 1.0, (shape,))
    verdict: Any = SimpleNamespace(claims=(claimed,), versions={})
    assert "No shape could be timed." in shown(lambda terminal: show(terminal, verdict))
    assert Claimed.from_json({**vars(claimed), "shapes": [vars(shape)]}) == claimed


def test_a_backend_is_in_force_around_the_call() -> None:
    asked = [
        speed_claims.by(backend, lambda: _enabled())() for backend in ("flash", "cudnn", "eager", "flex")
    ]
    assert asked == [(True, False), (False, True), _enabled(), _enabled()]


def _enabled() -> tuple[bool, bool]:
    return torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.cudnn_sdp_enabled()


@pytest.mark.parametrize("slug", ["find_the_bug_layernorm", "find_the_bug_flash", "linear_cross_entropy"])
def test_the_claims_of_an_extra_are_for_a_gpu_and_have_a_bar_beside_them(slug: str) -> None:
    for challenge in load_challenges(catalog.find(slug).hidden_tests):
        assert challenge.claims
        assert challenge.speeds, "a claim is timed as a bar, whose bytes it takes"
        for claim in challenge.claims:
            assert len({case.id for case in claim.cases}) == len(claim.cases)
            signature = challenge.speeds[0].case.sizes.keys()
            assert all(case.sizes.keys() == signature for case in claim.cases)
