"""A first draft: one loop with the mask in every block, keys read as [D, BLOCK_N], natural exponentials."""

import torch
import triton
import triton.language as tl


@triton.jit
def attend(
    Q, K, V, Out, Lse, Sq, Sk, scale,
    qb, qh, qs, kb, kh, ks, vb, vh, vs,
    IS_CAUSAL: tl.constexpr, HEAD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    start_m = tl.program_id(0) * BM
    h = tl.program_id(1).to(tl.int64)
    b = tl.program_id(2).to(tl.int64)
    m = start_m + tl.arange(0, BM)
    n = tl.arange(0, BN)
    d = tl.arange(0, BD)
    q_ptrs = Q + b * qb + h * qh + m[:, None].to(tl.int64) * qs + d[None, :]
    q = tl.load(q_ptrs, mask=(m[:, None] < Sq) & (d[None, :] < HEAD), other=0.0)
    k_ptrs = K + b * kb + h * kh + n[None, :].to(tl.int64) * ks + d[:, None]
    v_ptrs = V + b * vb + h * vh + n[:, None].to(tl.int64) * vs + d[None, :]
    peak = tl.full([BM], float("-inf"), tl.float32)
    norm = tl.zeros([BM], tl.float32)
    out = tl.zeros([BM, BD], tl.float32)
    stop = Sk
    if IS_CAUSAL:
        stop = tl.minimum(stop, start_m + BM + Sk - Sq)
    for start in range(0, stop, BN):
        left = Sk - start
        k = tl.load(k_ptrs, mask=(n[None, :] < left) & (d[:, None] < HEAD), other=0.0)
        v = tl.load(v_ptrs, mask=(n[:, None] < left) & (d[None, :] < HEAD), other=0.0)
        s = scale * tl.dot(q, k, input_precision="ieee")
        seen = (n < left)[None, :]
        if IS_CAUSAL:
            seen = seen & (start + n[None, :] <= m[:, None] + Sk - Sq)
        s = tl.where(seen, s, float("-inf"))
        higher = tl.maximum(peak, tl.max(s, 1))
        base = tl.where(higher == float("-inf"), 0.0, higher)
        w = tl.exp(s - base[:, None])
        shrink = tl.exp(peak - base)
        norm = norm * shrink + tl.sum(w, 1)
        out = out * shrink[:, None] + tl.dot(w.to(v.dtype), v, input_precision="ieee")
        peak = higher
        k_ptrs += BN * ks
        v_ptrs += BN * vs
    empty = norm == 0.0
    out = tl.where(empty[:, None], 0.0, out / tl.where(empty, 1.0, norm)[:, None])
    row = (b * tl.num_programs(1) + h) * Sq + m
    tl.store(Out + row[:, None] * HEAD + d[None, :], out, mask=(m[:, None] < Sq) & (d[None, :] < HEAD))
    tl.store(Lse + row, peak + tl.log(norm), mask=m < Sq)


def flash_forward(q, k, v, scale, causal):
    B, H, Sq, D = q.shape
    out = torch.empty((B, H, Sq, D), device=q.device, dtype=q.dtype)
    lse = torch.empty((B, H, Sq), device=q.device, dtype=torch.float32)
    BM, BN = (64, 32) if q.dtype == torch.float32 else (128, 64)
    if not q.is_cuda:
        BM, BN = 64, 128
    strides = [s for x in (q, k, v) for s in x.stride()[:3]]
    attend[triton.cdiv(Sq, BM), H, B](
        q, k, v, out, lse, Sq, k.size(2), scale, *strides,
        IS_CAUSAL=causal, HEAD=D, BM=BM, BN=BN, BD=max(16, triton.next_power_of_2(D)),
        num_warps=8 if D > 64 else 4, num_stages=2,
    )  # fmt: skip
    return out, lse
