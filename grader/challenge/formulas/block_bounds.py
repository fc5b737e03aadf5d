"""Rows cut into blocks, as a kernel goes along them."""

from __future__ import annotations

BLOCKS = (16, 32, 64, 128)  # that a learner may go along queries or keys in


def lanes(length: int) -> int:
    """Lanes of a block as wide as the row: the smallest power of two that is no less, `next_power_of_2`."""
    return 1 << (length - 1).bit_length()


def whole_blocks(length: int, block: int) -> int:
    """Where the last whole block ends."""
    return length // block * block


def last_block(length: int, block: int) -> int:
    """Where the last block starts, whole or not; 0 where there is none."""
    return max(length - 1, 0) // block * block
