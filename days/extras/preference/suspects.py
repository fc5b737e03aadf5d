"""What a learner may have computed in the place of a selection by rewards, or of a Bradley-Terry step."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Three = tuple[Tensor, Tensor, Tensor]


def selected(
    a: Tensor,
    b: Tensor,
    reward_a: Tensor,
    reward_b: Tensor,
    *,
    swap: Callable[[Tensor, Tensor], Tensor] = lambda a, b: b > a,
    rejected: Callable[[Tensor, Tensor], Tensor] = lambda other, chosen: other,
    margin: Callable[[Tensor, Tensor], Tensor] = lambda chosen, rejected: chosen - rejected,
) -> Three:
    """chosen, rejected and margin.

    Args:
        swap: where b is chosen, from both rewards.
        rejected: from the row that was not chosen, and the one that was.
        margin: from the rewards of the chosen and the rejected row.
    """
    chose_b = swap(reward_a, reward_b)
    first, second = torch.where(chose_b[:, None], b, a), torch.where(chose_b[:, None], a, b)
    best, rest = torch.where(chose_b, reward_b, reward_a), torch.where(chose_b, reward_a, reward_b)
    return first, rejected(second, first), margin(best, rest)


def _but(**how) -> Callable[..., Three]:
    return lambda *pairs: selected(*pairs, **how)


OF_SELECT = {
    "Chosen and rejected have changed places: chosen is the row of the higher reward.": _but(
        swap=lambda a, b: ~(b > a), margin=lambda chosen, rejected: rejected - chosen
    ),
    "The row of the lower reward is chosen.": _but(swap=lambda a, b: b < a),
    "A tie goes to b: the task gives it to a.": _but(swap=lambda a, b: b >= a),
    "Where a reward is NaN b is chosen: the task gives such a pair to a.": _but(swap=lambda a, b: ~(a >= b)),
    "a is always chosen: the rewards decide.": _but(swap=lambda a, b: torch.zeros_like(a, dtype=torch.bool)),
    "Every row goes the way of the first pair: each has rewards of its own.": _but(
        swap=lambda a, b: (b > a)[:1].expand_as(a)
    ),
    "The chosen row stands in both results.": _but(rejected=lambda other, chosen: chosen),
    "The margin is a's reward less b's: it is that of the chosen row less the other one, never below 0.": (
        lambda a, b, ra, rb: (*selected(a, b, ra, rb)[:2], ra - rb)
    ),
    "The margin is turned round: it is the chosen row's reward less the other one's.": _but(
        margin=lambda chosen, rejected: rejected - chosen
    ),
    "The margin is the chosen row's reward alone.": _but(margin=lambda chosen, rejected: chosen),
}


def stepping(
    pull=lambda score: torch.sigmoid(-score),
    by=lambda n: 1 / max(n, 1),
    d=lambda chosen, rejected: chosen - rejected,
    rate=lambda lr: lr,
    start=lambda w: w,
):
    """A step with one part of it replaced; `pull` is how much a pair counts, from its score d.w."""

    def wrong(w: Tensor, chosen: Tensor, rejected: Tensor, lr: float) -> Tensor:
        delta = d(chosen.to(w.dtype), rejected.to(w.dtype))
        return start(w) + rate(lr) * by(len(delta)) * (pull(delta @ w)[:, None] * delta).sum(dim=0)

    return wrong


def one_by_one(w: Tensor, chosen: Tensor, rejected: Tensor, lr: float) -> Tensor:
    """Someone who moves w after each pair, and shows the next one what has become of it."""
    for c, r in zip(chosen.to(w.dtype), rejected.to(w.dtype), strict=True):
        w = w + lr / len(chosen) * torch.sigmoid(-((c - r) @ w)) * (c - r)
    return w


OF_UPDATE = {
    "w moves the wrong way: it goes towards the chosen rows.": stepping(rate=lambda lr: -lr),
    "The pull of a pair is sigmoid(d·w): it is sigmoid(−d·w), large where w is wrong.": stepping(
        pull=torch.sigmoid
    ),
    "All pairs count alike: each counts sigmoid(−d·w).": stepping(pull=torch.ones_like),
    "The pulls are added up: divide by the number of pairs.": stepping(by=lambda n: 1.0),
    "lr is left out.": stepping(rate=lambda lr: 1.0),
    "The rejected rows are left out: d is chosen less rejected.": stepping(d=lambda c, r: c + 0 * r),
    "The rejected rows are added: d is chosen less rejected.": stepping(d=lambda c, r: c + r),
    "The step replaces w: it is added to it.": stepping(start=lambda w: 0 * w),
    "w has moved before all pairs have seen it: keep the step apart until they have.": one_by_one,
}
