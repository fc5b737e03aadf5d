"""Queries and keys whose products are large, and yet no sum of them rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from grader.challenge.case import Case
from grader.challenge.formulas.qkv_layouts import lying, sunk

if TYPE_CHECKING:
    from grader.challenge.harness.draw import Draw


def qkv(case: Case, draw: Draw, whole: bool) -> tuple[Tensor, Tensor, Tensor]:
    """q, k and v: [B, H, S, D].

    Where the case's values are large and `whole` is set, q and k are small integers: with a `gain` of 128 the
    products are multiples of 2¹⁴ of up to 10⁷. Negative queries are whole numbers too. `lookup` makes a
    dictionary of q and k, `sink` an attention sink of the first key.
    """
    q, k, v = (
        _drawn(case, draw, n, which, whole) for n, which in ((case.Sq, "q"), (case.Sk, "k"), (case.Sk, "v"))
    )
    if case.values == "negative":
        q.round_()
    for x in (q, k):
        if "gain" in case and x.numel():
            x *= case.gain
    if "lookup" in case:
        _as_dictionary(q, k)
    if "sink" in case:
        sunk(q, k, v, case.sink, case.D**-0.5)
    return q, k, v


def _drawn(case: Case, draw: Draw, length: int, which: str, whole: bool) -> Tensor:
    """One of them; `q_layout`, `k_values` and the like say how it differs from the case.

    With `bshd` it lies in memory as [B, length, H, D]; with `one_head` all heads of k and v are the same
    memory.
    """
    values = case.get(f"{which}_values")
    if case.values == "large" and not values:
        values = "integers" if whole and which != "v" else "normal"
    one_head = "one_head" in case and which != "q"
    shape = (case.B, 1 if one_head else case.H, length, case.D)
    order = "bshd" if "bshd" in case else "bhsd"
    x = lying(draw, order, shape, layout=case.get(f"{which}_layout"), values=values)
    return x.expand(case.B, case.H, length, case.D) if one_head else x


def _as_dictionary(q: Tensor, k: Tensor) -> None:
    """Key j becomes the binary digits of j as ±1, every query one of the keys: weights of exactly 0 and 1."""
    digits = torch.arange(k.shape[2])[:, None] >> torch.arange(k.shape[3]) & 1
    asked = (7 * torch.arange(q.shape[2]) + 3) % k.shape[2]
    k.copy_((2 * digits - 1).expand(k.shape))
    q.copy_((2 * digits - 1)[asked].expand(q.shape))
