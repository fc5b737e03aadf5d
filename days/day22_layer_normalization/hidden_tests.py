"""Day 22: layer normalization over rows, each element read once and written once, at 0.60 of a plain copy."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn.functional import layer_norm

from grader.challenge import Case, Challenge, Memory, Own, Speed

FAR = Own("far")
HALF, BRAIN = torch.float16, torch.bfloat16
Vector = torch.Tensor | None
Arguments = tuple[torch.Tensor, Vector, Vector, float]


def inputs(case: Case, draw) -> Arguments:
    """x laid out as the case says; weight and bias are contiguous, or None where the case says so.

    FAR are numbers 8192 and 8193: fp32 has their squares in steps of 8, and the variance is a quarter.
    """
    layout = "offset" if case.layout == "offset" else "contiguous"

    def vector(name: str) -> Vector:
        return draw(case.cols, layout=layout, values="normal") if case.get(name, True) else None

    if case.values == FAR:
        x = draw(case.rows, case.cols, values="normal")
        x.copy_((x > 0) + 8192.0)
    else:
        x = draw(case.rows, case.cols)
    return x, vector("weight"), vector("bias"), case.get("eps", 1e-5)


def reference(x: torch.Tensor, weight: Vector, bias: Vector, eps: float) -> torch.Tensor:
    return layer_norm(x, x.shape[-1:], weight, bias, eps)


def mean_of(x: torch.Tensor) -> torch.Tensor:
    return x.mean(dim=1, keepdim=True)


def var_of(x: torch.Tensor) -> torch.Tensor:
    return x.var(dim=1, unbiased=False, keepdim=True)


def scaled(x_hat: torch.Tensor, weight: Vector, bias: Vector) -> torch.Tensor:
    y = x_hat if weight is None else x_hat * weight
    return y if bias is None else y + bias


def with_var(var: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A layer norm that takes this for the variance."""
    return lambda x, weight, bias, eps: scaled((x - mean_of(x)) / (var(x) + eps).sqrt(), weight, bias)


def padding(x: torch.Tensor, block: int) -> int:
    """Lanes without a column: in one block for the whole row when `block` is 0, else in the last block."""
    n = x.shape[1]
    return (1 << (n - 1).bit_length()) - n if block == 0 else -n % block


def var_of_lanes(x: torch.Tensor, block: int) -> torch.Tensor:
    """Each lane without a column adds (0 - mean)² to the sum of squares."""
    return var_of(x) + padding(x, block) * mean_of(x).square() / x.shape[1]


def over_lanes(x: torch.Tensor, weight: Vector, bias: Vector, eps: float) -> torch.Tensor:
    """Both sums are divided by the lanes of a block as wide as the row."""
    lanes = x.shape[1] + padding(x, 0)
    centred = x - x.sum(dim=1, keepdim=True) / lanes
    var = centred.square().sum(dim=1, keepdim=True) / lanes
    return scaled(centred / (var + eps).sqrt(), weight, bias)


def mean_over_lanes(x: torch.Tensor, weight: Vector, bias: Vector, eps: float) -> torch.Tensor:
    centred = x - x.sum(dim=1, keepdim=True) / (x.shape[1] + padding(x, 0))
    return scaled(centred / (mean_of(centred.square()) + eps).sqrt(), weight, bias)


def by_row(x: torch.Tensor, weight: Vector, bias: Vector, eps: float) -> torch.Tensor:
    """Row i with weight[i] and bias[i], from the start again where there are more rows than columns."""
    row = torch.arange(len(x), device=x.device) % x.shape[1]
    weight, bias = (None if v is None else v[row][:, None] for v in (weight, bias))
    return scaled(reference(x, None, None, eps), weight, bias)


def bias_first(x: torch.Tensor, weight: Vector, bias: Vector, eps: float) -> torch.Tensor:
    return scaled(scaled(reference(x, None, None, eps), None, bias), weight, None)


def one_pass(x: torch.Tensor) -> torch.Tensor:
    """E[x²] - E[x]² in fp32. With the `far` values nothing but the squares is rounded, in whatever order."""
    return (mean_of(x.float().square().double()).float() - mean_of(x).float().square()).double()


def one_pass_fused(x: torch.Tensor) -> torch.Tensor:
    """The same, with mean · mean rounded only after the subtraction, as a fused multiply-add does."""
    return mean_of(x.float().square().double()) - mean_of(x).square()


big = Case(rows=16384, cols=4096, dtype=BRAIN, gpu=True)

challenge = Challenge(
    entry="layer_norm",
    inputs=inputs,
    reference=reference,
    rowwise=True,
    cases=[
        Case(rows=4, cols=8),
        Case(rows=1, cols=1),
        Case(rows=5, cols=1),
        Case(rows=0, cols=8),
        Case(rows=7, cols=7),
        Case(rows=2, cols=33),
        Case(rows=131, cols=65),
        Case(rows=3, cols=127),
        Case(rows=64, cols=128),
        Case(rows=3, cols=129),
        Case(rows=37, cols=781),
        Case(rows=5, cols=1023),
        Case(rows=5, cols=1025),
        Case(rows=3, cols=4096),
        Case(rows=3, cols=4099),
        Case(rows=2, cols=16384),
        Case(rows=6, cols=50, weight=False),
        Case(rows=6, cols=50, bias=False),
        Case(rows=6, cols=50, weight=False, bias=False),
        Case(rows=6, cols=50, eps=0.5),
        Case(rows=9, cols=100, dtype=HALF),
        Case(rows=9, cols=100, dtype=BRAIN),
        Case(rows=9, cols=100, weight=False, bias=False, dtype=BRAIN),
        Case(rows=2, cols=10007, dtype=HALF),
        Case(rows=4, cols=20, layout="sliced"),
        Case(rows=7, cols=1025, layout="sliced"),
        Case(rows=7, cols=200, layout="sliced", dtype=HALF),
        Case(rows=5, cols=64, layout="offset"),
        Case(rows=5, cols=64, layout="offset", dtype=BRAIN),
        Case(rows=6, cols=50, layout="expanded"),
        Case(rows=5, cols=70, values="large"),
        Case(rows=5, cols=70, values="large", dtype=HALF),
        Case(rows=5, cols=300, values="heavy"),
        Case(rows=5, cols=300, values="heavy", dtype=HALF),
        Case(rows=5, cols=300, values="negative"),
        Case(rows=5, cols=300, values="negative", dtype=HALF),
        Case(rows=3, cols=4096, values="negative", dtype=BRAIN),
        Case(rows=5, cols=300, values="integers"),
        Case(rows=5, cols=64, values="constant"),
        Case(rows=5, cols=100, values="constant", eps=0.1, dtype=HALF),
        Case(rows=8, cols=64, values=FAR, eps=1.0),
        Case(rows=5, cols=77, values="spike"),
        Case(rows=5, cols=77, values="rising"),
        Case(rows=5, cols=77, values="inf"),
        Case(rows=5, cols=77, values="nan"),
        Case(rows=4, cols=60, calls=2),
        Case(rows=2**17 + 1, cols=16384, dtype=HALF, layout="expanded", gpu=True),
    ],
    suspects={
        "Masked lanes count in the variance: x - mean makes -mean of their 0. Set them to 0 again.": (
            with_var(lambda x: var_of_lanes(x, 0))
        ),
        "Mean and variance divide by the lanes of a block; divide by the number of columns.": over_lanes,
        "The mean divides by the lanes of a block; divide by the number of columns.": mean_over_lanes,
        "The variance divides by the lanes of a block; divide by the number of columns.": with_var(
            lambda x: var_of(x) * x.shape[1] / (x.shape[1] + padding(x, 0))
        ),
        "The variance divides by n - 1; layer norm divides by n, the biased one.": with_var(
            lambda x: var_of(x) * x.shape[1] / max(x.shape[1] - 1, 1)
        ),
        "eps is added outside of the root; it belongs inside, to the variance.": (
            lambda x, weight, bias, eps: scaled((x - mean_of(x)) / (var_of(x).sqrt() + eps), weight, bias)
        ),
        "eps is left out: a row of equal numbers then divides by 0.": (
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
            lambda x, weight, bias, eps: reference(x, weight, bias if weight is not None else None, eps)
        ),
        "Without a bias the weight is left out too: each of them may be None on its own.": (
            lambda x, weight, bias, eps: reference(x, weight if bias is not None else None, bias, eps)
        ),
        "The bias is left out.": lambda x, weight, bias, eps: reference(x, weight, None, eps),
        "The weight is left out.": lambda x, weight, bias, eps: reference(x, None, bias, eps),
        "Weight and bias have changed places.": lambda x, weight, bias, eps: reference(x, bias, weight, eps),
        "The bias is added before the weight multiplies; it belongs after.": bias_first,
        "Weight and bias run along the wrong axis: they have one element for each column.": by_row,
        **{
            f"Masked lanes count in the variance: in the last block of {block} columns x - mean makes -mean "
            "of their 0. Set them to 0 again.": with_var(lambda x, block=block: var_of_lanes(x, block))
            for block in (128, 256, 512, 1024, 2048, 4096)
        },
    },
    speed=Speed(big, moved=lambda x, weight, bias, eps: 2 * x.nbytes + 2 * weight.nbytes, of_copy=0.60),
    # A few numbers a row, such as mean and variance, are no second matrix.
    memory=Memory(big, extra=lambda x, *_: 16 * len(x)),
)
