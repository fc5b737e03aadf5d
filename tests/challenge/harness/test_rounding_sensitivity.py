"""Where terms cancel, what rounding alone explains passes, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch.nn.functional import gelu, silu

from grader.challenge import Case, Challenge
from grader.challenge.harness.compare import Expected, compare
from grader.challenge.harness.oracle import expect, expect_gradients, gradients
from grader.challenge.harness.rounding_sensitivity import (
    DRAWS,
    ROUNDINGS,
    Movement,
    RoundedOperands,
    Rounding,
)


def cancelling(digits: float) -> Expected:
    """One row of a product whose terms cancel but for `digits` of their size."""
    a = torch.rand(1, 64) + 1
    a[:, 32:] = -a[:, :32] * (1 - digits)
    challenge = Challenge("f", lambda case, draw: (), lambda a, b: a @ b, [])
    return expect(challenge, (a, torch.ones(64, 32)))[0]


def test_a_row_that_cancels_may_miss_by_what_rounding_its_terms_does() -> None:
    want = replace(cancelling(1e-4), yardstick=(0.0, torch.zeros(1)))
    near, far = ((want.exact * (1 + error)).float() for error in (3e-5, 3e-2))
    assert compare(near, want, Case()) is None
    assert compare(near, replace(want, movement=None), Case()) is not None
    assert compare(far, want, Case()) is not None


def test_a_row_that_does_not_cancel_is_allowed_nothing_more() -> None:
    want = replace(cancelling(1.0), yardstick=(0.0, torch.zeros(1)))
    assert compare((want.exact * (1 + 2e-5)).float(), want, Case()) is not None


def test_the_movement_is_asked_for_only_where_an_answer_would_fail() -> None:
    def never() -> list[tuple[float, torch.Tensor]]:
        raise AssertionError("asked for")

    want = replace(cancelling(1.0), movement=never)
    assert compare(want.exact.float(), want, Case()) is None


def test_no_more_is_drawn_than_an_answer_needs() -> None:
    asked = []

    def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        asked.append(a.dtype)
        return a @ b

    a = torch.rand(1, 64) + 1
    a[:, 32:] = -a[:, :32] * (1 - 1e-4)
    want = expect(Challenge("f", lambda case, draw: (), product, []), (a, torch.ones(64, 32)))[0]
    want = replace(want, yardstick=(0.0, torch.zeros(1)))
    asked.clear()
    assert compare((want.exact * (1 + 2e-5)).float(), want, Case()) is None
    assert len(asked) < DRAWS  # the exact one among them
    asked.clear()
    assert compare((want.exact * (1 + 3e-2)).float(), want, Case()) is not None
    assert len(asked) == DRAWS


def moved_by_one_rounding(movement: Movement) -> tuple[float, torch.Tensor]:
    """How far the largest of all draws moves the first result in fp32, whole and per row."""
    *_, (whole, rows) = movement.explains(0, torch.float32)
    return whole / ROUNDINGS, rows / ROUNDINGS


def test_inputs_are_exact_and_so_is_the_difference_of_two_that_are_near() -> None:
    x = 1e4 + torch.rand(4, 64)
    moved, rows = moved_by_one_rounding(Movement(lambda inputs: (torch.softmax(inputs[0], -1),), (x,)))
    assert 0 < moved < 1e-7
    assert float(rows.max()) < 1e-7


def test_a_slope_near_its_zero_has_few_digits_left() -> None:
    x, dy = torch.tensor([[-0.746]]), torch.tensor([[1.3]])
    challenge = Challenge("f", lambda case, draw: (), lambda x: gelu(x, approximate="tanh"), [])
    want = expect_gradients(challenge, (x,), (dy,), (), ["x"], [0])[0]
    want = replace(want, yardstick=(0.0, torch.zeros(1)))
    near, far = ((want.exact * (1 + error)).float() for error in (3e-5, 1e-3))
    assert compare(near, want, Case()) is None
    assert compare(far, want, Case()) is not None


def test_what_is_saturated_is_not_rounded() -> None:
    x, dy = torch.tensor([[100.0]]), torch.tensor([[1.3]])  # its sigmoid is 1, and 1 - 1 is 0
    moved = moved_by_one_rounding(Movement(lambda v: gradients(silu, v[:1], (0,), v[1:]), (x, dy)))
    assert moved[0] < 1e-6


def test_nan_and_inf_move_nothing() -> None:
    x = torch.tensor([[1.0, float("nan")], [float("inf"), 2.0]])
    moved, rows = moved_by_one_rounding(Movement(lambda inputs: (inputs[0] * 3,), (x,)))
    assert 0 < moved < 1e-7
    assert bool(rows.isfinite().all())


def test_a_hidden_score_stays_hidden() -> None:
    scores = torch.rand(4, 8).masked_fill(torch.ones(4, 8).triu(1) > 0, -torch.inf)
    moved = Movement(lambda inputs: ((inputs[0] * 3).exp() * inputs[1],), (scores, torch.rand(4, 1)))
    assert bool((moved_by_one_rounding(moved)[1] > 0).all())
    with Rounding():
        assert bool((scores.double() * 3).isneginf().eq(scores.isneginf()).all())


def test_the_same_inputs_move_the_same_way_in_every_replay() -> None:
    x = torch.rand(3, 40)
    sums = (Movement(lambda inputs: (inputs[0].sum(-1),), (x,)) for _ in range(2))
    one, two = map(moved_by_one_rounding, sums)
    assert one[0] == two[0]
    assert torch.equal(one[1], two[1])


def weighted(p: torch.Tensor, v: torch.Tensor) -> Expected:
    """Rows of (p · 1) v, whose p is worked out and v an input, where torch itself happened to be right."""
    challenge = Challenge("f", lambda case, draw: (), lambda p, v: (p * 1.7) @ v, [])
    return replace(expect(challenge, (p, v))[0], yardstick=(0.0, torch.zeros(len(p))))


def test_what_a_product_multiplies_may_be_rounded_to_16_bits_before() -> None:
    torch.manual_seed(1)  # one draw in a hundred has a row that no draw of the movement moves as far
    p, v = torch.rand(40, 64).half(), torch.randn(64, 16).half()
    v[32:] = -v[:32]  # the rows cancel, so that the rounding of p shows
    want = weighted(p, v)
    out = ((p.float() * 1.7).half().float() @ v.float()).half()
    assert compare(out, want, Case()) is None
    assert compare(out, replace(want, movement=None), Case()) is not None
    twice = (want.exact + 4 * (out.double() - want.exact)).half()
    assert compare(twice, want, Case()) is not None


def test_what_has_16_bits_already_is_not_rounded_again() -> None:
    a, b = torch.randn(8, 32).half(), torch.randn(32, 8).half()
    with RoundedOperands(torch.float16):
        moved = a.double() @ b.double()
        worked_out = (a.double() * 1.7) @ b.double()
    assert torch.equal(moved, a.double() @ b.double())
    assert not torch.equal(worked_out, (a.double() * 1.7) @ b.double())


def test_operands_below_the_normal_numbers_of_fp16_round_by_whole_steps() -> None:
    torch.manual_seed(1)  # no row cancels whole
    p, v = torch.rand(40, 64).half() * 2.0**-6, torch.ones(64, 16).half()
    p[:20] *= 2.0**-9
    v[32:] = -1.0
    want = weighted(p, v)
    out = ((p.float() * 1.7).half().float() @ v.float()).half()
    with_one_step_more = ((p.float() * 1.7 + 2.0**-23).half().float() @ v.clamp(min=0).float()).half()
    assert compare(out, want, Case()) is None
    assert compare(with_one_step_more, want, Case()) is not None


def vanishing(dy: torch.Tensor) -> Expected:
    """The gradient of a centred row of one element: 0, whatever it is multiplied by."""

    def centred(dy: torch.Tensor) -> torch.Tensor:
        return 1000 * (1.7 * dy - (1.7 * dy).mean(-1, keepdim=True))

    return expect(Challenge("f", lambda case, draw: (), centred, []), (dy,))[0]


def test_what_vanishes_may_miss_by_what_rounding_its_terms_leaves() -> None:
    dy = torch.rand(1, 1) + 1
    want = vanishing(dy)
    fused = (1000 * ((1.7 * dy.double()) - (1.7 * dy))).float()  # the product unrounded
    assert compare(fused, want, Case()) is None
    assert compare(torch.zeros(1, 1), want, Case()) is None
    assert compare(torch.full((1, 1), 0.1), want, Case()) is not None
