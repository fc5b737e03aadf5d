"""What a learner may have computed in the place of an attention layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import linear

from grader.challenge.formulas.attention import attention


def by_tokens(qkv: Tensor, num_heads: int) -> Tensor:
    """[b, s, 3e] as heads of q, k and v, [3, b, h, s, d]."""
    return qkv.unflatten(2, (3, num_heads, qkv.shape[2] // 3 // num_heads)).permute(2, 0, 3, 1, 4)


def heads_first(qkv: Tensor, num_heads: int) -> Tensor:
    """To someone who splits the heads off before the sequence: the numbers of other tokens."""
    b, s, width = qkv.shape
    shape = (b, num_heads, s, width // 3 // num_heads)
    return torch.stack([part.reshape(shape) for part in qkv.chunk(3, dim=2)])


def interleaved(qkv: Tensor, num_heads: int) -> Tensor:
    """To someone for whom each head has its q, k and v side by side."""
    return qkv.unflatten(2, (num_heads, 3, qkv.shape[2] // 3 // num_heads)).permute(3, 0, 2, 1, 4)


def merged(context: Tensor) -> Tensor:
    """[b, h, s, d] as [b, s, e]."""
    return context.transpose(1, 2).flatten(2)


class Layer(NamedTuple):
    """An attention layer; what may be done otherwise is a field.

    Attributes:
        split: the heads of q, k and v.
        order: which of the three are taken for q, k and v.
        scale: of the scores, from e and d.
        masks: whether there is a mask, from causal.
        merge: what the output projection reads.
        seen: a weight as they read it.
        biases: how often each bias is added, that of qkv and that behind the output.
    """

    split: Callable[[Tensor, int], Tensor] = by_tokens
    order: tuple[int, int, int] = (0, 1, 2)
    scale: Callable[[int, int], float] = lambda e, d: d**-0.5
    masks: Callable[[bool], bool] = lambda causal: causal
    merge: Callable[[Tensor], Tensor] = merged
    seen: Callable[[Tensor], Tensor] = lambda w: w
    biases: tuple[int, int] = (1, 1)

    def __call__(self, x, w_qkv, b_qkv, w_out, b_out, num_heads, causal) -> Tensor:
        b_qkv, b_out = (
            bias if bias is None else bias * times
            for bias, times in zip((b_qkv, b_out), self.biases, strict=True)
        )
        heads = self.split(linear(x, w_qkv, b_qkv), num_heads)
        q, k, v = (heads[number] for number in self.order)
        context = attention(q, k, v, self.scale(x.shape[2], q.shape[3]), self.masks(causal))
        return linear(self.merge(context), self.seen(w_out), b_out)


ORDER = "The rows of w_qkv are those of q, then those of k, then those of v"

SUSPECTS = {
    "The scale is that of e columns: a score sums d = e / num_heads products, so it is divided by √d.": Layer(
        scale=lambda e, d: e**-0.5
    ),
    "The scale is missing: scores are divided by √d.": Layer(scale=lambda e, d: 1.0),
    "The heads are split before the sequence: a token's heads lie side by side. View [b, s, 3, h, d], then "
    "permute.": Layer(split=heads_first),
    "Each head's q, k and v are taken to lie side by side: w_qkv has all of q first. View [b, s, 3, h, d].": (
        Layer(split=interleaved)
    ),
    f"q and k have changed places. {ORDER}.": Layer(order=(1, 0, 2)),
    f"k and v have changed places. {ORDER}.": Layer(order=(0, 2, 1)),
    f"q and v have changed places. {ORDER}.": Layer(order=(2, 1, 0)),
    f"q, k and v are taken in the order v, q, k. {ORDER}.": Layer(order=(2, 0, 1)),
    f"q, k and v are taken in the order k, v, q. {ORDER}.": Layer(order=(1, 2, 0)),
    "The heads are merged without turning them back: the projection reads [b, h, s, d] as if it were "
    "[b, s, h, d].": Layer(merge=lambda context: context.reshape(merged(context).shape)),
    "causal is ignored: later tokens take part.": Layer(masks=lambda causal: False),
    "Later tokens are hidden even where causal is False.": Layer(masks=lambda causal: True),
    "Both biases are left out: each is added to the sums of its product.": Layer(biases=(0, 0)),
    "b_qkv is left out.": Layer(biases=(0, 1)),
    "b_out is left out.": Layer(biases=(1, 0)),
    "w_out is read with its axes swapped: y = context w_outᵀ.": Layer(seen=lambda w: w.mT),
}
