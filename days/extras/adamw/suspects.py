"""Steps of other optimisers, and of an AdamW in which something is forgotten."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

Step = Callable[..., tuple[Tensor, Tensor, Tensor]]


def step_of(
    p: Tensor, g: Tensor, m: Tensor, v: Tensor, lr, beta1, beta2, eps, weight_decay, step, *, how: str = ""
) -> tuple[Tensor, Tensor, Tensor]:
    """AdamW by Loshchilov and Hutter, algorithm 2; param, exp_avg and exp_avg_sq of any one dtype, [n].

    Args:
        how: what is done otherwise, one of SUSPECTS' words.
    """
    g = g + weight_decay * p if how == "coupled" else g
    share1, share2 = 1 - beta1, 1 - beta2
    if how == "narrow":
        share1, share2 = (float(1 - torch.tensor(beta)) for beta in (beta1, beta2))
    old, old_sq = m, v
    m = beta1 * m + (1 if how == "unweighted" else share1) * g
    v = beta2 * v + share2 * (g if how == "linear" else g * g)
    earlier = max(step - 1, 1)  # at 1 it is 0 / 0, and Python says so itself
    first = 1 - beta1 ** (earlier if how in ("from 0", "first from 0") else step)
    second = 1 - beta2 ** (earlier if how in ("from 0", "second from 0") else step)
    first = 1.0 if how in ("uncorrected", "first uncorrected") else first
    second = 1.0 if how in ("uncorrected", "second uncorrected") else second
    used, used_sq = (old, old_sq) if how == "late" else (m, v)
    root = (used_sq / second).sqrt() + eps
    if how == "eps inside":
        root = (used_sq / second + eps).sqrt()
    if how == "eps corrected":
        root = (used_sq.sqrt() + eps) / math.sqrt(second)
    root = used_sq / second + eps if how == "no root" else root
    decay = {"coupled": 0.0, "no decay": 0.0, "whole decay": weight_decay}.get(how, lr * weight_decay)
    moved = lr * (used / first) / root
    if how == "decayed late":
        return (p - moved) * (1 - decay), m, v
    return p * (1 - decay) + (moved if how == "up" else -moved), m, v


def _but(how: str) -> Step:
    return lambda *arguments: step_of(*arguments, how=how)


SUSPECTS: dict[str, Step] = {
    f"{sentence}.": _but(how)
    for how, sentence in {
        "coupled": "Weight decay is added to the gradient, an L2 term: AdamW takes lr · weight_decay · param "
        "off param itself, and the states never see it",
        "no decay": "Weight decay is left out",
        "whole decay": "Weight decay lacks lr: param shrinks by lr · weight_decay",
        "uncorrected": "The bias corrections are missing: states that begin at 0 are divided by 1 − βᵗ",
        "first uncorrected": "exp_avg lacks its bias correction, 1 − beta1ᵗ",
        "second uncorrected": "exp_avg_sq lacks its bias correction, 1 − beta2ᵗ",
        "from 0": "The step is counted from 0 in the bias corrections: the first one is 1",
        "first from 0": "The step is counted from 0 in exp_avg's bias correction: the first one is 1",
        "second from 0": "The step is counted from 0 in exp_avg_sq's bias correction: the first one is 1",
        "decayed late": "Weight decay comes after the step: param shrinks first, and is moved then",
        "eps inside": "eps is added inside of the root",
        "eps corrected": "eps is divided by the root of the bias correction too: it is added last",
        "no root": "The root of exp_avg_sq is missing",
        "linear": "exp_avg_sq takes in the gradient, not its square",
        "unweighted": "exp_avg takes in the whole gradient, not 1 − beta1 of it",
        "late": "param moves by the states as they were before this step",
        "up": "param moves along the gradient, uphill",
        "narrow": "1 − beta was taken in fp32, where a beta near 1 leaves few digits: subtract in Python",
    }.items()
}
