"""What a learner may have computed on day 26 in the place of GELU by erf, and of asinh."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import gelu


def erf_of(x: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.special.erf(x * factor)


def logarithm(x: torch.Tensor) -> torch.Tensor:
    x = x.float()
    return torch.log(x + torch.sqrt(x * x + 1)).double()


def logarithm_of_size(x: torch.Tensor) -> torch.Tensor:
    return torch.copysign(logarithm(x.abs()), x)


def log1p_form(x: torch.Tensor) -> torch.Tensor:
    size = x.float().abs()
    square = size * size
    return torch.copysign(torch.log1p(size + square / (1 + torch.sqrt(square + 1))), x.float()).double()


OF_GELU = {
    "This is the tanh form of GELU; the day asks for erf, up to 5e-4 away.": (
        lambda x: gelu(x, approximate="tanh")
    ),
    "This is x · sigmoid(1.702 x), up to 2e-2 away from GELU by erf.": lambda x: x * torch.sigmoid(1.702 * x),
    "erf is taken of x itself; it belongs to x / √2.": lambda x: 0.5 * x * (1 + erf_of(x, 1.0)),
    "x is multiplied by √2 inside of erf; divide by it.": (lambda x: 0.5 * x * (1 + erf_of(x, math.sqrt(2)))),
    "x is divided by 2 inside of erf; divide by √2.": lambda x: 0.5 * x * (1 + erf_of(x, 0.5)),
    "This is (1 + erf(x / √2)) / 2: the factor x in front of it is missing.": (
        lambda x: 0.5 * (1 + erf_of(x, math.sqrt(0.5)))
    ),
    "This is erf(x / √2) alone; GELU is x / 2 · (1 + erf(x / √2)).": lambda x: erf_of(x, math.sqrt(0.5)),
    "The 1 before erf(x / √2) is missing.": lambda x: 0.5 * x * erf_of(x, math.sqrt(0.5)),
    "erfc stands where erf belongs: erfc(z) is 1 - erf(z).": lambda x: (
        0.5 * x * (1 + torch.special.erfc(x * math.sqrt(0.5)))
    ),
}

OF_ASINH = {
    "log(x + √(x² + 1)) cancels near 0 and for negative x, and x² overflows; libdevice.asinh is right.": (
        logarithm
    ),
    "log(|x| + √(x² + 1)) loses a small |x| beside the 1, and x² overflows; libdevice.asinh is right.": (
        logarithm_of_size
    ),
    "x² overflows where |x| passes 1.8e19; libdevice.asinh takes any x.": log1p_form,
    "The sign is lost: asinh(-x) is -asinh(x).": lambda x: torch.asinh(x).abs(),
    "This is acosh, which has no value below 1; the day asks for asinh.": lambda x: torch.acosh(x),
    "This is asin, of the circle; the day asks for asinh.": lambda x: torch.asin(x),
    "This is sinh; the day asks for its inverse.": lambda x: torch.sinh(x),
    "This is atanh, which has no value beyond 1; the day asks for asinh.": lambda x: torch.atanh(x),
    "The logarithm is in base 2; the natural one is asked for.": lambda x: torch.asinh(x) / math.log(2),
}
