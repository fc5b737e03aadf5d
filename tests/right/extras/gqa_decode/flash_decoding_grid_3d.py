"""Grouped flash decoding as in serving engines: grid (batch, key heads, splits), an lse a split; int32.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _fwd_grouped_kernel_stage1(
    Q, K, V, sm_scale, Seqlens, Mid_O, Mid_LSE, stride_qb, stride_qh, stride_kb, stride_ks, stride_kh,
    stride_vb, stride_vs, stride_vh, stride_mb, stride_mh, stride_ms,
    GROUP: tl.constexpr, NUM_SPLITS: tl.constexpr, D: tl.constexpr,
    BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    cur_batch, cur_kv_head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    offs_h = tl.arange(0, BLOCK_H)
    cur_head = cur_kv_head * GROUP + offs_h
    mask_h = offs_h < GROUP
    offs_d = tl.arange(0, BLOCK_D)
    mask_d = offs_d < D
    seq_len = tl.load(Seqlens + cur_batch)
    q = tl.load(
        Q + cur_batch * stride_qb + cur_head[:, None] * stride_qh + offs_d[None, :],
        mask=mask_h[:, None] & mask_d[None, :], other=0.0,
    )  # fmt: skip
    len_per_split = tl.cdiv(seq_len, NUM_SPLITS)
    split_start = len_per_split * split
    split_end = tl.minimum(split_start + len_per_split, seq_len)
    e_max = tl.zeros([BLOCK_H], dtype=tl.float32) - float("inf")
    e_sum = tl.zeros([BLOCK_H], dtype=tl.float32)
    acc = tl.zeros([BLOCK_H, BLOCK_D], dtype=tl.float32)
    for start_n in range(split_start, split_end, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        mask_n = offs_n < split_end
        k_ptrs = K + cur_batch * stride_kb + cur_kv_head * stride_kh + offs_n[None, :] * stride_ks
        k = tl.load(k_ptrs + offs_d[:, None], mask=mask_n[None, :] & mask_d[:, None], other=0.0)
        qk = tl.dot(q, k) * sm_scale
        qk = tl.where(mask_h[:, None] & mask_n[None, :], qk, float("-inf"))
        v_ptrs = V + cur_batch * stride_vb + cur_kv_head * stride_vh + offs_n[:, None] * stride_vs
        v = tl.load(v_ptrs + offs_d[None, :], mask=mask_n[:, None] & mask_d[None, :], other=0.0)
        n_e_max = tl.maximum(tl.max(qk, 1), e_max)
        safe = tl.where(n_e_max == float("-inf"), 0.0, n_e_max)
        re_scale = tl.exp(e_max - safe)
        p = tl.exp(qk - safe[:, None])
        acc = acc * re_scale[:, None] + tl.dot(p.to(v.dtype), v)
        e_sum = e_sum * re_scale + tl.sum(p, 1)
        e_max = n_e_max
    mid = cur_batch * stride_mb + cur_head * stride_mh + split * stride_ms
    denom = tl.where(e_sum == 0, 1.0, e_sum)
    tl.store(Mid_O + mid[:, None] * D + offs_d[None, :], acc / denom[:, None],
             mask=mask_h[:, None] & mask_d[None, :])  # fmt: skip
    tl.store(Mid_LSE + mid, e_max + tl.log(e_sum), mask=mask_h)


@triton.jit
def _fwd_kernel_stage2(Mid_O, Mid_LSE, Out, NUM_SPLITS: tl.constexpr, D: tl.constexpr, BLOCK_D: tl.constexpr):
    cur_batch, cur_head = tl.program_id(0), tl.program_id(1)
    row = cur_batch * tl.num_programs(1) + cur_head
    offs_d = tl.arange(0, BLOCK_D)
    e_sum = 0.0
    e_max = -float("inf")
    acc = tl.zeros([BLOCK_D], dtype=tl.float32)
    for split in range(0, NUM_SPLITS):
        tv = tl.load(Mid_O + (row * NUM_SPLITS + split) * D + offs_d, mask=offs_d < D, other=0.0)
        tlogic = tl.load(Mid_LSE + row * NUM_SPLITS + split)
        n_e_max = tl.maximum(tlogic, e_max)
        safe = tl.where(n_e_max == float("-inf"), 0.0, n_e_max)
        old_scale = tl.exp(e_max - safe)
        exp_logic = tl.exp(tlogic - safe)
        acc = acc * old_scale + exp_logic * tv
        e_sum = e_sum * old_scale + exp_logic
        e_max = n_e_max
    out = acc / tl.where(e_sum == 0, 1.0, e_sum)
    tl.store(Out + row * D + offs_d, out.to(Out.dtype.element_ty), mask=offs_d < D)


def gqa_decode(q, k_cache, v_cache, lengths, scale):
    B, H, D = q.shape
    S, HK = k_cache.shape[1:3]
    out = torch.empty_like(q)
    NUM_SPLITS = max(1, min(16, triton.cdiv(S, 64), triton.cdiv(1024, max(B * HK, 1))))
    mid_o = torch.empty((B, H, NUM_SPLITS, D), dtype=torch.float32, device=q.device)
    mid_lse = torch.empty((B, H, NUM_SPLITS), dtype=torch.float32, device=q.device)
    BLOCK_D = triton.next_power_of_2(D)
    _fwd_grouped_kernel_stage1[(B, HK, NUM_SPLITS)](
        q, k_cache, v_cache, scale, lengths, mid_o, mid_lse, q.stride(0), q.stride(1),
        *k_cache.stride()[:3], *v_cache.stride()[:3], *mid_lse.stride(),
        GROUP=H // HK, NUM_SPLITS=NUM_SPLITS, D=D, BLOCK_H=16, BLOCK_N=64 if D <= 128 else 32,
        BLOCK_D=BLOCK_D, num_warps=4, num_stages=2,
    )  # fmt: skip
    _fwd_kernel_stage2[(B, H)](mid_o, mid_lse, out, NUM_SPLITS=NUM_SPLITS, D=D, BLOCK_D=BLOCK_D, num_warps=4)
    return out
