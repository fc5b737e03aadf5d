"""Extra: a @ b in Gluon, by wgmma, with loads that run ahead; at 0.7 of torch's speed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.block_bounds import last_block, whole_blocks
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.matmul import flops, moved, operands
from grader.datasheets import GPUS


def on_gpu(**sizes: Any) -> Case:
    return Case(
        gpu=True, **{"dtype": HALF, **sizes}
    )  # Gluon says what a GPU's threads do: nothing else runs it


def without_tail(block: int) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda a, b: a[:, : whole_blocks(a.shape[1], block)] @ b[: whole_blocks(a.shape[1], block)]


def last_alone(block: int) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda a, b: a[:, last_block(a.shape[1], block) :] @ b[last_block(a.shape[1], block) :]


def first_of_b(block: int) -> Callable[[Tensor, Tensor], Tensor]:
    """a times the first frame of b, over and over."""
    return lambda a, b: a @ b[torch.arange(b.shape[0], device=b.device) % block]


SUSPECTS = {}
for block in (32, 64, 128):
    SUSPECTS[f"Along k the last frame of {block}, a partial one, is left out."] = without_tail(block)
    SUSPECTS[f"Only the last frame of {block} counts: each replaces the sums of those before."] = last_alone(
        block
    )
    SUSPECTS[f"Every turn multiplies by b's first frame of {block}: which stage is it?"] = first_of_b(block)

big = on_gpu(m=8192, n=8192, k=8192)

challenge = Challenge(
    entry="matmul",
    inputs=operands,
    reference=lambda a, b: a @ b,
    suspects=SUSPECTS,
    cases=[
        on_gpu(m=128, n=256, k=64),
        on_gpu(m=1, n=8, k=8),
        on_gpu(m=128, n=256, k=128, dtype=BRAIN),
        on_gpu(m=64, n=64, k=72),
        on_gpu(m=127, n=264, k=56, dtype=BRAIN),
        on_gpu(m=129, n=248, k=256),
        on_gpu(m=1, n=1000, k=320, dtype=BRAIN),
        on_gpu(m=1000, n=8, k=200),
        on_gpu(m=between(130, 250), n=520, k=136),
        # The ring comes round many times, and ends at each of its stages.
        on_gpu(m=100, n=200, k=4096),
        on_gpu(m=100, n=200, k=2120, dtype=BRAIN),
        on_gpu(m=100, n=200, k=2200),
        on_gpu(m=100, n=200, k=2112, dtype=BRAIN),
        # More rows of tiles than a group has, and a last group with fewer.
        on_gpu(m=1100, n=1000, k=200),
        on_gpu(m=3001, n=2000, k=1000, dtype=BRAIN),
        on_gpu(m=150, n=280, k=200, layout="padded"),
        on_gpu(m=150, n=280, k=200, layout="padded", a_layout="contiguous", dtype=BRAIN),
        on_gpu(m=150, n=280, k=200, layout="padded", b_layout="contiguous"),
        on_gpu(m=150, n=280, k=72, values="integers", exact=True),
        on_gpu(m=150, n=280, k=512, values="negative", overflows=True),
        on_gpu(m=150, n=280, k=200, values="large", dtype=BRAIN),
        on_gpu(m=150, n=280, k=200, values="heavy"),
        on_gpu(m=150, n=280, k=200, values="nan"),
        on_gpu(m=150, n=280, k=200, calls=2),
    ],
    targets={big: GPUS["h200"]},
    speed=Speed(big, moved=moved, flops=flops, of_torch=0.7),
    memory=Memory(big),
    needs=(9, 0),
    later=False,  # wgmma is an instruction of Hopper alone
)
