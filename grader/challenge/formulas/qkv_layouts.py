"""Queries, keys and values drawn as [B, H, S, D], whatever the order in which they lie in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from grader.challenge.case import Case, Own

if TYPE_CHECKING:
    from grader.challenge.harness.draw import Draw

BSHD = Own("bshd")  # as a layout: that of a projection x w viewed as [B, S, H, D], a token's heads together


def at(Sq: int, Sk: int, D: int, causal: bool = False, B: int = 1, H: int = 2, **more: Any) -> Case:
    """B × H heads of Sq queries and Sk keys."""
    return Case(B=B, H=H, Sq=Sq, Sk=Sk, D=D, causal=causal, **more)


def lying(draw: Draw, order: str, shape: tuple[int, int, int, int], **drawn: Any) -> Tensor:
    """A tensor [B, H, S, D] of this shape that lies in memory as `order` says: bshd for [B, S, H, D].

    Raises:
        ValueError: the order is not made of b, h, s and d.
    """
    if sorted(order) != sorted("bhsd"):
        raise ValueError(f"no order {order!r}: each of b, h, s and d stands in it once, as in bshd")
    sizes = dict(zip("bhsd", shape, strict=True))
    x = draw(*(sizes[axis] for axis in order), **drawn)
    return x.permute([order.index(axis) for axis in "bhsd"])


def heads(case: Case, draw: Draw, which: str, number: int, length: int) -> Tensor:
    """q, k, v, o or do: [B, number, length, D].

    `order` says how all of them lie in memory, or, as in bhsd_bshd_sbhd, how q, k and v do; `v_order`,
    `do_layout` and `k_values` how one of them differs.
    """
    orders = case.get("order", "bhsd").split("_")
    order = case.get(f"{which}_order", orders["qkv".find(which) % len(orders)])
    drawn = {word: case.get(f"{which}_{word}") for word in ("layout", "values")}
    return lying(draw, order, (case.B, number, length, case.D), **drawn)


def sunk(q: Tensor, k: Tensor, v: Tensor, sink: float, scale: float) -> None:
    """Make the first key an attention sink, in place: all others together weigh little, each next to nothing.

    Every score of it is `sink` and all others are 0; values lie between 1 and 2. Sums in 16 bits lose what a
    block of the others adds, and in the end a share of the result that shows: 2048 exp(-sink) for 2048 keys.
    """
    q.fill_(1.0)
    k.zero_()
    k[..., :1, :] = sink / (k.shape[-1] * scale)
    v.frac_().abs_().add_(1.0)


def projected(case: Case, draw: Draw, which: str, length: int, values: str | None = None) -> Tensor:
    """q, k or v: [B, H, length, D]; `k_layout`, which may be BSHD, and `k_values` say how one differs."""
    layout = case.get(f"{which}_layout", case.layout)
    values = values or case.get(f"{which}_values", case.values)
    shape = (case.B, case.H, length, case.D)
    if layout == BSHD:
        return lying(draw, BSHD, shape, layout="contiguous", values=values)
    return draw(*shape, layout=layout, values=values)
