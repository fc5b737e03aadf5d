"""Both norms, and what a learner may have computed in their place, forwards or backwards."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge.formulas.block_bounds import lanes


def length(x: Tensor) -> Tensor:
    """The L2 norm of each row, [m, 1]."""
    return x.square().sum(dim=1, keepdim=True).sqrt()


def dx_of(dy: Tensor, y: Tensor, norm: Tensor, eps: float) -> Tensor:
    """dx: the part of dy along y is taken out where the norm is the divisor."""
    along = torch.where(norm < eps, 0.0, (dy * y).sum(dim=1, keepdim=True))
    return (dy - y * along) / norm.clamp(min=eps)


def variant(norm=length, divisor=lambda norm, eps: norm.clamp(min=eps), dx=dx_of):
    """What a kernel computes that is like the lesson's but for one of these.

    Args:
        norm: of the rows, which forward keeps for backward.
        divisor: what forward makes of it and eps.
        dx: the gradient.
    """

    def wrong(x: Tensor, eps: float) -> Tensor:
        plain = x.detach()
        found = norm(plain)

        class Normalize(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return plain / divisor(found, eps)

            @staticmethod
            def backward(ctx, dy):
                return dx(dy, plain / found.clamp(min=eps), found, eps)

        return Normalize.apply(x)

    return wrong


OF_L1 = {
    "The signs are left on: add up absolute values.": lambda x: x.sum(dim=1),
    "This is the L2 norm: add up absolute values, without squares and a root.": lambda x: length(x)[:, 0],
    "This is the largest absolute value: add them up.": lambda x: x.abs().amax(dim=1),
    "The sum is divided by n, the number of columns: a norm is no mean.": lambda x: x.abs().mean(dim=1),
    "The sum is divided by the block's width: a norm is no mean.": lambda x: (
        x.abs().sum(dim=1) / lanes(x.shape[1])
    ),
}

OF_L2 = {
    "eps is added to the norm: it is the least that the divisor may be.": variant(
        divisor=lambda norm, eps: norm + eps
    ),
    "eps is added under the root: it is the least that the divisor may be.": variant(
        divisor=lambda norm, eps: (norm.square() + eps).sqrt()
    ),
    "eps is compared with the sum of squares: it is the least that its root may be.": variant(
        divisor=lambda norm, eps: norm.square().clamp(min=eps).sqrt()
    ),
    "eps is not used: rows shorter than eps are divided by eps.": variant(divisor=lambda norm, eps: norm),
    "The divisor is never above eps: it is the larger of norm and eps.": variant(
        divisor=lambda norm, eps: norm.clamp(max=eps)
    ),
    "The root is missing: divide by the root of the sum of squares.": variant(lambda x: length(x).square()),
    "The squares are averaged, as an RMS norm does it: add them up.": variant(
        lambda x: length(x) / x.shape[1] ** 0.5
    ),
    "Rows are divided by their L1 norm: it is the root of the sum of squares.": variant(
        lambda x: x.abs().sum(dim=1, keepdim=True)
    ),
    "x is squared in fp16, where 256² is infinite: go to fp32 first.": variant(
        lambda x: x.half().square().double().sum(dim=1, keepdim=True).sqrt()
    ),
    "dx takes the norm for a constant: the part of dy along y must go.": variant(
        dx=lambda dy, y, norm, eps: dy / norm.clamp(min=eps)
    ),
    "dx adds the part of dy along y, which it must take away.": variant(
        dx=lambda dy, y, norm, eps: 2 * dy / norm.clamp(min=eps) - dx_of(dy, y, norm, eps)
    ),
    "dx takes away a part along y where eps is the divisor: there it is a constant.": variant(
        dx=lambda dy, y, norm, eps: (dy - y * (dy * y).sum(dim=1, keepdim=True)) / norm.clamp(min=eps)
    ),
    "dx is 0 where eps is the divisor: there it is dy / eps.": variant(
        dx=lambda dy, y, norm, eps: torch.where(norm < eps, 0.0, dx_of(dy, y, norm, eps))
    ),
    "dx is not divided by the norm.": variant(
        dx=lambda dy, y, norm, eps: dx_of(dy, y, norm, eps) * norm.clamp(min=eps)
    ),
    "In dx the part along y is a mean: take the sum of dy · y.": variant(
        dx=lambda dy, y, norm, eps: (
            (dy - y * torch.where(norm < eps, 0.0, (dy * y).mean(dim=1, keepdim=True))) / norm.clamp(min=eps)
        )
    ),
    "In dx what is along x is taken away, and x is not of length 1: take y.": variant(
        dx=lambda dy, y, norm, eps: dx_of(dy, y * norm.clamp(min=eps), norm, eps)
    ),
}
