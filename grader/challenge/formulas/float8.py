"""8-bit floats: rounding to codes, and where either of two is right."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge.formulas.dtypes import E4M3

LARGEST = 448.0  # of e4m3
NEAR = 2.0**-20  # of an exact quotient: within it of a rounding boundary it is a near tie


def codes(values: Tensor) -> Tensor:
    """Numbers → e4m3, rounded to nearest even; what is too large is cut to the largest."""
    return values.clamp(-LARGEST, LARGEST).to(E4M3)


def nearly(got: Tensor, exact: Tensor) -> Tensor:
    """Which codes, in fp32, are the nearest to what lies within NEAR of an exact quotient, fp64; bool."""
    return (got == codes(exact * (1 - NEAR)).float()) | (got == codes(exact * (1 + NEAR)).float())


def tied(exact: Tensor) -> Tensor:
    """Which exact quotients, fp64, are near ties; bool."""
    return codes(exact * (1 - NEAR)).float() != codes(exact * (1 + NEAR)).float()


def halfway(picks: Tensor) -> Tensor:
    """Numbers that lie halfway between a code and the next, the `picks`-th of 126; fp32."""
    below = picks.to(torch.uint8)
    return (below.view(E4M3).float() + (below + 1).view(E4M3).float()) / 2
