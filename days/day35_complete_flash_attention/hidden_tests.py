"""Day 35: flash attention with grouped heads and gradients, at 0.4 of the speed of torch's, both passes."""

from __future__ import annotations

import math
from dataclasses import replace

from torch import Tensor

from grader.challenge import Case, Challenge, Gradients, Memory, Piece, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.grouped_attention import Rules
from grader.challenge.formulas.qkv_layouts import heads
from grader.challenge.formulas.sdpa import flash

from .suspects import SUSPECTS


def at(Sq: int, Sk: int, D: int, causal: bool = False, Hq: int = 2, Hk: int = 1, B: int = 1, **more) -> Case:
    """B sequences, Hq heads of Sq queries, Hk heads of Sk keys and values."""
    return Case(Sq=Sq, Sk=Sk, D=D, causal=causal, Hq=Hq, Hk=Hk, B=B, **more)


def inputs(case: Case, draw) -> tuple:
    """q, k, v, scale and causal; values are multiplied by `gain`. All scores lie `under` times scale below 0.
    `above` lifts the last key's far above all others; the only query that sees it is 0. `order` says how q,
    k and v lie in memory: bshd as [B, S, H, D]. The gradient of `only` this one is asked for.
    """
    q = heads(case, draw, "q", case.Hq, case.Sq)
    k, v = (heads(case, draw, which, case.Hk, case.Sk) for which in ("k", "v"))
    if "gain" in case:
        v *= case.gain
    if "under" in case:
        q[..., 0], k[..., 0] = case.under, -1.0
    if "above" in case:
        k[:, :, -1], q[:, :, -1] = -case.above, 0.0
    return q, k, v, case.get("scale", case.D**-0.5), case.causal


def held(x: Tensor) -> int:
    """Bytes from x's first element to behind its last; more than its elements if they lie apart."""
    last = sum((size - 1) * stride for size, stride in zip(x.shape, x.stride(), strict=True))
    return max(x.nbytes, (last + 1) * x.element_size())


def needed(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> int:
    """Bytes of q, k, v and o, and one fp32 number a query."""
    return held(q) + held(k) + held(v) + q.nbytes + 4 * math.prod(q.shape[:3])


CASES = [
    at(16, 16, 16, Hq=1),
    at(1, 1, 16),
    at(0, 5, 16),
    at(5, 0, 16),
    at(between(33, 47), between(34, 47), 32, Hq=4, Hk=2),
    at(96, 96, 32, Hq=1),
    at(48, 80, 32, True, Hq=1),
    at(32, 48, 32, Hq=3, Hk=3),
    at(17, 70, 80),
    at(40, 130, 96, Hq=1),
    at(130, 20, 32, Hq=4, Hk=2, B=2),
    at(20, 24, 128, Hq=3),
    at(65, 65, 32, True),
    # The last query of a full tile sees the first key of a tile, and no other of it.
    at(128, 129, 32, True),
    at(1, 77, 64, True),
    at(70, 20, 32, True),
    at(between(18, 31), between(131, 143), 16, True),
    at(150, 70, 16, True),
    at(20, 50, 32, True, Hq=4, Hk=2, B=2),
    at(50, 64, 64, True, Hq=4, Hk=2, dtype=HALF),
    at(40, 70, 80, True, dtype=BRAIN),
    at(30, 60, 128, dtype=HALF),
    at(150, 170, 32, True, Hq=4, Hk=2, dtype=HALF),
    at(40, 40, 32, True, scale=-0.4),
    at(20, 60, 32, scale=0.3),
    at(20, 60, 32, scale=0.0, dtype=HALF),
    at(20, 40, 32, True, Hq=4, Hk=2, B=2, order="bshd"),
    at(30, 50, 32, Hq=4, Hk=2, B=3, order="bhsd_bshd_hsbd", layout="sliced", dtype=HALF),
    at(20, 40, 32, True, layout="transposed"),
    at(20, 40, 32, k_layout="strided", v_layout="columns", dtype=HALF),
    at(20, 40, 64, layout="padded", dtype=HALF),
    at(40, 70, 64, layout="offset", dtype=BRAIN),
    at(20, 40, 32, layout="expanded", Hq=4, Hk=2, B=2),
    at(20, 40, 32, upstream="sliced"),
    at(20, 40, 32, True, upstream="transposed", Hq=4, Hk=2),
    at(20, 40, 32, upstream="expanded", B=2),
    at(20, 40, 64, True, upstream="scalar"),
    at(20, 40, 32, upstream="offset", dtype=HALF),
    at(40, 60, 32, q_values="negative", v_values="normal"),
    at(40, 60, 32, True, values="heavy", v_values="normal", scale=0.003),
    at(20, 30, 32, values="large", v_values="normal", scale=3e-9),
    # Σ o ∘ do is beyond 65504 in some rows, and no ds is.
    at(20, 40, 64, Hq=4, Hk=2, values="normal", v_values="negative", gain=3000.0, dtype=HALF),
    # exp(score - lse) is Inf of hidden scores here, and exp(0 - lse) of no key.
    at(40, 70, 32, True, q_values="negative", above=20.0),
    at(30, 130, 32, under=1200.0, dtype=HALF),
    at(20, 40, 32, values="nan", k_values="normal", v_values="normal"),
    at(20, 30, 32, True, calls=2),
    at(1000, 1500, 128, True, Hq=8, Hk=2, B=2, dtype=HALF, gpu=True),
    at(1500, 1000, 64, Hq=6, Hk=2, dtype=BRAIN, order="bshd", gpu=True),
    at(700, 700, 96, True, Hq=8, Hk=8, upstream="scalar", gpu=True),
    at(2**20 + 5, 2**20 + 5, 128, True, Hq=20, Hk=20, dtype=HALF, huge=True),
    at(2**20 + 5, 2**20 + 5, 128, Hq=1, Hk=1, B=20, dtype=HALF, huge=True),
    at(2**20 + 5, 2**20 + 5, 128, Hq=20, Hk=4, order="bshd", dtype=HALF, huge=True),
    at(2100, 2100, 16, True, Hq=1, Hk=1, layout="far", upstream="far", dtype=HALF, huge=True),
]

whole = Challenge(
    entry="flash_attention",
    inputs=inputs,
    reference=Rules(),
    requires=("upstream_copies",),
    suspects=SUSPECTS,
    pieces=(  # the results are o, dq, dk and dv
        Piece("key head", "key_head"),
        Piece("dv", "dkdv_kernel", results=(3,)),
        Piece("dk", "dkdv_kernel", results=(2,)),
        Piece("launch", "launch"),
        Piece("flash_backward", "flash_backward"),
        Piece("forward", "FlashAttention.forward", results=(0,)),
        Piece("backward", "FlashAttention.backward", results=(1, 2, 3)),
        Piece("flash_attention", "flash_attention"),
    ),
    gradients=Gradients(of=(0, 1, 2), saved=needed),
    shown=at(150, 70, 16, True),
    cases=CASES,
    speed=Speed(
        at(4096, 4096, 128, True, Hq=16, Hk=16, B=4, dtype=HALF),
        # Forward q, k, v, o; for dq all of these, do and dq; for dk and dv q, k, v, do and both: 16 tensors.
        moved=lambda q, k, v, scale, causal: 8 * q.nbytes + 4 * (k.nbytes + v.nbytes),
        # Two products forward and five backward, 2 · D operations a score each, and half of the scores.
        flops=lambda q, k, v, scale, causal: 7 * q.numel() * k.shape[2],
        of_torch=0.4,
        torch=flash,
        part="both",
    ),
    # A few numbers a query. Keys and values written out for each query head would be 11 times as much as q.
    memory=Memory(at(600, 1200, 16, Hq=4), extra=lambda q, k, v, scale, causal: q.nbytes // 2),
)


def alone(case: Case) -> Challenge:
    """The same when a gradient is asked for one argument alone."""
    of = Gradients(of=("qkv".index(case.only),), saved=needed)
    return replace(whole, gradients=of, cases=[case], shown=None, speed=(), memory=None, pieces=())


challenge = (whole, *(alone(at(20, 24, 16, True, only=one)) for one in "qkv"))
