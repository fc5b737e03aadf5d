"""lse by a persistent grid whose programs bump pointers along the keys, a low finite start, tl.where."""

import torch
import triton
import triton.language as tl

MIN = tl.constexpr(-3.4028234663852886e38)


@triton.jit
def online_step(m, l_sum, s):
    m_new = tl.maximum(m, tl.max(s, axis=1))
    l_sum = l_sum * tl.exp(m - m_new) + tl.sum(tl.exp(s - m_new[:, None]), axis=1)
    return m_new, l_sum


@triton.jit
def lse_kernel(
    q_ptr, k_ptr, lse_ptr, total, H, Sq, Sk, scale,
    stride_qb, stride_qh, stride_qm, stride_qd, stride_kb, stride_kh, stride_kn, stride_kd,
    D: tl.constexpr, CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    num_blocks = tl.cdiv(Sq, BLOCK_M)
    offs_d = tl.arange(0, BLOCK_D)
    offs_n = tl.arange(0, BLOCK_N)
    for work in range(tl.program_id(0), total, tl.num_programs(0)):
        bh, block = work // num_blocks, work % num_blocks
        b, h = bh // H, bh % H
        offs_m = block * BLOCK_M + tl.arange(0, BLOCK_M)
        q_base = q_ptr + b * stride_qb + h * stride_qh
        q_ptrs = q_base + offs_m[:, None] * stride_qm + offs_d[None, :] * stride_qd
        q = tl.load(q_ptrs, mask=(offs_m < Sq)[:, None] & (offs_d < D)[None, :], other=0.0)
        k_base = k_ptr + b * stride_kb + h * stride_kh
        k_ptrs = k_base + offs_n[:, None] * stride_kn + offs_d[None, :] * stride_kd
        m = tl.full((BLOCK_M,), MIN, tl.float32)
        l_sum = tl.zeros((BLOCK_M,), tl.float32)
        limit = offs_m + 1 + Sk - Sq if CAUSAL else tl.zeros((BLOCK_M,), tl.int32) + Sk
        limit = tl.minimum(limit, Sk)
        for start in range(0, tl.max(limit, axis=0), BLOCK_N):
            keys = start + offs_n
            k = tl.load(k_ptrs, mask=(keys < Sk)[:, None] & (offs_d < D)[None, :], other=0.0)
            s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
            s = tl.where(keys[None, :] < limit[:, None], s, float("-inf"))
            m, l_sum = online_step(m, l_sum, s)
            k_ptrs += BLOCK_N * stride_kn
        tl.store(lse_ptr + bh * Sq + offs_m, m + tl.log(l_sum), mask=offs_m < Sq)


def attention_lse(q, k, scale, causal):
    B, H, Sq, D = q.shape
    Sk = k.shape[2]
    lse = torch.empty((B, H, Sq), dtype=torch.float32, device=q.device)
    sms = torch.cuda.get_device_properties(q.device).multi_processor_count if q.is_cuda else 64
    BLOCK_M = 32 if q.dtype == torch.float32 else 64
    total = B * H * triton.cdiv(Sq, BLOCK_M)
    lse_kernel[(min(total, 4 * sms),)](
        q, k, lse, total, H, Sq, Sk, scale, *q.stride(), *k.stride(),
        D=D, CAUSAL=causal, BLOCK_M=BLOCK_M, BLOCK_N=64 if D <= 64 else 32,
        BLOCK_D=max(triton.next_power_of_2(D), 16), num_warps=4,
    )  # fmt: skip
    return lse
