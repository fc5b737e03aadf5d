"""Scores computed twice: a first walk over the keys finds the maxima, a second one adds; three grid axes."""

import torch
import triton
import triton.language as tl


@triton.jit
def score_tile(q, K, first, Sk, D, ks, kd, scale, rows, last, TN: tl.constexpr, TD: tl.constexpr):
    n = (first + tl.arange(0, TN)).to(tl.int64)
    d = tl.arange(0, TD)
    k = tl.load(K + n[:, None] * ks + d[None, :] * kd, mask=(n < Sk)[:, None] & (d < D)[None, :], other=0.0)
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    return tl.where((n < Sk)[None, :] & (n[None, :] <= (rows + last)[:, None]), s, float("-inf"))


@triton.jit
def walk_twice(
    Q, K, out, Sq, Sk, D, scale, last, q0, q1, q2, q3, k0, k1, k2, k3,
    TM: tl.constexpr, TN: tl.constexpr, TD: tl.constexpr,
):  # fmt: skip
    h, b = tl.program_id(1).to(tl.int64), tl.program_id(2).to(tl.int64)
    m = (tl.program_id(0) * TM + tl.arange(0, TM)).to(tl.int64)
    d = tl.arange(0, TD)
    Q += b * q0 + h * q1
    K += b * k0 + h * k1
    q = tl.load(Q + m[:, None] * q2 + d[None, :] * q3, mask=(m < Sq)[:, None] & (d < D)[None, :], other=0.0)
    top = tl.full((TM,), float("-inf"), tl.float32)
    end = tl.minimum(Sk, (tl.program_id(0) + 1) * TM + last)
    for first in range(0, end, TN):
        s = score_tile(q, K, first, Sk, D, k2, k3, scale, m, last, TN, TD)
        top = tl.maximum(top, tl.max(s, axis=1))
    base = tl.maximum(top, -3.4028234e38)
    total = tl.zeros((TM,), tl.float32)
    for first in range(0, end, TN):
        s = score_tile(q, K, first, Sk, D, k2, k3, scale, m, last, TN, TD)
        total += tl.sum(tl.exp(s - base[:, None]), axis=1)
    head = b * tl.num_programs(1) + h
    tl.store(out + head * Sq + m, tl.log(total) + top, mask=m < Sq)


def attention_lse(q, k, scale, causal):
    B, H, Sq, D = q.shape
    Sk = k.size(2)
    out = torch.empty((B, H, Sq), device=q.device, dtype=torch.float32)
    if out.numel() == 0:
        return out
    last = Sk - Sq if causal else Sk
    TM = 64 if q.dtype == torch.float32 else 128
    TD = max(triton.next_power_of_2(D), 16)
    walk_twice[(triton.cdiv(Sq, TM), H, B)](
        q, k, out, Sq, Sk, D, scale, last, *q.stride(), *k.stride(),
        TM=TM, TN=64, TD=TD, num_warps=8, num_stages=1,
    )  # fmt: skip
    return out
