"""How many 32-byte sectors the warps of one access touch.

Triton's coalescing pass gives neighbouring lanes of a warp the addresses that lie closest together, and 16
bytes to each lane where they lie side by side; the same is done here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.performance.counting.counts import SECTOR

WARP, WIDEST = 32, 16  # lanes, bytes a lane moves at once
FAR = 1 << 60


@dataclass(frozen=True)
class Pattern:
    """What one access does.

    Attributes:
        sectors: summed over its warps.
        useful: lanes with an address of their own.
        step: bytes between neighbouring lanes.
    """

    sectors: int
    useful: int
    step: int


def pattern(addresses: Any, mask: Any, size: int) -> Pattern:
    """The pattern of one access.

    Args:
        addresses: of each lane, bytes, any shape.
        mask: which lanes take part, of the same shape.
        size: bytes that each lane moves.
    """
    lanes, active = in_order(addresses, mask)
    if lanes.size == 1:
        return Pattern(int(active.sum()), int(active.sum()), 0)
    step = int(lanes[1]) - int(lanes[0])
    group = min(WARP * width(step, size), lanes.size)
    ids = np.where(active, lanes >> np.uint64(SECTOR.bit_length() - 1), np.uint64(FAR))
    whole = ids[: ids.size // group * group].reshape(-1, group)
    return Pattern(_distinct(whole) - int((whole == FAR).any(axis=1).sum()), int(active.sum()), abs(step))


def width(step: int, size: int) -> int:
    """Elements that a lane moves at once, where lanes are `step` bytes apart and elements `size`."""
    return max(WIDEST // size, 1) if step == size else 1


def in_order(addresses: Any, mask: Any) -> tuple[Any, Any]:
    """Lanes in one row, the closest together side by side; a dimension that repeats addresses is dropped."""
    steps = [_step(addresses, axis) for axis in range(addresses.ndim)]
    for axis in reversed(range(addresses.ndim)):
        if steps[axis] == 0 and addresses.shape[axis] > 1:
            addresses, mask = addresses.take([0], axis), mask.any(axis=axis, keepdims=True)
    order = sorted(range(addresses.ndim), key=lambda axis: -steps[axis] or -FAR)
    return addresses.transpose(order).reshape(-1), mask.transpose(order).reshape(-1)


def _step(addresses: Any, axis: int) -> int:
    """Bytes from one address to the next along an axis; 0 where all are one.

    Of offs // 2 each address stands twice.
    """
    line = addresses[tuple(slice(None) if i == axis else 0 for i in range(addresses.ndim))]
    apart = np.abs(np.diff(line.astype(np.int64)))
    return int(apart[apart > 0].min(initial=FAR)) % FAR


def _distinct(rows: Any) -> int:
    """Different values in each row, added up."""
    if (rows[:, 1:] < rows[:, :-1]).any():
        rows = np.sort(rows, axis=1)
    return int((rows[:, 1:] != rows[:, :-1]).sum()) + len(rows)
