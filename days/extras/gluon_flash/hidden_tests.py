"""Extra: flash attention by warps that load, and warps that attend; at 0.6 of the speed of cuDNN's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.qkv_layouts import heads, sunk
from grader.datasheets import GPUS

from .suspects import SUSPECTS, attention


def at(S: int, D: int, causal: bool = False, B: int = 1, H: int = 2, **more: Any) -> Case:
    """B × H heads of S queries and keys."""
    return Case(gpu=True, **{"B": B, "H": H, "S": S, "D": D, "causal": causal, "dtype": HALF, **more})


def inputs(case: Case, draw) -> tuple[Any, ...]:
    """q, k, v and causal. `rise` is added to every key once for each that comes before it; `sink` makes the
    first key an attention sink: its scores are so large, and all others are 0.
    """
    q, k, v = (heads(case, draw, which, case.H, case.S) for which in "qkv")
    if "rise" in case:
        k += case.rise * torch.arange(case.S, device=k.device)[:, None]
    if "sink" in case:
        sunk(q, k, v, case.sink, case.D**-0.5)
    return q, k, v, case.causal


def by_cudnn(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """torch's fastest attention on a Hopper GPU."""
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return scaled_dot_product_attention(q, k, v, is_causal=causal)


big = at(16384, 128, H=16)

CASES = [
    at(128, 64),
    at(1, 64),
    at(1, 128, True, dtype=BRAIN),
    at(2, 64, True),
    at(5, 128, B=2, H=1),
    at(63, 64, True, dtype=BRAIN),
    at(64, 128, True),
    at(65, 128),
    at(127, 128, True),
    at(129, 64, dtype=BRAIN),
    at(129, 64, True),
    at(191, 128, True, dtype=BRAIN),
    at(between(193, 250), 128),
    at(between(260, 370), 64, True, B=2, H=3),
    at(640, 128, True, H=1),
    at(1000, 64, B=2, H=3, dtype=BRAIN),
    at(1000, 128, True, B=2, H=3),
    at(30, 128, H=150),
    at(300, 64, values="negative", k_values="normal", v_values="normal", rise=-0.02),
    at(300, 64, True, values="negative", k_values="normal", v_values="normal", rise=0.02),
    at(2048, 64, H=1, sink=13.46),
    at(150, 64, True, values="spike", v_values="normal"),
    at(150, 128, values="constant", v_values="normal"),
    at(90, 64, values="nan", k_values="normal", v_values="normal"),
    at(400, 128, True, calls=2),
]

challenge = Challenge(
    entry="flash",
    inputs=inputs,
    reference=attention,
    suspects=SUSPECTS,
    cases=CASES,
    targets={big: GPUS["h200"]},
    speed=Speed(
        big,
        moved=lambda q, k, v, causal: 2 * q.nbytes + k.nbytes + v.nbytes,
        flops=lambda q, k, v, causal: 4 * q.numel() * k.shape[2],
        of_torch=0.6,
        torch=by_cudnn,
    ),
    memory=Memory(big),
    needs=(9, 0),
    later=False,  # wgmma is an instruction of Hopper alone
)
