"""What a learner may have computed on day 23, forwards or backwards."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge.formulas.block_bounds import lanes
from grader.challenge.formulas.layer_norm import add_layer_norm, dx_of, mean_of, rstd_of

Outputs = tuple[Tensor, Tensor]


def share(s: Tensor) -> float:
    """The row's part of the block that it is padded to."""
    return s.shape[1] / lanes(s.shape[1])


def variant(
    statistics=lambda s, eps: (mean_of(s), rstd_of(s, eps)),
    outputs=lambda y, s, x, residual: (y, s),
    dx=dx_of,
    sums=lambda dy, weight, x_hat, s, y: (dy * x_hat, dy),
):
    """What a kernel computes that is like the lesson's but for one of these.

    Args:
        statistics: mean and 1 / deviation of s.
        outputs: y and s, with what autograd knows of them.
        dx: the gradient that comes through the norm.
        sums: what is summed down the columns for dweight and dbias.
    """

    def wrong(x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Outputs:
        plain = (x + residual).detach()
        mean, rstd = statistics(plain, eps)
        x_hat = (plain - mean) * rstd

        class Norm(torch.autograd.Function):
            @staticmethod
            def forward(ctx, s, weight, bias):
                return x_hat * weight + bias

            @staticmethod
            def backward(ctx, dy):
                dweight, dbias = sums(dy, weight.detach(), x_hat, plain, (x_hat * weight + bias).detach())
                return dx(dy, weight.detach(), x_hat, rstd), dweight.sum(dim=0), dbias.sum(dim=0)

        s = x + residual
        return outputs(Norm.apply(s, weight, bias), s, x, residual)

    return wrong


def straight_to(one: int, times: int = 1):
    """As if the gradient of s reached only x (0) or only residual (1)."""
    return lambda y, s, *inputs: (y, s.detach() + times * (inputs[one] - inputs[one].detach()))


def x_alone(x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Outputs:
    """The norm of x alone, whose statistics the backward pass then uses for s."""
    y = add_layer_norm(x, torch.zeros_like(residual), weight, bias, eps)[0].detach()
    like, s = variant(lambda s, eps: (mean_of(x.detach()), rstd_of(x.detach(), eps)))(
        x, residual, weight, bias, eps
    )
    return y + (like - like.detach()), s


def counted(times, each_sm: int = 0):
    """As if rows counted `times(row, share, m)` in dweight and dbias, when programs share m rows.

    Args:
        each_sm: programs for each SM of the GPU; two in all without one.
    """

    def sums(dy: Tensor, weight: Tensor, x_hat: Tensor, s: Tensor, y: Tensor) -> Outputs:
        row, programs = torch.arange(len(s), device=s.device)[:, None], 2
        if each_sm and s.is_cuda:
            programs = each_sm * torch.cuda.get_device_properties(s.device).multi_processor_count
        dy = dy * times(row, -(-len(s) // programs), len(s))
        return dy * x_hat, dy

    return variant(sums=sums)


def last(row: Tensor, share: int, m: int) -> Tensor:
    """Whether a row is the last of its program."""
    return (row % share == share - 1) | (row == m - 1)


SUSPECTS = {
    "The residual is never added: s is x + residual.": lambda x, residual, weight, bias, eps: add_layer_norm(
        x, residual - residual.detach(), weight, bias, eps
    ),
    "y is the norm of x alone: normalise x + residual.": x_alone,
    "The two outputs are swapped: y comes first, then x + residual.": lambda *a: add_layer_norm(*a)[::-1],
    "eps is added outside of the root: it is 1 / √(variance + eps).": variant(
        lambda s, eps: (mean_of(s), 1 / (rstd_of(s, 0.0) ** -1 + eps))
    ),
    "eps is divided by n as well: add it to the variance, not to the sum of squares.": variant(
        lambda s, eps: (mean_of(s), rstd_of(s, eps / s.shape[1]))
    ),
    "eps is the least that the variance may be: it is 1 / √(variance + eps).": variant(
        lambda s, eps: (mean_of(s), (rstd_of(s, 0.0) ** -2).clamp(min=eps).rsqrt())
    ),
    "eps is squared: it is 1 / √(variance + eps).": variant(
        lambda s, eps: (mean_of(s), rstd_of(s, eps * eps))
    ),
    "eps is missing: it is 1 / √(variance + eps).": variant(lambda s, eps: (mean_of(s), rstd_of(s, 0.0))),
    "The eps of the call is not used, but another one, 1e-5.": variant(
        lambda s, eps: (mean_of(s), rstd_of(s, 1e-5))
    ),
    "The variance is divided by n - 1: layer norm divides by n, the number of columns.": variant(
        lambda s, eps: (mean_of(s), (s.var(dim=1, keepdim=True) + eps).rsqrt())
    ),
    "The mean is divided by the block's width: divide by the number of columns.": variant(
        lambda s, eps: (
            share(s) * mean_of(s),
            ((s - share(s) * mean_of(s)).square().mean(dim=1, keepdim=True) + eps).rsqrt(),
        )
    ),
    "The variance is divided by the block's width: divide by the number of columns.": variant(
        lambda s, eps: (mean_of(s), (share(s) * rstd_of(s, 0.0) ** -2 + eps).rsqrt())
    ),
    "Mean and variance are divided by the block's width: divide by the number of columns.": variant(
        lambda s, eps: (
            share(s) * mean_of(s),
            (share(s) * (s - share(s) * mean_of(s)).square().mean(dim=1, keepdim=True) + eps).rsqrt(),
        )
    ),
    "Lanes past the row count in the variance: less the mean they are no longer 0. Mask them again.": variant(
        lambda s, eps: (
            mean_of(s),
            (rstd_of(s, 0.0) ** -2 + (1 / share(s) - 1) * mean_of(s).square() + eps).rsqrt(),
        )
    ),
    "The variance is the mean of s², without subtracting the mean first.": variant(
        lambda s, eps: (mean_of(s), (s.square().mean(dim=1, keepdim=True) + eps).rsqrt())
    ),
    "The gradient of s is dropped: x and residual reach it straight, past the norm. Add ds to dx.": variant(
        outputs=lambda y, s, x, residual: (y, s.detach() + 0 * s)
    ),
    "The gradient of s is added twice.": variant(outputs=lambda y, s, x, residual: (y, 2 * s - s.detach())),
    "Only the gradient of s reaches x and residual: the one through the norm is missing.": variant(
        dx=lambda dy, weight, x_hat, rstd: 0 * dy
    ),
    "The gradient of s reaches x alone: residual goes straight through as well.": variant(
        outputs=straight_to(0)
    ),
    "The gradient of s reaches residual alone: x goes straight through as well.": variant(
        outputs=straight_to(1)
    ),
    "Only the gradient of s reaches residual: it enters the norm like x, so dx is the gradient of both.": (
        lambda x, residual, *rest: (variant()(x, residual.detach(), *rest)[0], x + residual)
    ),
    "dx takes the mean for a constant: subtract the row's mean of dy · weight.": variant(
        dx=lambda *a: dx_of(*a, mean=0.0)
    ),
    "dx takes the deviation for a constant: subtract the part that lies along x_hat.": variant(
        dx=lambda *a: dx_of(*a, deviation=0.0)
    ),
    "dx takes mean and deviation for constants: two means over the row must be subtracted.": variant(
        dx=lambda *a: dx_of(*a, mean=0.0, deviation=0.0)
    ),
    "dx lacks the weight: dy is multiplied by it before everything else.": variant(
        dx=lambda dy, weight, x_hat, rstd: dx_of(dy, torch.ones_like(weight), x_hat, rstd)
    ),
    "dx lacks its last factor, 1 / deviation.": variant(
        dx=lambda dy, weight, x_hat, rstd: dx_of(dy, weight, x_hat, torch.ones_like(rstd))
    ),
    "In dx the mean of dy · weight is divided by the block's width: divide by the columns.": variant(
        dx=lambda dy, *a: dx_of(dy, *a, mean=share(dy))
    ),
    "In dx the mean of dy · weight · x_hat is divided by the block's width, not by the columns.": variant(
        dx=lambda dy, *a: dx_of(dy, *a, deviation=share(dy))
    ),
    "In dx both means are divided by the block's width: divide by the number of columns.": variant(
        dx=lambda dy, *a: dx_of(dy, *a, mean=share(dy), deviation=share(dy))
    ),
    "In dx both means are sums: divide them by the number of columns.": variant(
        dx=lambda dy, *a: dx_of(dy, *a, mean=dy.shape[1], deviation=dy.shape[1])
    ),
    "dweight is summed with s: it takes the normalised row, x_hat.": variant(
        sums=lambda dy, weight, x_hat, s, y: (dy * s, dy)
    ),
    "dweight is summed with y: it takes x_hat, which is y before weight and bias.": variant(
        sums=lambda dy, weight, x_hat, s, y: (dy * y, dy)
    ),
    "dweight and dbias take dy · weight: they take dy as it comes.": variant(
        sums=lambda dy, weight, x_hat, s, y: (dy * weight * x_hat, dy * weight)
    ),
    "dweight and dbias are swapped.": variant(sums=lambda dy, weight, x_hat, s, y: (dy, dy * x_hat)),
    "dweight and dbias hold the rows of one program alone: add all n_parts partial sums.": counted(
        lambda row, half, m: row < half
    ),
    "dweight and dbias hold the last row of each program alone: every row adds to them.": counted(last),
    "The last row of each program is left out of dweight and dbias.": counted(
        lambda row, half, m: (row != half - 1) & (row != m - 1)
    ),
    "The rows of two programs overlap: some are counted twice in dweight and dbias.": counted(
        lambda row, half, m: 1 + (row == half)
    ),
}
if torch.cuda.is_available():
    SUSPECTS |= {
        "dweight and dbias hold the last row of each program alone: every row adds to them. "
        f"(Programs: {each_sm} for each SM.)": counted(last, each_sm)
        for each_sm in (1, 2, 4, 8, 16, 32)
    }
