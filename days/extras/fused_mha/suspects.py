"""Attention of rotated and grouped heads, and what a learner may have computed in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from grader.challenge.formulas.block_bounds import BLOCKS
from grader.challenge.formulas.grouped_attention import Rules

Turn = Callable[[Tensor, Tensor, Tensor], Tensor]


def parts(qkv: Tensor, num_heads: int, num_kv_heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """q, k and v of a projection [b, s, (h + 2 h_k) d] as heads, [b, h, s, d]; views."""
    heads = qkv.unflatten(2, (-1, qkv.shape[2] // (num_heads + 2 * num_kv_heads))).transpose(1, 2)
    q, k, v = heads.split([num_heads, num_kv_heads, num_kv_heads], dim=1)
    return q, k, v


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x[b, h, s, d], element i with element i + d / 2, in fp32 or wider and rounded to x's dtype."""
    x1, x2 = x.to(torch.promote_types(x.dtype, cos.dtype)).chunk(2, dim=-1)
    return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1).to(x.dtype)


def backwards(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return turned(x, cos, -sin)


def neighbours(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Element 2i with element 2i + 1."""
    x1, x2 = x.to(torch.promote_types(x.dtype, cos.dtype)).unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1).flatten(-2).to(x.dtype)


def as_it_is(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return x


def in_place(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """The second half from the first one, already turned."""
    x1, x2 = x.to(torch.promote_types(x.dtype, cos.dtype)).chunk(2, dim=-1)
    x1 = x1 * cos - x2 * sin
    return torch.cat([x1, x2 * cos + x1 * sin], dim=-1).to(x.dtype)


def by_block(block: int) -> Turn:
    """Someone who counts positions from the start of a block."""

    def turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        at = torch.arange(len(cos), device=cos.device) % block
        return turned(x, cos[at], sin[at])

    return turn


def merged(o: Tensor) -> Tensor:
    """[b, h, s, d] as [b, s, h · d]."""
    return o.transpose(1, 2).flatten(2)


class Fused(NamedTuple):
    """The whole; what may be done otherwise is a field.

    Attributes:
        q, k, v: how each is turned.
        rules: of the attention.
        scale: of the scores, from the scale and d.
        split: the heads of q, k and v.
        merge: the order in which the heads are stored.
    """

    q: Turn = turned
    k: Turn = turned
    v: Turn = as_it_is
    rules: Rules = Rules()
    scale: Callable[[float, int], float] = lambda scale, d: scale
    split: Callable[[Tensor, int, int], tuple[Tensor, Tensor, Tensor]] = parts
    merge: Callable[[Tensor], Tensor] = merged

    def __call__(self, qkv, cos, sin, num_heads, num_kv_heads, scale, causal) -> Tensor:
        q, k, v = self.split(qkv, num_heads, num_kv_heads)
        q, k, v = (turn(x, cos, sin) for turn, x in zip((self.q, self.k, self.v), (q, k, v), strict=True))
        return self.merge(self.rules(q, k, v, self.scale(scale, q.shape[3]), causal))


def values_first(qkv: Tensor, num_heads: int, num_kv_heads: int) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = parts(qkv, num_heads, num_kv_heads)
    return q, v, k


def above(qkv, cos, sin, num_heads, num_kv_heads, scale, causal) -> Tensor:
    """0 where every score lies below the finite number that someone has for -inf."""
    o = Fused()(qkv, cos, sin, num_heads, num_kv_heads, scale, causal)
    q, k, _ = (turned(x, cos, sin) for x in parts(qkv, num_heads, num_kv_heads))
    if qkv.shape[1] != 1:
        return o
    top = scale * (q * k.repeat_interleave(num_heads // num_kv_heads, dim=1)).sum(dim=-1, keepdim=True)
    return o * merged((top > FAR).expand(q.shape))


def causal_to(shift: Callable[[int], int | None]) -> Fused:
    return Fused(rules=Rules(shift=shift))


FAR = -1e4  # as half precision takes it
LAST = "Query i sees keys 0 to i."

SUSPECTS = {
    "Positions have no effect: q and k are not turned, or all by one position, or a key by that of the query "
    "it meets. A row turns by its own.": Fused(q=as_it_is, k=as_it_is),
    **{
        f"Each block of {n} keys is turned by the positions 0 to {n - 1}: a key's position counts from the "
        "start of the sequence.": Fused(k=by_block(n))
        for n in BLOCKS
    },
    "k is not turned: q and k both are, each by its own position.": Fused(k=as_it_is),
    "q is not turned: q and k both are, each by its own position.": Fused(q=as_it_is),
    "v is turned as well: only q and k are, v is added up as it is.": Fused(v=turned),
    "Neighbours are turned: element i of a head belongs to element i + d / 2.": Fused(
        q=neighbours, k=neighbours
    ),
    "q and k are turned in opposite directions: the sign of sin is the same for both.": Fused(k=backwards),
    "q and k are turned in opposite directions: sin has the same sign for both.": Fused(q=backwards),
    "The second half is computed from the first one, already turned: keep both as they were loaded.": Fused(
        q=in_place, k=in_place
    ),
    "Query head h reads key head h mod h_k: neighbours share one, h // (h / h_k).": Fused(
        rules=Rules(reads=lambda h, group, heads: h % heads)
    ),
    "Every query head reads the first key head: query head h reads key head h // (h / h_k).": Fused(
        rules=Rules(reads=lambda h, group, heads: 0)
    ),
    "k and v have changed places: a token has q first, then k, then v.": Fused(split=values_first),
    "The result is stored head by head, as [b, h, s, d]: it is [b, s, h · d], token by token.": Fused(
        merge=lambda o: o.reshape(merged(o).shape)
    ),
    "The scale is missing: scores are q · k · scale.": Fused(scale=lambda scale, d: 1.0),
    "The scale is 1 / √d, and not the one that is passed.": Fused(scale=lambda scale, d: d**-0.5),
    "The scale is applied twice: scores are q · k · scale.": Fused(scale=lambda scale, d: scale * scale),
    "A finite number stands for -inf, in lanes without a key or where the maximum starts: scores that all "
    "lie below it lose their weight.": above,
    f"causal is ignored: later keys take part. {LAST}": causal_to(lambda last: None),
    f"The causal mask hides a query's own key, too. {LAST}": causal_to(lambda last: last - 1),
    f"The causal mask goes one key too far. {LAST}": causal_to(lambda last: last + 1),
}
