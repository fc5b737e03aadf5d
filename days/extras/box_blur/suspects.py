"""Wrong blurs, by the sentence that says so."""

from __future__ import annotations

import torch
from torch import Tensor


def runs(values: Tensor, dim: int, before: int, after: int) -> Tensor:
    """Along `dim`: sums from `before` elements in front of each to `after` behind it, as far as they go."""
    n = values.shape[dim]
    at = torch.arange(n, device=values.device)
    totals = values.cumsum(dim)
    totals = torch.cat([torch.zeros_like(totals[:1] if dim == 0 else totals[:, :1]), totals], dim)
    upto = (at + after + 1).clamp(max=n)
    return totals.index_select(dim, upto) - totals.index_select(dim, (at - before).clamp(min=0))


def sums(image: Tensor, radius: int) -> Tensor:
    """int64 [h, w, c]: the sums of the windows."""
    return runs(runs(image.long(), 0, radius, radius), 1, radius, radius)


def counts(image: Tensor, radius: int) -> Tensor:
    """int64 [h, w, 1]: how many pixels of each window lie inside."""
    return sums(torch.ones_like(image[..., :1]), radius)


def mean(total: Tensor, count: Tensor | int) -> Tensor:
    """The mean, rounded half up, as bytes."""
    return ((total + count // 2) // count).to(torch.uint8)


def box(image: Tensor, radius: int) -> Tensor:
    """The mean of the pixels inside each window, rounded half up."""
    return mean(sums(image, radius), counts(image, radius))


def run_on(image: Tensor, radius: int) -> Tensor:
    """Someone without a mask for columns: beside the end of a row lies the next one."""
    along = runs(image.long().flatten(0, 1), 0, radius, radius)
    return mean(runs(along.view(image.shape), 0, radius, radius), counts(image, radius))


def mixed(image: Tensor, radius: int) -> Tensor:
    """Someone who takes the next byte for the next pixel."""
    rows = runs(image.long().flatten(1), 1, radius, radius)
    return mean(runs(rows, 0, radius, radius).view(image.shape), counts(image, radius))


def in_bytes(image: Tensor, radius: int) -> Tensor:
    """Someone whose sums along a row are bytes, and wider down the columns."""
    rows = runs(image.long(), 1, radius, radius) % 256
    return mean(runs(rows, 0, radius, radius), counts(image, radius))


def all_in_bytes(image: Tensor, radius: int) -> Tensor:
    """Someone whose sums are all bytes."""
    return mean(sums(image, radius) % 256, counts(image, radius))


def in_16_bits(image: Tensor, radius: int) -> Tensor:
    """Someone whose sums are int16; division is towards 0."""
    total, count = (sums(image, radius) + 2**15) % 2**16 - 2**15, counts(image, radius)
    return torch.div(total + count // 2, count, rounding_mode="trunc").to(torch.uint8)


def over_all(image: Tensor, radius: int) -> Tensor:
    """Someone who divides by the whole window everywhere."""
    return mean(sums(image, radius), (2 * radius + 1) ** 2)


def down(image: Tensor, radius: int) -> Tensor:
    """Someone who drops what is left over."""
    return (sums(image, radius) // counts(image, radius)).to(torch.uint8)


def up(image: Tensor, radius: int) -> Tensor:
    """Someone who rounds up whatever is left over."""
    count = counts(image, radius)
    return ((sums(image, radius) + count - 1) // count).to(torch.uint8)


def to_even(image: Tensor, radius: int) -> Tensor:
    """Someone who rounds as torch.round does."""
    return (sums(image, radius).double() / counts(image, radius)).round().to(torch.uint8)


def early(below: int, right: int):
    """Windows that end so many pixels early."""

    def blurred(image: Tensor, radius: int) -> Tensor:
        rows = runs(image.long(), 0, radius, radius - below)
        return mean(runs(rows, 1, radius, radius - right), counts(image, radius))

    return blurred


def upper_left(image: Tensor, radius: int) -> Tensor:
    """Someone who adds what is above and to the left alone."""
    rows = runs(image.long(), 0, radius, 0)
    return mean(runs(rows, 1, radius, 0), counts(image, radius))


SUSPECTS = {
    "Each sum is divided by (2·radius + 1)², and at the edges fewer pixels are in it.": over_all,
    "The mean is rounded down: count // 2 has to be added before the division.": down,
    "The mean is rounded up: add count // 2 before the division, not count - 1.": up,
    "Halves are rounded to even, and half up is asked for: (sum + count // 2) // count.": to_even,
    "A window that passes the end of a row runs on into the next row: columns need a mask.": run_on,
    "Neighbours are taken one byte apart, so channels are mixed: the next pixel lies 3 bytes on.": mixed,
    "Sums are kept in bytes, and wrap: they have to be wider.": all_in_bytes,
    "Sums along a row are kept in bytes, and wrap: they have to be wider.": in_bytes,
    "Sums are kept in two bytes, and wrap: of a large window they have to be wider.": in_16_bits,
    "Windows end a pixel early, below and to the right: they reach to + radius, included.": early(1, 1),
    "Windows end a pixel early on the right: they reach to + radius, included.": early(0, 1),
    "Windows end a row early: they reach down to + radius, included.": early(1, 0),
    "Windows end at the pixel itself: what lies below and to the right is left out.": upper_left,
}
