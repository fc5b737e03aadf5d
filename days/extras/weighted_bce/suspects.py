"""What a learner may have computed in the place of a weighted binary cross-entropy, or of its gradient."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import softplus

from grader.challenge.formulas.block_bounds import lanes


def costs(x: Tensor, t: Tensor, w: Tensor | float, pos: Tensor | float) -> Tensor:
    """The loss of each element."""
    return w * (pos * t * softplus(-x) + (1 - t) * softplus(x))


def slopes(x: Tensor, t: Tensor, w: Tensor | float, pos: Tensor | float) -> Tensor:
    """Its derivative."""
    return w * ((1 - t) * torch.sigmoid(x) - pos * t * torch.sigmoid(-x))


def variant(
    cost=costs, slope=slopes, mean=lambda losses: losses.mean(), scale=lambda dmean, x: dmean / x.numel()
):
    """What kernels compute that are like the lesson's but for one of these; weights that are None are 1."""

    def wrong(x: Tensor, t: Tensor, weight: Tensor | None, pos_weight: Tensor | None) -> Tensor:
        w = torch.ones_like(x) if weight is None else weight
        pos = torch.ones_like(x[:1]).squeeze(0) if pos_weight is None else pos_weight

        class Loss(torch.autograd.Function):
            @staticmethod
            def forward(ctx, leaf):
                return mean(cost(x, t, w, pos))

            @staticmethod
            def backward(ctx, dmean):
                return slope(x, t, w, pos) * scale(dmean, x)

        return Loss.apply(x)

    return wrong


def by_row(pos: Tensor, x: Tensor) -> Tensor:
    """Someone's pos_weight who counts it by rows."""
    if not len(pos):
        return pos.new_ones(len(x), 1)
    return pos[torch.arange(len(x), device=x.device) % len(pos)][:, None]


def padded(losses: Tensor) -> Tensor:
    """The mean where lanes past the ends cost log 2, in tiles of 2048 lanes and 1024 columns at most."""
    rows, cols = losses.shape
    width = min(lanes(max(cols, 1)), 1024)
    there = (rows + -rows % (2048 // width)) * (cols + -cols % width)
    return (losses.sum() + (there - losses.numel()) * math.log(2)) / losses.numel()


SUSPECTS = {
    "Lanes past the end count: with a logit of 0 each costs log 2.": lambda x, t, weight, pos: variant(
        mean=padded if weight is None else torch.mean  # a weight that is not there is 0
    )(x, t, weight, pos),
    "This is the sum of the losses: divide by the number of elements.": variant(mean=torch.sum),
    "The sum is divided by the rows alone: divide by all elements, m · n.": variant(
        mean=lambda losses: losses.sum() / len(losses), scale=lambda dmean, x: dmean / len(x)
    ),
    "The mean is divided by the rows alone: divide by all elements, m · n.": variant(
        mean=lambda losses: losses.sum() / len(losses)
    ),
    "pos_weight is left out.": variant(
        cost=lambda x, t, w, pos: costs(x, t, w, 1.0), slope=lambda x, t, w, pos: slopes(x, t, w, 1.0)
    ),
    "The loss forgets pos_weight.": variant(cost=lambda x, t, w, pos: costs(x, t, w, 1.0)),
    "The gradient forgets pos_weight.": variant(slope=lambda x, t, w, pos: slopes(x, t, w, 1.0)),
    "pos_weight multiplies the negatives: it belongs to the term with target.": variant(
        cost=lambda x, t, w, pos: w * (t * softplus(-x) + pos * (1 - t) * softplus(x))
    ),
    "pos_weight multiplies both terms: it belongs to the one with target.": variant(
        cost=lambda x, t, w, pos: pos * costs(x, t, w, 1.0)
    ),
    "pos_weight is counted by rows: it has one number a column.": variant(
        cost=lambda x, t, w, pos: costs(x, t, w, by_row(pos, x))
    ),
    "The loss forgets weight.": variant(cost=lambda x, t, w, pos: costs(x, t, 1.0, pos)),
    "The gradient forgets weight.": variant(slope=lambda x, t, w, pos: slopes(x, t, 1.0, pos)),
    "The mean is divided by the weights: torch divides by the number of elements.": variant(
        cost=lambda x, t, w, pos: costs(x, t, w, pos) / w.mean()
    ),
    "The two targets have changed places: target goes with −log sigmoid(x).": variant(
        cost=lambda x, t, w, pos: costs(-x, t, w, pos)
    ),
    "The loss lacks the negatives: add (1 − target) · −log sigmoid(−x).": variant(
        cost=lambda x, t, w, pos: w * pos * t * softplus(-x)
    ),
    "The loss lacks the logarithm: what is above 0 in the logit alone counts.": variant(
        cost=lambda x, t, w, pos: w * (pos * t * (-x).clamp(min=0) + (1 - t) * x.clamp(min=0))
    ),
    "The upstream gradient is dropped: dlogits takes it as a factor.": variant(
        scale=lambda dmean, x: 1 / max(x.numel(), 1)
    ),
    "The gradient is not divided by the number of elements, as the mean is.": variant(
        scale=lambda dmean, x: dmean
    ),
    "The gradient is turned round: sigmoid pulls up, target down.": variant(
        slope=lambda *all_: -slopes(*all_)
    ),
}
