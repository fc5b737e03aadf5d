"""Layer normalisation of rows [m, n]: y = (x - mean) / √(variance + eps) · weight + bias.

Source: Ba, Kiros and Hinton, Layer Normalization (2016, arXiv:1607.06450): mean and deviation are equation 3.
"""

from __future__ import annotations

import torch
from torch import Tensor

Vector = Tensor | None


def layer_norm(x: Tensor, weight: Vector, bias: Vector, eps: float) -> Tensor:
    """torch's, over the columns; weight and bias are [n], or None."""
    return torch.nn.functional.layer_norm(x, x.shape[1:], weight, bias, eps)


def add_layer_norm(
    x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor, eps: float
) -> tuple[Tensor, Tensor]:
    """The norm of s = x + residual, and s."""
    s = x + residual
    return layer_norm(s, weight, bias, eps), s


def mean_of(x: Tensor) -> Tensor:
    """Of each row, [m, 1]."""
    return x.mean(dim=1, keepdim=True)


def var_of(x: Tensor) -> Tensor:
    """Of each row, [m, 1]: the biased variance, divided by n."""
    return mean_of((x - mean_of(x)).square())


def rstd_of(x: Tensor, eps: float) -> Tensor:
    """1 / √(variance + eps) of each row, [m, 1]."""
    return (var_of(x) + eps).rsqrt()


def dx_of(
    dy: Tensor, weight: Tensor, x_hat: Tensor, rstd: Tensor, mean: float = 1.0, deviation: float = 1.0
) -> Tensor:
    """The gradient that comes through the norm, as day 23 has it, with factors for what it subtracts.

    Args:
        dy: of the result.
        x_hat: the normalised rows.
        rstd: 1 / deviation of the rows, [m, 1].
        mean: times the row's mean of dy · weight.
        deviation: times the part of dy · weight that lies along x_hat.
    """
    dx_hat = dy * weight
    return rstd * (dx_hat - mean * mean_of(dx_hat) - deviation * x_hat * mean_of(dx_hat * x_hat))
