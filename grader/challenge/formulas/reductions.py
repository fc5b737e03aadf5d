"""Rows reduced to a few numbers."""

from __future__ import annotations

import torch
from torch import Tensor


def row_stats(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Of each row of x[m, n]: mean in fp32 or better, max in x's dtype, and the first of equal maxima."""
    largest, where = x.max(dim=1)
    return x.to(torch.promote_types(x.dtype, torch.float32)).mean(dim=1), largest, where
