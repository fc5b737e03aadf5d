"""Extra: a product by programs that stay, whose warps load or multiply; at 0.8 of torch's speed."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.block_bounds import BLOCKS, last_block, whole_blocks
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.matmul import flops, moved, operands
from grader.datasheets import GPUS


def on_gpu(**sizes: Any) -> Case:
    """With k and n that 8 divides, as TMA asks for."""
    return Case(gpu=True, **{"dtype": HALF, **sizes})


big = on_gpu(m=8192, n=8192, k=8192)

CASES = [
    on_gpu(m=128, n=256, k=64),
    on_gpu(m=1, n=8, k=8),
    on_gpu(m=64, n=64, k=8, dtype=BRAIN),
    on_gpu(m=127, n=248, k=56),
    on_gpu(m=129, n=264, k=72, dtype=BRAIN),
    on_gpu(m=1, n=1000, k=200),
    on_gpu(m=1000, n=8, k=136, dtype=BRAIN),
    on_gpu(m=between(130, 190), n=320, k=448),
    on_gpu(m=40, n=64, k=4096),
    on_gpu(m=1152, n=256, k=192),  # nine rows of tiles, and a group has eight
    # More tiles than an SM each, of one step to seven: what is left of a tile meets the next.
    on_gpu(m=1500, n=3400, k=64),
    on_gpu(m=3400, n=1736, k=200, dtype=BRAIN),
    on_gpu(m=between(2900, 3000), n=3000, k=448),
    on_gpu(m=136, n=264, k=72, layout="padded"),
    on_gpu(m=200, n=304, k=264, layout="padded", b_layout="contiguous", dtype=BRAIN),
    on_gpu(m=70, n=144, k=64, values="integers", exact=True),
    on_gpu(m=8, n=8, k=512, values="negative", overflows=True),
    on_gpu(m=50, n=64, k=40, values="large", dtype=BRAIN),
    on_gpu(m=50, n=64, k=40, values="heavy"),
    on_gpu(m=50, n=64, k=40, values="nan"),
    on_gpu(m=1700, n=2600, k=136, calls=2),
]


def repeated(x: Tensor, block: int, axis: int) -> Tensor:
    """x with its first block along an axis over and over."""
    return x.index_select(axis, torch.arange(x.shape[axis], device=x.device) % block)


SUSPECTS = {}
for block in BLOCKS:
    SUSPECTS[f"Along k whole blocks of {block} are counted: the last, partial one is left out."] = (
        lambda a, b, block=block: (
            a[:, : whole_blocks(a.shape[1], block)] @ b[: whole_blocks(a.shape[1], block)]
        )
    )
    SUSPECTS[f"Along k the last block of {block} alone counts: each overwrites the sum of those before."] = (
        lambda a, b, block=block: a[:, last_block(a.shape[1], block) :] @ b[last_block(a.shape[1], block) :]
    )
    SUSPECTS[f"Every step along k takes the first {block} rows of b: its coordinate does not move on."] = (
        lambda a, b, block=block: a @ repeated(b, block, 0)
    )
    SUSPECTS[f"Every step along k takes the first {block} columns of a: its coordinate does not move on."] = (
        lambda a, b, block=block: repeated(a, block, 1) @ b
    )

challenge = Challenge(
    entry="matmul",
    inputs=operands,
    reference=lambda a, b: a @ b,
    suspects=SUSPECTS,
    cases=CASES,
    targets={big: GPUS["h200"]},
    speed=Speed(big, moved=moved, flops=flops, of_torch=0.8),
    memory=Memory(big),
    needs=(9, 0),
    later=False,  # wgmma is an instruction of Hopper alone
)
