"""As many programs as the GPU runs at once, each for many tiles; keys from the last block to the first."""

import torch
import triton
import triton.language as tl


@triton.jit
def one_tile(
    Q, K, V, Out, Lse, head, first_m, Sq, Sk, scale, qs, ks, vs,
    IS_CAUSAL: tl.constexpr, HEAD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    m = first_m + tl.arange(0, BM)
    n = tl.arange(0, BN)
    d = tl.arange(0, BD)
    inside = (m[:, None] < Sq) & (d[None, :] < HEAD)
    q = tl.load(Q + m[:, None].to(tl.int64) * qs + d[None, :], mask=inside, other=0.0)
    peak = tl.full([BM], float("-inf"), tl.float32)
    norm = tl.zeros([BM], tl.float32)
    out = tl.zeros([BM, BD], tl.float32)
    stop = Sk
    if IS_CAUSAL:
        stop = tl.minimum(stop, first_m + BM + Sk - Sq)
    turns = tl.cdiv(tl.maximum(stop, 0), BN)
    for turn in range(0, turns):
        start = (turns - 1 - turn) * BN
        at = (start + n).to(tl.int64)
        there = start + n < Sk
        k = tl.load(K + at[None, :] * ks + d[:, None], mask=there[None, :] & (d[:, None] < HEAD), other=0.0)
        s = scale * tl.dot(q, k, input_precision="ieee")
        keep = there[None, :]
        if IS_CAUSAL:
            keep = keep & (start + n[None, :] - m[:, None] <= Sk - Sq)
        s = tl.where(keep, s, float("-inf"))
        higher = tl.maximum(peak, tl.max(s, 1))
        base = tl.where(higher == float("-inf"), 0.0, higher)
        w = tl.exp(s - base[:, None])
        shrink = tl.exp(peak - base)
        norm = norm * shrink + tl.sum(w, 1)
        v = tl.load(V + at[:, None] * vs + d[None, :], mask=there[:, None] & (d[None, :] < HEAD), other=0.0)
        out = out * shrink[:, None] + tl.dot(w.to(v.dtype), v, input_precision="ieee")
        peak = higher
    empty = norm == 0.0
    out = tl.where(empty[:, None], 0.0, out / tl.where(empty, 1.0, norm)[:, None])
    row = head * Sq + m
    tl.store(Out + row[:, None] * HEAD + d[None, :], out, mask=inside)
    tl.store(Lse + row, peak + tl.log(norm), mask=m < Sq)


@triton.jit
def attend(
    Q, K, V, Out, Lse, H, heads, Sq, Sk, scale, qb, qh, qs, kb, kh, ks, vb, vh, vs,
    IS_CAUSAL: tl.constexpr, HEAD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    blocks = tl.cdiv(Sq, BM)
    # The last blocks of all heads come first: they are the long ones where keys are hidden.
    for number in range(tl.program_id(0), blocks * heads, tl.num_programs(0)):
        head = (number % heads).to(tl.int64)
        b, h = head // H, head % H
        one_tile(
            Q + b * qb + h * qh, K + b * kb + h * kh, V + b * vb + h * vh, Out, Lse, head,
            (blocks - 1 - number // heads) * BM, Sq, Sk, scale, qs, ks, vs, IS_CAUSAL, HEAD, BM, BN, BD,
        )  # fmt: skip


def flash_forward(q, k, v, scale, causal):
    B, H, Sq, D = q.shape
    out = torch.empty((B, H, Sq, D), device=q.device, dtype=q.dtype)
    lse = torch.empty((B, H, Sq), device=q.device, dtype=torch.float32)
    BM, BN = (64, 32) if q.dtype == torch.float32 and q.is_cuda else (128, 64)
    programs = triton.cdiv(Sq, BM) * B * H
    if q.is_cuda:
        programs = min(programs, 2 * torch.cuda.get_device_properties(q.device).multi_processor_count)
    strides = [s for x in (q, k, v) for s in x.stride()[:3]]
    attend[(programs,)](
        q, k, v, out, lse, H, B * H, Sq, k.size(2), scale, *strides,
        IS_CAUSAL=causal, HEAD=D, BM=BM, BN=BN, BD=max(16, triton.next_power_of_2(D)),
        num_warps=8 if D > 64 else 4, num_stages=2,
    )  # fmt: skip
    return out, lse
