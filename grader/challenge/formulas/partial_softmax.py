"""Softmaxes over parts of the keys, merged: (m, l, o), of a row its maximum, its sum, and Σ exp(s - m) v.

Source: Milakov and Gimelshein, Online normalizer calculation for softmax (2018, arXiv:1805.02867), section
3.1, for m and l; Dao et al., FlashAttention (2022, arXiv:2205.14135), section 3.1, for o.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Part = tuple[Tensor, Tensor, Tensor]  # [rows], [rows] and [rows, D]
Weight = Callable[[Tensor, Tensor, Tensor], Tensor]


def shrunk(own: Tensor, other: Tensor, m: Tensor) -> Tensor:
    """The factor of what was summed relative to `own` when it is to be relative to m: exp(own - m)."""
    return torch.exp(own - m)


def merging(weight1: Weight, weight2: Weight) -> Callable[..., Part]:
    """The merge of someone who weighs each part by such a function of (its m, the other's m, the new m)."""

    def merged(m1: Tensor, l1: Tensor, o1: Tensor, m2: Tensor, l2: Tensor, o2: Tensor) -> Part:
        m = torch.maximum(m1, m2)
        a1, a2 = weight1(m1, m2, m).nan_to_num(0.0), weight2(m2, m1, m).nan_to_num(0.0)
        return m, l1 * a1 + l2 * a2, o1 * a1[:, None] + o2 * a2[:, None]

    return merged


merge = merging(shrunk, shrunk)
