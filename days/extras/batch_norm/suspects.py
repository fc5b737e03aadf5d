"""Batch norm in training, and what a learner may have computed in its place or its gradients'."""

from __future__ import annotations

import torch
from torch import Tensor

ALL = (0, 2, 3)  # all dimensions but the channels


def mean_of(x: Tensor) -> Tensor:
    """The mean of each channel, [1, c, 1, 1]."""
    return x.mean(dim=ALL, keepdim=True)


def var_of(x: Tensor) -> Tensor:
    """The biased variance of each channel, [1, c, 1, 1]."""
    return (x - mean_of(x)).square().mean(dim=ALL, keepdim=True)


def wide_of(vector: Tensor) -> Tensor:
    return vector.view(1, -1, 1, 1)


def size_of(x: Tensor) -> int:
    return x.numel() // x.shape[1]


def moved(running: Tensor, new: Tensor, momentum: float) -> Tensor:
    return running + momentum * (new.detach().flatten() - running)


def unbiased(x: Tensor, var: Tensor) -> Tensor:
    return var * (size_of(x) / (size_of(x) - 1))


def batch_norm(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Running mean and variance one step later, and y, differentiable by autograd."""
    mean, var = mean_of(x), var_of(x)
    y = (x - mean) * (var + eps).rsqrt() * wide_of(weight) + wide_of(bias)
    return moved(running_mean, mean, momentum), moved(running_var, unbiased(x, var), momentum), y


def dx_of(dy: Tensor, x_hat: Tensor, products: Tensor, first: float = 1.0, second: float = 1.0) -> Tensor:
    """dx over weight · rstd from what is summed for dweight, each of its two terms times a factor."""
    return dy - first * mean_of(dy) - second * x_hat * mean_of(products)


def variant(
    rstd=lambda x, var, eps: (var + eps).rsqrt(),
    to_keep=unbiased,
    move=moved,
    affine=lambda x_hat, weight, bias: x_hat * weight + bias,
    dx=dx_of,
    gain=lambda weight: weight,
    by=lambda rstd: rstd,
    sums=lambda dy, x_hat, x: dy * x_hat,
):
    """What kernels compute that are like the lesson's but for one of these.

    Args:
        rstd: of a channel, which forward keeps for backward.
        to_keep: the variance that running_var moves towards.
        move: running statistics towards new ones.
        affine: y, from what is normalised.
        dx, gain, by: the gradient of x, and its two last factors.
        sums: what is summed for dweight, and for dx.
    """

    def wrong(x, weight, bias, running_mean, running_var, momentum, eps):
        plain, mean, var = x.detach(), mean_of(x.detach()), var_of(x.detach())
        scale = rstd(plain, var, eps)
        x_hat = (plain - mean) * scale

        class Norm(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, weight, bias):
                return affine(x_hat, wide_of(weight), wide_of(bias))

            @staticmethod
            def backward(ctx, dy):
                products = sums(dy, x_hat, plain)
                grad = dx(dy, x_hat, products) * gain(wide_of(weight.detach())) * by(scale)
                return grad, products.sum(dim=ALL), dy.sum(dim=ALL)

        new_mean = move(running_mean, mean, momentum)
        new_var = move(running_var, to_keep(plain, var), momentum)
        return new_mean, new_var, Norm.apply(x, weight, bias)

    return wrong


SUSPECTS = {
    "The running variance is the biased one: it takes n − 1, and y takes n.": variant(
        to_keep=lambda x, var: var
    ),
    "y is divided by the root of the unbiased variance: n − 1 belongs to running_var alone.": variant(
        lambda x, var, eps: (unbiased(x, var) + eps).rsqrt()
    ),
    "The root is missing: it is 1 / √(variance + eps).": variant(lambda x, var, eps: 1 / (var + eps)),
    "eps is added outside of the root: it is 1 / √(variance + eps).": variant(
        lambda x, var, eps: 1 / (var.sqrt() + eps)
    ),
    "momentum is turned round: it is the share of the new, 1 − momentum that of the old.": variant(
        move=lambda running, new, momentum: moved(running, new, 1 - momentum)
    ),
    "The running statistics move twice in one call.": variant(
        move=lambda running, new, momentum: moved(moved(running, new, momentum), new, momentum)
    ),
    "The new statistics are added to the running ones, which do not fade.": variant(
        move=lambda running, new, momentum: running + momentum * new.detach().flatten()
    ),
    "The running statistics are replaced: they move by momentum.": variant(
        move=lambda running, new, momentum: new.detach().flatten()
    ),
    "Weight and bias are left out.": variant(affine=lambda x_hat, weight, bias: x_hat.clone()),
    "The bias is added before the weight multiplies.": variant(
        affine=lambda x_hat, weight, bias: (x_hat + bias) * weight
    ),
    "dx takes mean and rstd for constants: all of its channel moves them.": variant(
        dx=lambda *a: dx_of(*a, 0.0, 0.0)
    ),
    "dx lacks its first mean, that of dy.": variant(dx=lambda *a: dx_of(*a, first=0.0)),
    "dx lacks its second mean, x̂ · mean(dy · x̂).": variant(dx=lambda *a: dx_of(*a, second=0.0)),
    "dx adds x̂ · mean(dy · x̂), which it must take away.": variant(dx=lambda *a: dx_of(*a, second=-1.0)),
    "In dx the sums are not divided by n, the elements of a channel.": variant(
        dx=lambda *a: dx_of(*a, size_of(a[0]), size_of(a[0]))
    ),
    "dx lacks the weight.": variant(gain=torch.ones_like),
    "dx lacks its last factor, rstd.": variant(by=torch.ones_like),
    "dweight is summed with x: it takes x̂.": variant(sums=lambda dy, x_hat, x: dy * x),
}
