"""Wrong Gaussian blurs, by the sentence that says so."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

Places = Callable[[Tensor, int], Tensor]


def reflected(at: Tensor, n: int) -> Tensor:
    """A row goes on backwards, and its last element does not come twice."""
    return n - 1 - (n - 1 - at.abs()).abs()


def repeated(at: Tensor, n: int) -> Tensor:
    """A row goes on backwards, and its last element comes twice."""
    at = torch.where(at < 0, -1 - at, at)
    return torch.where(at >= n, 2 * n - 1 - at, at)


def held(at: Tensor, n: int) -> Tensor:
    """A row goes on with its last element."""
    return at.clamp(0, n - 1)


def around(at: Tensor, n: int) -> Tensor:
    """A row goes on with its first element."""
    return at % n


def gauss(sigma: float, radius: int) -> list[float]:
    """exp(-i² / 2σ²) for |i| ≤ radius, in double precision."""
    return [math.exp(-i * i / (2 * sigma * sigma)) for i in range(-radius, radius + 1)]


def along(x: Tensor, dim: int, weights: list[float], places: Places) -> Tensor:
    """The weighted sums along one dimension; the middle weight is the element's own."""
    n, radius = x.shape[dim], len(weights) // 2
    at = torch.arange(n, device=x.device)
    parts = (
        weight * x.index_select(dim, places(at + i, n)) for i, weight in enumerate(weights, start=-radius)
    )
    return sum(parts, torch.zeros_like(x))


def blur(
    x: Tensor,
    sigma: float,
    radius: int,
    places: Places = reflected,
    weights: Callable[[float, int], list[float]] = gauss,
    whole: Callable[[list[float], float], float] = lambda weights, sigma: sum(weights),
    dims: tuple[int, ...] = (1, 0),
) -> Tensor:
    """Both passes in fp32 or wider, rounded once; `places` says what lies beyond the ends of a row.

    Args:
        whole: what weights are divided by, from the weights and sigma.
        dims: along which dimensions there is a pass.
    """
    wide = x if x.dtype == torch.float64 else x.float()
    factors = weights(sigma, radius)
    divided = [factor / whole(factors, sigma) for factor in factors]
    for dim in dims:
        wide = along(wide, dim, divided, places)
    return wide.to(x.dtype)


def dark(x: Tensor, sigma: float, radius: int, again: bool = False) -> Tensor:
    """Someone to whom elements outside are 0; with `again`, what is inside is divided by its weights."""
    h, w = x.shape
    padded = torch.nn.functional.pad(x.double(), (radius, radius, radius, radius))
    result = blur(padded, sigma, radius)
    if again:
        ones = torch.nn.functional.pad(torch.ones_like(x).double(), (radius, radius, radius, radius))
        result = result / blur(ones, sigma, radius)
    return result[radius : radius + h, radius : radius + w].to(x.dtype)


def short(sigma: float, radius: int) -> list[float]:
    """The weights but the last, which is 0."""
    return [*gauss(sigma, radius)[:-1], 0.0] if radius else gauss(sigma, radius)


SUSPECTS: dict[str, Callable[..., Tensor]] = {
    "Weights are not divided by anything: they have to add up to 1.": lambda x, sigma, radius: blur(
        x, sigma, radius, whole=lambda weights, sigma: 1.0
    ),
    "Weights are divided by σ·√(2π): cut off at radius, they add up to less, so divide by their sum.": (
        lambda x, sigma, radius: blur(
            x, sigma, radius, whole=lambda weights, sigma: sigma * math.sqrt(2 * math.pi)
        )
    ),
    "The exponent is -i² / 2σ: sigma has to be squared.": lambda x, sigma, radius: blur(
        x, math.sqrt(sigma), radius
    ),
    "The exponent is -i² / σ²: the 2 below it is missing.": lambda x, sigma, radius: blur(
        x, sigma / math.sqrt(2), radius
    ),
    "The exponent is -i / 2σ²: i has to be squared.": lambda x, sigma, radius: blur(
        x,
        sigma,
        radius,
        weights=lambda sigma, radius: [
            math.exp(-abs(i) / (2 * sigma**2)) for i in range(-radius, radius + 1)
        ],
    ),
    "All weights are alike: it is the mean of a box.": lambda x, sigma, radius: blur(
        x, sigma, radius, weights=lambda sigma, radius: [1.0] * (2 * radius + 1)
    ),
    "Edges reflect and repeat the last element: -1 stands for 1, not for 0.": lambda x, sigma, radius: blur(
        x, sigma, radius, repeated
    ),
    "Edges go on with their last element, and are to reflect: -1 stands for 1, -2 for 2.": (
        lambda x, sigma, radius: blur(x, sigma, radius, held)
    ),
    "Rows and columns go on at their other end, and are to reflect: -1 stands for 1.": (
        lambda x, sigma, radius: blur(x, sigma, radius, around)
    ),
    "Beyond the edges lie zeros, and edges are to reflect: -1 stands for 1.": dark,
    "At the edges only the elements inside count, and edges are to reflect: -1 stands for 1.": (
        lambda x, sigma, radius: dark(x, sigma, radius, again=True)
    ),
    "Rows alone are blurred: the pass down the columns is missing.": lambda x, sigma, radius: blur(
        x, sigma, radius, dims=(1,)
    ),
    "Columns alone are blurred: the pass along the rows is missing.": lambda x, sigma, radius: blur(
        x, sigma, radius, dims=(0,)
    ),
    "Both passes go along the rows: the second has to go down the columns.": lambda x, sigma, radius: blur(
        x, sigma, radius, dims=(1, 1)
    ),
    "The last weight is left out: i goes up to radius, included.": lambda x, sigma, radius: blur(
        x, sigma, radius, weights=short
    ),
}
