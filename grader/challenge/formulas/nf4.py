"""NF4: sixteen levels, two of their codes to a byte, blocks that share a number, and tables for those."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge.formulas.dtypes import SINGLE

# Of bitsandbytes: quantiles of a normal distribution, 0 and both ends among them, as fp32 numbers.
LEVELS = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635),
    *(-0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725),
    *(0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941),
    *(0.7229568362236023, 1.0),
)


def levels(like: Tensor) -> Tensor:
    """LEVELS as fp64 [16], where `like` lies."""
    return torch.tensor(LEVELS, dtype=torch.float64, device=like.device)


def in_blocks(x: Tensor, block: int) -> Tensor:
    """[blocks, block], the last one filled up with 0."""
    return torch.nn.functional.pad(x, (0, -len(x) % block)).view(-1, block)


def unpack(packed: Tensor) -> Tensor:
    """Bytes → codes, int64: two of each, the high half first."""
    return torch.stack((packed >> 4, packed & 15), dim=1).flatten().long()


def dynamic() -> Tensor:
    """bitsandbytes' table of 8 bits, fp32 [256]: 0, 1, and either side 64 from 0.1 on, 32 from 0.01 on …"""
    entries = [0.0, 1.0]
    for i in range(7):
        ends = torch.linspace(0.1, 1, 2**i + 1, dtype=torch.float64)
        middles = 10.0 ** (i - 6) * (ends[1:] + ends[:-1]) / 2
        entries += [*middles.tolist(), *(-middles).tolist()]
    return torch.tensor(sorted(entries), dtype=SINGLE)


# Ascending, [256], of as many normal numbers.
TABLES = {
    "dynamic": lambda drawn: dynamic(),
    "even": lambda drawn: torch.linspace(-1, 1, 256),
    "odd": lambda drawn: (2 * torch.arange(256) - 255) / 256,  # numbers of 8 bits
    "drawn": lambda drawn: drawn.tanh().sort().values,
    "narrow": lambda drawn: drawn.tanh().sort().values / 2,
    "positive": lambda drawn: drawn.sigmoid().sort().values,
}
