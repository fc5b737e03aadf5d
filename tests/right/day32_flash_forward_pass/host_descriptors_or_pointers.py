"""Flash forward by host tensor descriptors where strides allow, else pointers; longest first.

May have limits.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@triton.jit
def load_block(src, z, h, start, stride_z, stride_h, stride_m, n_rows, D: tl.constexpr,
               BLOCK: tl.constexpr, BLOCK_D: tl.constexpr, TMA: tl.constexpr):  # fmt: skip
    if TMA:
        x = src.load([z, h, start, 0]).reshape(BLOCK, BLOCK_D)
    else:
        rows = start + tl.arange(0, BLOCK)
        cols = tl.arange(0, BLOCK_D)
        base = src + z.to(tl.int64) * stride_z + h.to(tl.int64) * stride_h
        ptrs = base + rows[:, None].to(tl.int64) * stride_m + cols[None, :]
        x = tl.load(ptrs, mask=(rows < n_rows)[:, None] & (cols < D)[None, :], other=0.0)
    return x


@triton.jit
def flash_fwd_kernel(
    q_src, k_src, v_src, o_ptr, lse_ptr, sm_scale, Z, H, Sq, Sk,
    qz, qh, qm, kz, kh, kn, vz, vh, vn,
    D: tl.constexpr, BLOCK_D: tl.constexpr, CAUSAL: tl.constexpr, TMA: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    num_m = tl.cdiv(Sq, BLOCK_M)
    zh = tl.program_id(0) % (Z * H)
    start_m = (num_m - 1 - tl.program_id(0) // (Z * H)) * BLOCK_M
    z, h = zh // H, zh % H
    offs_m = start_m + tl.arange(0, BLOCK_M)
    q = load_block(q_src, z, h, start_m, qz, qh, qm, Sq, D, BLOCK_M, BLOCK_D, TMA)
    m_i = tl.full([BLOCK_M], -1.0e38, tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)
    shift = Sk - Sq
    end = tl.minimum(start_m + BLOCK_M + shift, Sk) if CAUSAL else Sk
    for start_n in tl.range(0, end, BLOCK_N):
        k = load_block(k_src, z, h, start_n, kz, kh, kn, Sk, D, BLOCK_N, BLOCK_D, TMA)
        s = tl.dot(q, k.T, input_precision="ieee") * (sm_scale * LOG2E)
        if (start_n + BLOCK_N > Sk) | (CAUSAL and start_n + BLOCK_N > start_m + shift + 1):
            offs_n = start_n + tl.arange(0, BLOCK_N)
            keep = (offs_n < Sk)[None, :]
            if CAUSAL:
                keep = keep & (offs_m[:, None] + shift >= offs_n[None, :])
            s = tl.where(keep, s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = load_block(v_src, z, h, start_n, vz, vh, vn, Sk, D, BLOCK_N, BLOCK_D, TMA)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None], input_precision="ieee")
        m_i = m_new
    lse = tl.where(l_i > 0, (m_i + tl.log2(l_i)) * LN2, float("-inf"))
    lse = tl.where(l_i == l_i, lse, l_i)
    acc = acc * (1.0 / tl.where(l_i == 0, 1.0, l_i))[:, None]
    row = zh.to(tl.int64) * Sq + offs_m
    tl.store(lse_ptr + row, lse, mask=offs_m < Sq)
    cols = tl.arange(0, BLOCK_D)
    tl.store(o_ptr + row[:, None] * D + cols[None, :], acc.to(o_ptr.dtype.element_ty),
             mask=(offs_m < Sq)[:, None] & (cols < D)[None, :])  # fmt: skip


def can_use_tma(x):
    if x.is_cuda and torch.cuda.get_device_capability(x.device)[0] < 9:
        return False
    size = x.element_size()
    aligned = x.data_ptr() % 16 == 0 and all(s > 0 and s * size % 16 == 0 for s in x.stride()[:3])
    return x.numel() > 0 and aligned


def flash_forward(q, k, v, scale, causal):
    Z, H, Sq, D = q.shape
    Sk = k.shape[2]
    o = torch.empty((Z, H, Sq, D), dtype=q.dtype, device=q.device)
    lse = torch.empty((Z, H, Sq), dtype=torch.float32, device=q.device)
    BLOCK_M, BLOCK_N = (64, 16) if q.dtype == torch.float32 else (128, 64)
    BLOCK_D = max(16, triton.next_power_of_2(D))
    tma = can_use_tma(q) and can_use_tma(k) and can_use_tma(v)
    sources = q, k, v
    if tma:
        blocks = [1, 1, BLOCK_M, BLOCK_D], [1, 1, BLOCK_N, BLOCK_D], [1, 1, BLOCK_N, BLOCK_D]
        sources = [TensorDescriptor.from_tensor(x, b) for x, b in zip(sources, blocks, strict=True)]
    flash_fwd_kernel[(triton.cdiv(Sq, BLOCK_M) * Z * H,)](
        *sources, o, lse, scale, Z, H, Sq, Sk, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3],
        D=D, BLOCK_D=BLOCK_D, CAUSAL=causal, TMA=tma, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N,
        num_warps=8 if D > 64 else 4, num_stages=3 if tma else 2,
    )  # fmt: skip
    return o, lse
