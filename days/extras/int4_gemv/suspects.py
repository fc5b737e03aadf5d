"""The product of rows with 4-bit weights, and what a learner may have computed in its place."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Codes = Callable[[Tensor], Tensor]


def parted(packed: Tensor) -> tuple[Tensor, Tensor]:
    """The low and the high half of each byte."""
    return packed & 15, packed >> 4


def codes(packed: Tensor) -> Tensor:
    """0 to 15, [n, k], the low half of a byte first."""
    return torch.stack(parted(packed), dim=-1).flatten(1)


def every(group: Tensor, group_size: int) -> Tensor:
    """One of each group, for every element of the group."""
    return group.repeat_interleave(group_size, dim=1)


def shifted(w: Tensor, zero: Tensor, scale: Tensor) -> Tensor:
    return (w - zero) * scale


def product(
    x: Tensor,
    packed: Tensor,
    scales: Tensor,
    zeros: Tensor,
    group_size: int,
    *,
    read: Codes = codes,
    weight: Callable[[Tensor, Tensor, Tensor], Tensor] = shifted,
    spread: Callable[[Tensor, int], Tensor] = every,
) -> Tensor:
    """x times the weights, [m, n].

    Args:
        read: the codes of packed bytes.
        weight: a weight from its code, zero point and scale.
        spread: of each element of k, what its group has.
    """
    scale, zero = (spread(of_group, group_size) for of_group in (scales, zeros))
    return x @ weight(read(packed).to(x.dtype), zero.to(x.dtype), scale).mT


def other(**how: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Someone who reads, decodes or scales in another way."""
    return lambda *given: product(*given, **how)


def swapped(packed: Tensor) -> Tensor:
    low, high = parted(packed)
    return torch.stack((high, low), dim=-1).flatten(1)


def halves(packed: Tensor) -> Tensor:
    return torch.cat(parted(packed), dim=1)


def signed(packed: Tensor) -> Tensor:
    """The high half by a shift that copies the sign."""
    low, high = parted(packed.short())
    return torch.stack((low, high - 16 * (high > 7)), dim=-1).flatten(1)


def both_signed(packed: Tensor) -> Tensor:
    w = codes(packed).short()
    return w - 16 * (w > 7)


def low_alone(packed: Tensor) -> Tensor:
    low, _ = parted(packed)
    return torch.stack((low, low), dim=-1).flatten(1)


def one_half(which: int) -> Callable[..., Tensor]:
    """Someone who multiplies every second weight alone."""

    def wrong(x: Tensor, *given: Tensor | int) -> Tensor:
        left = torch.zeros_like(x)
        left[:, which::2] = x[:, which::2]
        return product(left, *given)

    return wrong


def by_byte(group: Tensor, group_size: int) -> Tensor:
    """What the groups have, looked for by the number of the byte."""
    at = torch.arange(group.shape[1] * group_size, device=group.device) // 2 // group_size
    return group[:, at]


def taken_in_turn(group: Tensor, group_size: int) -> Tensor:
    return group.repeat(1, group_size)


def first_alone(group: Tensor, group_size: int) -> Tensor:
    return every(group[:, :1].expand_as(group), group_size)


def turned(group: Tensor, group_size: int) -> Tensor:
    """Read as if it lay [k / g, n] in memory."""
    return every(group.reshape(group.shape[::-1]).mT, group_size)


def halves_of_group(x: Tensor, packed: Tensor, scales: Tensor, zeros: Tensor, group_size: int) -> Tensor:
    """The low halves of a group's bytes by its first half of x, the high ones by the second."""
    parts = x.view(len(x), -1, 2, group_size // 2).mT
    return product(parts.reshape(x.shape), packed, scales, zeros, group_size)


def without_last_group(x: Tensor, packed: Tensor, scales: Tensor, zeros: Tensor, group_size: int) -> Tensor:
    left = x.clone()
    left[:, max(x.shape[1] - group_size, 0) :] = 0
    return product(left, packed, scales, zeros, group_size)


SUSPECTS = {
    "The halves of a byte have changed places: the weight with even k is in the low half.": other(
        read=swapped
    ),
    "The low halves are taken for the first half of k: a byte holds two neighbours along k.": other(
        read=halves
    ),
    "The low halves are taken for the first half of a group: a byte holds two neighbours along k.": (
        halves_of_group
    ),
    "The high half is shifted down with its sign, as int8: from 8 on it comes out negative.": other(
        read=signed
    ),
    "Weights from 8 on are read as negative: they are 0 to 15, and the zero point makes the sign.": other(
        read=both_signed
    ),
    "Each low half counts twice: a byte's second weight is its high half.": other(read=low_alone),
    "The weights with odd k, which are the high halves, do not count.": one_half(0),
    "The weights with even k, which are the low halves, do not count.": one_half(1),
    "The difference is taken in uint8, which has nothing below 0: make both floats first, or int32.": other(
        weight=lambda w, zero, scale: (w - zero) % 256 * scale
    ),
    "The zero point is left out.": other(weight=lambda w, zero, scale: w * scale),
    "The zero point is added: it is subtracted.": other(weight=lambda w, zero, scale: (w + zero) * scale),
    "The zero point is not scaled: (w - zero) · scale.": other(
        weight=lambda w, zero, scale: w * scale - zero
    ),
    "The zero points are one too large: GPTQ's files store them less 1, these do not.": other(
        weight=lambda w, zero, scale: (w - zero - 1) * scale
    ),
    "The zero points are all taken to be 8.": other(weight=lambda w, zero, scale: (w - 8) * scale),
    "The scale is left out.": other(weight=lambda w, zero, scale: w - zero),
    "The weights are divided by the scale.": other(weight=lambda w, zero, scale: (w - zero) / scale),
    "The group is counted in bytes: group_size is a number of weights, two to a byte.": other(spread=by_byte),
    "Neighbours along k take scales and zero points in turn: group_size of them share one.": other(
        spread=taken_in_turn
    ),
    "All groups take the scale and the zero point of the first.": other(spread=first_alone),
    "Scales and zero points are read as if they lay [k / g, n]: they are [n, k / g].": other(spread=turned),
    "The last group along k is left out.": without_last_group,
}
