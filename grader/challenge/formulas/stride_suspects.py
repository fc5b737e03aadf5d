"""What a tensor looks like to someone who misreads it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad


def through(strides: Sequence[int], x: Tensor) -> Tensor:
    """A contiguous x as it looks through these strides; zeros where they lead out of it, or x is not."""
    last = sum((size - 1) * step for size, step in zip(x.shape, strides, strict=True))
    inside = x.is_contiguous() and 0 <= last < x.numel()
    return x.as_strided(x.shape, tuple(strides)) if inside else torch.zeros_like(x)


def swapped_strides(x: Tensor) -> Tensor:
    """A matrix to someone who mixes up its strides: x[i, j] is looked for at i + j · width."""
    return through((1, x.shape[1]), x.contiguous())


def with_heads_of(q: Tensor, x: Tensor) -> Tensor:
    """x[B, H, S, D] to someone who finds its heads with the strides of q."""
    strides = (*q.stride()[:2], *x.stride()[2:])
    return through(strides, x) if q.is_contiguous() else torch.zeros_like(x)


def first_heads(x: Tensor) -> Tensor:
    """x[B, H, S, D] to someone who finds head 0 everywhere."""
    return x[:, :1].expand(x.shape)


def along_rows(vector: Tensor, rows: int) -> Tensor:
    """A vector with one element for each column to someone who takes them for those of the rows: [rows, 1].

    Where there are more rows than columns it starts again.
    """
    return vector[torch.arange(rows, device=vector.device) % len(vector)][:, None]


def stretched(vector: Tensor, size: int) -> Tensor:
    """A vector that is taken for another of `size` elements: 0 behind its end; fp64."""
    return pad(vector.double(), (0, max(size - len(vector), 0)))[:size]
