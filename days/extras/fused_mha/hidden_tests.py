"""Extra: rotation, grouped heads and attention in one kernel, at 0.85 of the speed of torch's kernels."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF, SINGLE

from .suspects import SUSPECTS, Fused, parts, turned


def inputs(case: Case, draw) -> tuple[Any, ...]:
    """qkv, cos, sin, num_heads, num_kv_heads, scale and causal; angles as RoFormer has them.

    There are `hk` key heads. Numbers are halved, or multiplied by `gain`: with scores around 1/4 the
    rounding of q and k, which no kernel is spared, stays below that of the weights.
    """
    qkv = draw(case.b, case.s, (case.h + 2 * case.hk) * case.d)
    qkv *= case.get("gain", 0.5)
    beside = "offset" if case.layout == "offset" else "contiguous"
    pairs = case.d // 2
    speed = 10_000 ** (-torch.arange(pairs, device=qkv.device) / pairs)
    angles = torch.arange(case.s, device=qkv.device)[:, None] * speed
    cos, sin = (
        draw(case.s, pairs, dtype=SINGLE, layout=beside, values="zeros").copy_(table)
        for table in (angles.cos(), angles.sin())
    )
    return qkv, cos, sin, case.h, case.hk, case.get("scale", case.d**-0.5), case.get("causal", False)


def by_torch(
    qkv: Tensor, cos: Tensor, sin: Tensor, num_heads: int, num_kv_heads: int, scale: float, causal: bool
) -> Tensor:
    """torch's rotation, and its attention through FlashAttention; heads merged as the layers of torch do."""
    q, k, v = parts(qkv, num_heads, num_kv_heads)
    q, k = turned(q, cos, sin), turned(k, cos, sin)
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
        o = scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale, enable_gqa=True)
    return o.transpose(1, 2).reshape(*qkv.shape[:2], -1)


def moved(qkv: Tensor, cos: Tensor, sin: Tensor, num_heads: int, num_kv_heads: int, *_: Any) -> int:
    width = num_heads + 2 * num_kv_heads
    return qkv.nbytes + cos.nbytes + sin.nbytes + qkv.nbytes * num_heads // width


def flops(
    qkv: Tensor, cos: Tensor, sin: Tensor, num_heads: int, num_kv_heads: int, scale: float, causal: bool
) -> int:
    """Two products of 2 · d operations a score, and with causal half of the scores."""
    numbers = qkv.numel() * num_heads // (num_heads + 2 * num_kv_heads)
    return (2 if causal else 4) * numbers * qkv.shape[1]


ODD = "degenerate_sizes"  # scores that nobody has
layer = Case(b=4, s=4096, h=16, hk=4, d=128, causal=True, dtype=HALF, gpu=True)

CASES = [
    Case(b=1, s=16, h=1, hk=1, d=32, dtype=HALF),
    Case(b=1, s=16, h=2, hk=1, d=16, dtype=HALF, causal=True),
    Case(b=1, s=1, h=1, hk=1, d=16, dtype=BRAIN),
    Case(b=0, s=5, h=2, hk=1, d=16, dtype=HALF),
    Case(b=2, s=0, h=2, hk=1, d=16, dtype=HALF, causal=True),
    Case(b=2, s=5, h=2, hk=2, d=2, dtype=HALF),
    Case(b=1, s=7, h=4, hk=2, d=6, dtype=BRAIN, causal=True),
    Case(b=2, s=20, h=4, hk=2, d=32, dtype=HALF),
    Case(b=2, s=48, h=4, hk=2, d=32, dtype=HALF),
    Case(b=2, s=96, h=4, hk=2, d=32, dtype=HALF),
    Case(b=2, s=20, h=6, hk=2, d=32, dtype=BRAIN, causal=True),
    Case(b=1, s=31, h=4, hk=1, d=80, dtype=HALF, causal=True),
    Case(b=1, s=40, h=2, hk=1, d=96, dtype=BRAIN),
    Case(b=1, s=20, h=2, hk=2, d=128, dtype=HALF),
    Case(b=1, s=63, h=2, hk=1, d=64, dtype=HALF, causal=True),
    Case(b=1, s=65, h=3, hk=1, d=24, dtype=HALF),
    Case(b=1, s=129, h=4, hk=2, d=16, dtype=HALF, causal=True),
    Case(b=1, s=150, h=4, hk=4, d=16, dtype=BRAIN, causal=True),
    Case(b=1, s=between(194, 207), h=2, hk=1, d=48, dtype=HALF),
    Case(b=1, s=40, h=2, hk=1, d=32, dtype=HALF, scale=-0.3, causal=True, demand="extreme_inputs"),
    Case(b=1, s=40, h=2, hk=1, d=32, dtype=HALF, scale=0.0, demand="extreme_inputs"),
    Case(b=2, s=20, h=4, hk=2, d=32, layout="offset", dtype=HALF, causal=True),
    Case(b=1, s=40, h=2, hk=1, d=32, values="heavy", dtype=BRAIN, scale=0.006, causal=True),
    Case(b=1, s=40, h=2, hk=1, d=32, values="constant", dtype=HALF, causal=True, scale=0.01),
    # The first query sees a score of -144 alone.
    Case(
        b=1,
        s=40,
        h=2,
        hk=1,
        d=32,
        values="constant",
        gain=1.0,
        dtype=HALF,
        causal=True,
        scale=-0.5,
        demand="extreme_inputs",
    ),
    # And here of -12,442: in a lane that has no key -10,000 lies above it.
    Case(b=1, s=1, h=2, hk=1, d=64, values="constant", gain=60.0, dtype=HALF, scale=-0.006, demand=ODD),
    Case(b=1, s=40, h=2, hk=1, d=64, values="normal", gain=60.0, scale=1e-3, dtype=HALF, calls=2),
    Case(b=1, s=40, h=2, hk=1, d=32, gain=2e5, scale=2e-12, dtype=BRAIN),
    Case(b=1, s=40, h=2, hk=1, d=32, values="nan", dtype=HALF, causal=True),
    Case(b=1, s=40, h=2, hk=1, d=32, values="zeros", dtype=BRAIN),
    Case(b=2, s=30, h=4, hk=2, d=16, dtype=HALF, causal=True, calls=2),
    Case(b=1, s=2**20 + 5, h=20, hk=4, d=128, dtype=HALF, causal=True, huge=True),
    Case(b=20, s=2**17 + 5, h=8, hk=2, d=128, dtype=HALF, huge=True),
]

challenge = Challenge(
    entry="fused_mha",
    inputs=inputs,
    reference=Fused(),
    suspects=SUSPECTS,
    shown=Case(b=1, s=129, h=4, hk=2, d=16, dtype=HALF, causal=True),
    cases=CASES,
    speed=Speed(layer, moved=moved, flops=flops, of_torch=0.85, torch=by_torch, rolled=(0,)),
    # Rotated keys of one head in two would be a quarter of the result.
    memory=Memory(Case(b=16, s=128, h=8, hk=4, d=128, dtype=HALF)),
)
