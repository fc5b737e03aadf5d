"""An embedding, and what a learner may have computed in its place, forwards or backwards."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional


def embedding(weight: Tensor, ids: Tensor, padding_idx: int) -> Tensor:
    """torch's, which takes -1 for the last row where here it means none."""
    return functional.embedding(ids, weight, padding_idx=None if padding_idx < 0 else padding_idx)


def looking_up(rows: Callable[[Tensor, Tensor, int], Tensor]):
    """The rows of other ids."""
    return lambda weight, ids, padding_idx: weight[rows(weight, ids, padding_idx)]


def scattering(dweight: Callable[[Tensor, Tensor, Tensor, int], Tensor]):
    """The right rows, with another gradient: from weight, dy [n, d], ids [n] and padding_idx."""

    def wrong(weight: Tensor, ids: Tensor, padding_idx: int) -> Tensor:
        class Lookup(torch.autograd.Function):
            @staticmethod
            def forward(ctx, weight):
                return weight[ids]

            @staticmethod
            def backward(ctx, dy):
                return dweight(weight.detach(), dy.reshape(-1, dy.shape[-1]), ids.reshape(-1), padding_idx)

        return Lookup.apply(weight)

    return wrong


def added(weight: Tensor, dy: Tensor, ids: Tensor) -> Tensor:
    return torch.zeros_like(weight).index_add(0, ids, dy)


def without(row: int, sums: Tensor) -> Tensor:
    """The sums with this row 0."""
    return torch.where((torch.arange(len(sums), device=sums.device) == row)[:, None], 0.0, sums)


def one_of_each(weight: Tensor, dy: Tensor, ids: Tensor, keep_last: bool) -> Tensor:
    """Of the tokens of each id only the first, or the last."""
    place = torch.arange(len(ids), device=ids.device)
    fill, reduce = (-1, "amax") if keep_last else (len(ids), "amin")
    chosen = torch.full((len(weight),), fill, device=ids.device).scatter_reduce(0, ids, place, reduce)
    return added(weight, dy * (chosen[ids] == place)[:, None], ids)


def numbered(weight: Tensor, ids: Tensor, _: int) -> Tensor:
    """Rows in the order of the tokens."""
    return (torch.arange(ids.numel(), device=ids.device) % len(weight)).reshape(ids.shape)


def times(weight: Tensor, ids: Tensor) -> Tensor:
    """How many tokens have the id of each, [n]."""
    return torch.bincount(ids, minlength=len(weight))[ids]


SUSPECTS = {
    "The token's place is taken for its id: row ids[t] is wanted, and this is row t.": looking_up(numbered),
    "Every token gets the row of the first one.": looking_up(
        lambda w, ids, p: ids.reshape(-1)[:1].expand(ids.numel()).reshape(ids.shape)
    ),
    "The padded row comes out as zeros: it is read as it stands, and only its gradient is 0.": (
        lambda weight, ids, p: weight[ids] * (ids != p)[..., None]
    ),
    "The padded row gets a gradient: it is 0, whatever comes.": scattering(
        lambda w, dy, ids, p: added(w, dy, ids)
    ),
    "padding_idx 0 is taken for none: only -1 means that.": scattering(
        lambda w, dy, ids, p: without(p or -1, added(w, dy, ids))
    ),
    "padding_idx -1 is taken for the last row: it means that there is none.": scattering(
        lambda w, dy, ids, p: without(p % len(w), added(w, dy, ids))
    ),
    "Of several tokens with one id the last one alone counts: their gradients add up.": scattering(
        lambda w, dy, ids, p: without(p, one_of_each(w, dy, ids, True))
    ),
    "Of several tokens with one id the first one alone counts: their gradients add up.": scattering(
        lambda w, dy, ids, p: without(p, one_of_each(w, dy, ids, False))
    ),
    "The gradients of a row's tokens are averaged: they add up.": scattering(
        lambda w, dy, ids, p: without(p, added(w, dy / times(w, ids)[:, None], ids))
    ),
    "dy is left out: this is how often each row was read.": scattering(
        lambda w, dy, ids, p: without(p, added(w, torch.ones_like(dy), ids))
    ),
}
