"""What a learner may have computed on day 25, forwards or backwards, of x, p, seed and what was kept."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.challenge.formulas.dropout import dropout


def backward(wrong: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function with the right values and the gradient of `wrong`."""

    def both(x: Tensor, p: float, seed: int, keep: Tensor) -> Tensor:
        guess = wrong(x, p, keep)
        return guess - guess.detach() + dropout(x, p, seed, keep).detach()

    return both


SUSPECTS = {
    "The gradient is not scaled: dx is dy / (1 - p) where x was kept.": backward(
        lambda x, p, keep: torch.where(keep, x, 0)
    ),
    "The gradient of dropped elements is not 0: dx is dy / (1 - p) only where x was kept.": backward(
        lambda x, p, keep: x / (1 - p or 1)
    ),
    "dy is handed on as it is: dx is dy / (1 - p) where x was kept, and 0 elsewhere.": backward(
        lambda x, p, keep: x
    ),
    "The gradient is scaled twice.": backward(lambda x, p, keep: torch.where(keep, x, 0) / (1 - p or 1) ** 2),
    "Kept elements are not scaled: divide them by 1 - p, and the mean of y stays that of x.": (
        lambda x, p, seed, keep: torch.where(keep, x, 0)
    ),
    "Kept elements are divided by p where 1 - p, the share that is kept, is right.": (
        lambda x, p, seed, keep: torch.where(keep, x / (p or 1), 0)
    ),
    "Kept elements are multiplied by 1 - p where they should be divided by it.": (
        lambda x, p, seed, keep: torch.where(keep, x * (1 - p), 0)
    ),
    "Dropped elements are multiplied by 0, and 0 · Inf is NaN: choose, as tl.where does.": (
        lambda x, p, seed, keep: x * keep / (1 - p or 1)
    ),
    "At p = 1 the scale 1 / (1 - p) is Inf, and 0 · Inf is NaN: choose 0, do not multiply by it.": (
        lambda x, p, seed, keep: x * keep * (1 / (1 - p) if p < 1 else torch.inf)
    ),
}
