"""One query a sequence over the keys and values of a cache: the attention of a decoding step.

q is [b, h, d], k and v are [b, s, h_k, d] and lengths [b]: sequence i has lengths[i] keys, query head j reads
key head j // (h // h_k). What a kernel may do otherwise is a rule.

Source: Dao, Haziza, Massa and Sizov, Flash-Decoding for long-context inference (2023,
pytorch.org/blog/flash-decoding).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from grader.challenge.formulas.attention import scores, weigh
from grader.challenge.formulas.draw_one_input import counts
from grader.challenge.formulas.qkv_layouts import lying, sunk

if TYPE_CHECKING:
    from grader.challenge.case import Case
    from grader.challenge.harness.draw import Draw


def softmaxed(s: Tensor, v: Tensor, part: int) -> Tensor:
    """o [h, d] of the scores [h, n] and values [h, n, d], whatever the parts."""
    return weigh(s[:, None], v)[0][:, 0]


class Rules(NamedTuple):
    """A decoding step; what a kernel may do otherwise is a field.

    Attributes:
        reads: the key head that a query head reads, from its number, the group, h_k and the sequence.
        seen: the numbers of the keys that a sequence sees, from lengths, the sequence and s.
        scaled: the factor of the scores, from the scale.
        weighed: o from the scores [h, n], the values [h, n, d], and how many keys are in a part.
        part: that number, from q, k and the sequence's length.
        empty: o of a sequence without keys.
    """

    reads: Callable[[Tensor, int, int, int], Tensor] = lambda h, group, h_k, i: h // group
    seen: Callable[[list[int], int, int], range] = lambda lengths, i, s: range(lengths[i])
    scaled: Callable[[float], float] = lambda scale: scale
    weighed: Callable[[Tensor, Tensor, int], Tensor] = softmaxed
    part: Callable[[Tensor, Tensor, int], int] = lambda q, k, length: length
    empty: float = 0.0

    def __call__(self, q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, scale: float) -> Tensor:
        """o [b, h, d] in q's dtype, by sums in fp32 or wider; every score is stored."""
        wide = torch.promote_types(q.dtype, torch.float32)
        o = torch.empty_like(q)
        every, h_k = torch.arange(q.shape[1], device=q.device), k.shape[2]
        for i, length in enumerate(known := lengths.tolist()):
            keys = self.seen(known, i, k.shape[1])
            heads = self.reads(every, q.shape[1] // h_k, h_k, i)
            k_i, v_i = (x[i, keys.start : keys.stop].transpose(0, 1)[heads] for x in (k, v))
            s = scores(q[i, :, None].to(wide), k_i.to(wide), self.scaled(scale), None)[:, 0]
            o[i] = self.weighed(s, v_i, self.part(q, k, length)) if length else self.empty
        return o


def drawn(case: Case, draw: Draw) -> tuple[Tensor, Tensor, Tensor, Tensor, float]:
    """q, both caches, `lengths` as they are spelt, and the scale; where `stale`, NaN lies behind each length.

    `order` says how the caches lie in memory, or, as in bshd_bhsd, how each of them does; `v_layout` and
    `k_values` how one of them differs. `rise` is added to a key once for each key in front of it, `lift`
    to all of them; with queries of one sign scores then climb, fall, or lie far from 0. The first
    `hidden` keys have a score of -inf. `sink` makes an attention sink of the first key: its scores are so
    large, and all others are 0.
    """
    lengths, scale = counts(case.lengths), case.get("scale", case.d**-0.5)
    beside = "offset" if case.layout == "offset" else "contiguous"
    q = draw(len(lengths), case.h, case.d, layout=beside, values=case.get("q_values"))
    k, v = (_cache(case, draw, which, len(lengths)) for which in "kv")
    if "rise" in case or "lift" in case:
        place = torch.arange(case.s, device=k.device)[:, None, None]
        k += case.get("lift", 0.0) + case.get("rise", 0.0) * place
    if "hidden" in case:
        q.abs_().add_(0.5)
        k[:, : case.hidden, :, 0] = -torch.inf
    if "sink" in case:
        sunk(q, k.transpose(1, 2), v.transpose(1, 2), case.sink, scale)
    if "stale" in case:
        for i, length in enumerate(lengths):
            k[i, length:], v[i, length:] = torch.nan, torch.nan
    known = torch.tensor(lengths, dtype=torch.int32)
    on_device = draw(len(lengths), dtype=torch.int32, layout="contiguous", values="zeros")
    return q, k, v, on_device.copy_(known), scale


def _cache(case: Case, draw: Draw, which: str, b: int) -> Tensor:
    """Keys or values [b, s, h_k, d], in whatever order they lie."""
    orders = case.get("order", "bshd").split("_")
    order = orders["kv".index(which) % len(orders)]
    words = {word: case.get(f"{which}_{word}") for word in ("layout", "values")}
    shape = b, case.get("h_k", case.h), case.s, case.d
    return lying(draw, order, shape, **words).transpose(1, 2)
