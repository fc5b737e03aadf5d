"""What a learner may have computed in the place of Huber's loss, or of a mean absolute error."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Part = Callable[[Tensor, float], Tensor]


def parabola(d: Tensor, delta: float) -> Tensor:
    """Huber's loss of each difference."""
    return torch.where(d.abs() <= delta, 0.5 * d * d, delta * (d.abs() - 0.5 * delta))


def clipped(d: Tensor, delta: float) -> Tensor:
    """Its slope."""
    return torch.where(d.isnan(), d, d.clamp(-delta, delta))


def absolute(d: Tensor, delta: float) -> Tensor:
    return d.abs()


def sign(d: Tensor, delta: float) -> Tensor:
    return torch.where(d.isnan(), d, d.sign())


def variant(
    cost: Part,
    slope: Part,
    mean=lambda losses: losses.mean(),
    scale=lambda dmean, d: dmean / d.numel(),
    signs: tuple[float, float] = (1.0, -1.0),
):
    """A mean of `cost`, with gradients of dx and dy by `slope` and `signs`."""

    def wrong(x: Tensor, y: Tensor, delta: float = 1.0) -> Tensor:
        class Loss(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                ctx.d = x - y
                return mean(cost(x - y, delta))

            @staticmethod
            def backward(ctx, dmean):
                by = slope(ctx.d, delta) * scale(dmean, ctx.d)
                return signs[0] * by, signs[1] * by

        return Loss.apply(x, y)

    return wrong


def mean_absolute(x: Tensor, y: Tensor) -> Tensor:
    """The mean absolute error, whose gradient is NaN where the difference is; torch's is 0 there."""
    return variant(absolute, sign)(x, y)


def of(cost: Part, slope: Part) -> dict[str, Callable[..., Tensor]]:
    """The suspects that both entries have."""
    return {
        "This is the sum of the losses: divide by the number of elements.": variant(
            cost, slope, mean=torch.sum
        ),
        "dy has the sign of dx: what pulls x up pulls y down.": variant(cost, slope, signs=(1.0, 1.0)),
        "dx and dy have changed places: d is x − y.": variant(cost, slope, signs=(-1.0, 1.0)),
        "The upstream gradient is dropped: both gradients take it as a factor.": variant(
            cost, slope, scale=lambda dmean, d: 1 / max(d.numel(), 1)
        ),
        "The gradients are not divided by the number of elements, as the mean is.": variant(
            cost, slope, scale=lambda dmean, d: dmean
        ),
    }


OF_HUBER = {
    **of(parabola, clipped),
    "This is half the square everywhere: beyond delta the loss is a straight line.": variant(
        lambda d, delta: 0.5 * d * d, lambda d, delta: d
    ),
    "This is the absolute difference: within delta the loss is a parabola.": variant(absolute, sign),
    "The factor 0.5 is missing from the square.": variant(
        lambda d, delta: torch.where(d.abs() <= delta, d * d, delta * (d.abs() - 0.5 * delta)), clipped
    ),
    "The linear part lacks delta: it is delta · (|d| − delta / 2).": variant(
        lambda d, delta: torch.where(d.abs() <= delta, 0.5 * d * d, d.abs() - 0.5 * delta), clipped
    ),
    "The linear part lacks − delta / 2: there the two parts do not meet.": variant(
        lambda d, delta: torch.where(d.abs() <= delta, 0.5 * d * d, delta * d.abs()), clipped
    ),
    "This is smooth L1: Huber's loss is delta times that.": variant(
        lambda d, delta: parabola(d, delta) / delta, lambda d, delta: clipped(d, delta) / delta
    ),
    "The gradient is the sign alone beyond delta: the line has slope delta.": variant(
        parabola, lambda d, delta: torch.where(d.abs() <= delta, d, sign(d, delta))
    ),
    "The gradient is the sign everywhere: within delta it is d.": variant(
        parabola, lambda d, delta: delta * sign(d, delta)
    ),
    "The gradient is d everywhere: beyond delta it stays at delta.": variant(parabola, lambda d, delta: d),
}

OF_MAE = {
    **of(absolute, sign),
    "This is the mean of the differences: take the absolute value first.": variant(lambda d, delta: d, sign),
    "This is the mean square.": variant(lambda d, delta: d * d, lambda d, delta: 2 * d),
    "Where x and y are equal the gradient is 0.": variant(
        absolute, lambda d, delta: torch.where(d == 0, 1.0, sign(d, delta))
    ),
    "Where x and y are equal the gradient is 0, and neither side's.": variant(
        absolute, lambda d, delta: torch.where(d == 0, -1.0, sign(d, delta))
    ),
    "The gradient is d: of |d| it is d's sign.": variant(absolute, lambda d, delta: d),
}
