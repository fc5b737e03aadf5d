"""Nothing of the kernel is left: one axis of programs, keys loaded turned, the natural exponential."""

import torch
import triton
import triton.language as tl


@triton.jit
def attend(
    Q, K, V, Out, Lse, H, Sq, Sk, scale, qb, qh, qs, kb, kh, ks, vb, vh, vs,
    IS_CAUSAL: tl.constexpr, HEAD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    blocks = tl.cdiv(Sq, BM)
    head = (tl.program_id(0) // blocks).to(tl.int64)
    # The last block of a head first: it is the long one where keys are hidden.
    m = (blocks - 1 - tl.program_id(0) % blocks) * BM + tl.arange(0, BM)
    b, h = head // H, head % H
    d = tl.arange(0, BD)
    inside = (m[:, None] < Sq) & (d[None, :] < HEAD)
    q = tl.load(Q + b * qb + h * qh + m[:, None].to(tl.int64) * qs + d[None, :], mask=inside, other=0.0)
    peak = tl.full([BM], float("-inf"), tl.float32)
    norm = tl.zeros([BM], tl.float32)
    out = tl.zeros([BM, BD], tl.float32)
    behind = Sk - Sq if IS_CAUSAL else Sk
    for start in range(0, tl.minimum(Sk, tl.max(m, 0) + 1 + behind), BN):
        n = start + tl.arange(0, BN)
        at = n.to(tl.int64)
        there = n < Sk
        k = tl.load(K + b * kb + h * kh + at[None, :] * ks + d[:, None],
                    mask=there[None, :] & (d[:, None] < HEAD), other=0.0)  # fmt: skip
        keep = there[None, :] & (n[None, :] - m[:, None] <= behind)
        s = tl.where(keep, scale * tl.dot(q, k, input_precision="ieee"), float("-inf"))
        higher = tl.maximum(peak, tl.max(s, 1))
        base = tl.where(higher == float("-inf"), 0.0, higher)
        w = tl.exp(s - base[:, None])
        shrink = tl.exp(peak - base)
        norm = norm * shrink + tl.sum(w, 1)
        v = tl.load(V + b * vb + h * vh + at[:, None] * vs + d[None, :],
                    mask=there[:, None] & (d[None, :] < HEAD), other=0.0)  # fmt: skip
        out = out * shrink[:, None] + tl.dot(w.to(v.dtype), v, input_precision="ieee")
        peak = higher
    empty = norm == 0.0
    out = tl.where(empty[:, None], 0.0, out / tl.where(empty, 1.0, norm)[:, None])
    row = head * Sq + m
    tl.store(Out + row[:, None] * HEAD + d[None, :], out, mask=inside)
    tl.store(Lse + row, peak + tl.log(norm), mask=m < Sq)


def flash_forward(q, k, v, scale, causal):
    B, H, Sq, D = q.shape
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = q.new_empty(q.shape[:3], dtype=torch.float32)
    size = 32 if q.dtype == torch.float32 else 64
    attend[(triton.cdiv(Sq, 64) * H * B,)](
        q, k, v, out, lse, H, Sq, k.shape[2], scale, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3],
        IS_CAUSAL=causal, HEAD=D, BM=64, BN=size, BD=max(16, triton.next_power_of_2(D)), num_warps=4,
    )  # fmt: skip
    return out, lse
