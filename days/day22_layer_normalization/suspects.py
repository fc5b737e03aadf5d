"""What a learner may have computed on day 22 in the place of a layer norm."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge.formulas.block_bounds import lanes
from grader.challenge.formulas.layer_norm import Vector, layer_norm, mean_of, var_of
from grader.challenge.formulas.stride_suspects import along_rows


def scaled(x_hat: torch.Tensor, weight: Vector, bias: Vector) -> torch.Tensor:
    y = x_hat if weight is None else x_hat * weight
    return y if bias is None else y + bias


def with_var(var: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A layer norm that takes this for the variance."""
    return lambda x, weight, bias, eps: scaled((x - mean_of(x)) / (var(x) + eps).sqrt(), weight, bias)


def with_root(root: Callable[[torch.Tensor, float], torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A layer norm that divides by this, made of the variance and eps."""
    return lambda x, weight, bias, eps: scaled((x - mean_of(x)) / root(var_of(x), eps), weight, bias)


def padding(x: torch.Tensor, block: int) -> int:
    """Lanes without a column: in one block for the whole row when `block` is 0, else in the last block."""
    n = x.shape[1]
    return lanes(n) - n if block == 0 else -n % block


def var_of_lanes(x: torch.Tensor, block: int) -> torch.Tensor:
    """Each lane without a column adds (0 - mean)² to the sum of squares."""
    return var_of(x) + padding(x, block) * mean_of(x).square() / x.shape[1]


def over_lanes(x: torch.Tensor, weight: Vector, bias: Vector, eps: float) -> torch.Tensor:
    """Both sums are divided by the lanes of a block as wide as the row."""
    width = lanes(x.shape[1])
    centred = x - x.sum(dim=1, keepdim=True) / width
    var = centred.square().sum(dim=1, keepdim=True) / width
    return scaled(centred / (var + eps).sqrt(), weight, bias)


def mean_over_lanes(x: torch.Tensor, weight: Vector, bias: Vector, eps: float) -> torch.Tensor:
    centred = x - x.sum(dim=1, keepdim=True) / lanes(x.shape[1])
    return scaled(centred / (mean_of(centred.square()) + eps).sqrt(), weight, bias)


def of_mean(mean: torch.Tensor, x: torch.Tensor, weight: Vector, bias: Vector, eps: float) -> torch.Tensor:
    return scaled((x - mean) / (mean_of((x - mean).square()) + eps).sqrt(), weight, bias)


def by_row(x: torch.Tensor, weight: Vector, bias: Vector, eps: float) -> torch.Tensor:
    """Row i with weight[i] and bias[i], from the start again where there are more rows than columns."""
    weight, bias = (None if v is None else along_rows(v, len(x)) for v in (weight, bias))
    return scaled(layer_norm(x, None, None, eps), weight, bias)


def bias_first(x: torch.Tensor, weight: Vector, bias: Vector, eps: float) -> torch.Tensor:
    return scaled(scaled(layer_norm(x, None, None, eps), None, bias), weight, None)


def one_pass(x: torch.Tensor) -> torch.Tensor:
    """E[x²] - E[x]² in fp32. With the values FAR nothing but the squares is rounded, in whatever order."""
    return (mean_of(x.float().square().double()).float() - mean_of(x).float().square()).double()


def one_pass_fused(x: torch.Tensor) -> torch.Tensor:
    """The same, with mean · mean rounded only after the subtraction, as a fused multiply-add does."""
    return mean_of(x.float().square().double()) - mean_of(x).square()


SUSPECTS = {
    "Masked lanes count in the variance: x - mean makes -mean of their 0. Set them to 0 again.": (
        with_var(lambda x: var_of_lanes(x, 0))
    ),
    "Mean and variance divide by the lanes of a block; divide by the number of columns.": over_lanes,
    "The mean divides by the lanes of a block; divide by the number of columns.": mean_over_lanes,
    "The variance divides by the lanes of a block; divide by the number of columns.": with_var(
        lambda x: var_of(x) * x.shape[1] / lanes(x.shape[1])
    ),
    "The variance divides by n - 1; layer norm divides by n, the biased one.": with_var(
        lambda x: var_of(x) * x.shape[1] / max(x.shape[1] - 1, 1)
    ),
    "The mean divides by n - 1; divide by n, the number of columns.": (
        lambda x, weight, bias, eps: of_mean(
            x.sum(dim=1, keepdim=True) / (x.shape[1] - 1), x, weight, bias, eps
        )
    ),
    "eps is added outside of the root; it belongs inside, to the variance.": with_root(
        lambda var, eps: var.sqrt() + eps
    ),
    "eps is divided by n as well: add it to the variance, not to the sum of squares.": (
        lambda x, weight, bias, eps: layer_norm(x, weight, bias, eps / max(x.shape[1], 1))
    ),
    "eps is the least that the variance may be, max(variance, eps): add it, variance + eps.": with_root(
        lambda var, eps: var.clamp(min=eps).sqrt()
    ),
    "eps is squared: add eps itself to the variance.": with_root(lambda var, eps: (var + eps * eps).sqrt()),
    "eps does not reach the variance: a row of equal numbers then divides by 0.": (
        lambda x, weight, bias, eps: scaled((x - mean_of(x)) / var_of(x).sqrt(), weight, bias)
    ),
    "The rows are divided by the variance; divide by its root.": (
        lambda x, weight, bias, eps: scaled((x - mean_of(x)) / (var_of(x) + eps), weight, bias)
    ),
    "The variance is the mean of x²: subtract the mean before squaring.": with_var(
        lambda x: mean_of(x.square())
    ),
    "E[x²] - E[x]² cancels where the mean is far from 0: subtract the mean first, then square.": (
        with_var(one_pass)
    ),
    "E[x²] - E[x]² falls below 0 where the mean is far from 0: subtract the mean first, then square.": (
        with_var(one_pass_fused)
    ),
    "The mean is still in the result: normalize x - mean, not x.": (
        lambda x, weight, bias, eps: scaled(x / (var_of(x) + eps).sqrt(), weight, bias)
    ),
    "Without a weight the bias is left out too: each of them may be None on its own.": (
        lambda x, weight, bias, eps: layer_norm(x, weight, bias if weight is not None else None, eps)
    ),
    "Without a bias the weight is left out too: each of them may be None on its own.": (
        lambda x, weight, bias, eps: layer_norm(x, weight if bias is not None else None, bias, eps)
    ),
    "The bias is left out.": lambda x, weight, bias, eps: layer_norm(x, weight, None, eps),
    "The weight is left out.": lambda x, weight, bias, eps: layer_norm(x, None, bias, eps),
    "Weight and bias have changed places.": lambda x, weight, bias, eps: layer_norm(x, bias, weight, eps),
    "The bias is added before the weight multiplies; it belongs after.": bias_first,
    "Weight and bias run along the wrong axis: they have one element for each column.": by_row,
    **{
        f"Masked lanes count in the variance: in the last block of {block} columns x - mean makes -mean "
        "of their 0. Set them to 0 again.": with_var(lambda x, block=block: var_of_lanes(x, block))
        for block in (128, 256, 512, 1024, 2048, 4096)
    },
}
