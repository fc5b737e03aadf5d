"""What a learner may have computed in the place of an RMS norm, forwards or backwards."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge.formulas.block_bounds import lanes
from grader.challenge.formulas.layer_norm import mean_of


def rstd_of(x: Tensor, eps: float) -> Tensor:
    """1 / √(mean square + eps) of each row, [m, 1]."""
    return (mean_of(x.square()) + eps).rsqrt()


def dx_of(dy: Tensor, gain: Tensor, x_hat: Tensor, rstd: Tensor, along: float = 1.0) -> Tensor:
    """The gradient of x, with a factor for the part along x_hat that it loses."""
    dx_hat = dy * gain
    return rstd * (dx_hat - along * x_hat * mean_of(dx_hat * x_hat))


def share(x: Tensor) -> float:
    """The row's part of the block that it is padded to."""
    return x.shape[1] / lanes(x.shape[1])


def variant(
    rstd=rstd_of,
    x_hat=lambda x, rstd: x * rstd,
    gain=lambda weight, offset: offset + weight,
    dx=dx_of,
    sums=lambda dy, gain, x_hat, x: dy * x_hat,
):
    """What a kernel computes that is like the lesson's but for one of these.

    Args:
        rstd: of the rows, which forward keeps for backward.
        x_hat: the rows before the weight.
        gain: what they are multiplied by.
        dx: the gradient of x.
        sums: what is summed down the columns for dweight.
    """

    def wrong(x: Tensor, weight: Tensor, eps: float, offset: float) -> Tensor:
        plain, scale = x.detach(), rstd(x.detach(), eps)
        normal, by = x_hat(plain, scale), gain(weight.detach(), offset)

        class Norm(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, weight):
                return normal * by

            @staticmethod
            def backward(ctx, dy):
                return dx(dy, by, plain * scale, scale), sums(dy, by, plain * scale, plain).sum(dim=0)

        return Norm.apply(x, weight)

    return wrong


def counted(times):
    """As if rows counted `times(row, half, m)` in dweight, when two programs share m rows."""

    def sums(dy: Tensor, gain: Tensor, x_hat: Tensor, x: Tensor) -> Tensor:
        row = torch.arange(len(x), device=x.device)[:, None]
        return dy * x_hat * times(row, -(-len(x) // 2), len(x))

    return variant(sums=sums)


SUSPECTS = {
    "A mean is subtracted: RMS norm leaves the mean where it is.": variant(
        lambda x, eps: rstd_of(x - mean_of(x), eps), lambda x, rstd: (x - mean_of(x)) * rstd
    ),
    "The mean is subtracted in the sum of squares: RMS norm takes the squares of x itself.": variant(
        lambda x, eps: rstd_of(x - mean_of(x), eps)
    ),
    "eps is added outside of the root: it is 1 / √(mean square + eps).": variant(
        lambda x, eps: 1 / (rstd_of(x, 0.0) ** -1 + eps)
    ),
    "eps is divided by n as well: add it to the mean of the squares, not to their sum.": variant(
        lambda x, eps: rstd_of(x, eps / x.shape[1])
    ),
    "eps is the least that the mean square may be: it is 1 / √(mean square + eps).": variant(
        lambda x, eps: mean_of(x.square()).clamp(min=eps).rsqrt()
    ),
    "eps is squared: it is 1 / √(mean square + eps).": variant(lambda x, eps: rstd_of(x, eps * eps)),
    "eps is missing: it is 1 / √(mean square + eps).": variant(lambda x, eps: rstd_of(x, 0.0)),
    "The eps of the call is not used, but another one, 1e-6.": variant(lambda x, eps: rstd_of(x, 1e-6)),
    "The root is missing: it is 1 / √(mean square + eps).": variant(lambda x, eps: rstd_of(x, eps).square()),
    "x is squared in fp16, where 256² is infinite: go to fp32 first.": variant(
        lambda x, eps: (mean_of(x.half().square().double()) + eps).rsqrt()
    ),
    "The squares are summed and not divided by n, the number of columns.": variant(
        lambda x, eps: (x.shape[1] * mean_of(x.square()) + eps).rsqrt()
    ),
    "The mean of the squares is divided by the block's width: divide by the number of columns.": variant(
        lambda x, eps: (share(x) * mean_of(x.square()) + eps).rsqrt()
    ),
    "The offset is dropped: the row is multiplied by offset + weight.": variant(
        gain=lambda weight, offset: weight
    ),
    "The offset is always 1: Llama's weights stand alone, with offset 0.": variant(
        gain=lambda weight, offset: 1 + weight
    ),
    "The weight is left out: the row is multiplied by offset + weight.": variant(
        gain=lambda weight, offset: offset + 0 * weight
    ),
    "In dx the offset is dropped: dx_hat is dy · (offset + weight).": lambda x, weight, eps, offset: variant(
        dx=lambda dy, gain, *rest: dx_of(dy, gain - offset, *rest)
    )(x, weight, eps, offset),
    "dx lacks the weight: dx_hat is dy · (offset + weight).": variant(
        dx=lambda dy, gain, *rest: dx_of(dy, torch.ones_like(gain), *rest)
    ),
    "dx takes rstd for a constant: subtract x_hat · mean(dx_hat · x_hat).": variant(
        dx=lambda *a: dx_of(*a, along=0.0)
    ),
    "dx adds what it must subtract: x_hat · mean(dx_hat · x_hat).": variant(
        dx=lambda *a: dx_of(*a, along=-1.0)
    ),
    "dx lacks its last factor, rstd.": variant(
        dx=lambda dy, gain, x_hat, rstd: dx_of(dy, gain, x_hat, torch.ones_like(rstd))
    ),
    "dx subtracts a mean of dx_hat, as layer norm does: here only what lies along x_hat goes.": variant(
        dx=lambda dy, gain, x_hat, rstd: dx_of(dy, gain, x_hat, rstd) - rstd * mean_of(dy * gain)
    ),
    "In dx the mean of dx_hat · x_hat is divided by the block's width: divide by the columns.": variant(
        dx=lambda dy, *a: dx_of(dy, *a, along=share(dy))
    ),
    "In dx the mean of dx_hat · x_hat is a sum: divide it by the number of columns.": variant(
        dx=lambda dy, *a: dx_of(dy, *a, along=dy.shape[1])
    ),
    "dweight is summed with x: it takes the normalised row, x_hat.": variant(
        sums=lambda dy, gain, x_hat, x: dy * x
    ),
    "dweight takes dy · (offset + weight): it takes dy as it comes.": variant(
        sums=lambda dy, gain, x_hat, x: dy * gain * x_hat
    ),
    "dweight lacks x_hat: it is the sum of dy · x_hat down the columns.": variant(
        sums=lambda dy, gain, x_hat, x: dy
    ),
    "dweight holds the rows of one program alone: add all n_parts partial sums.": counted(
        lambda row, half, m: row < half
    ),
    "dweight holds the last row of each program alone: every row adds to it.": counted(
        lambda row, half, m: (row == half - 1) | (row == m - 1)
    ),
    "The rows of two programs overlap: some are counted twice in dweight.": counted(
        lambda row, half, m: 1 + (row == half)
    ),
}
