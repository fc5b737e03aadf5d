"""All weights are made fp16 and stored, and then multiplied."""

import torch
import triton
import triton.language as tl


@triton.jit
def decode_kernel(packed_ptr, scales_ptr, zeros_ptr, w_ptr, k, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < k // 2
    packed = tl.load(packed_ptr + row * (k // 2) + offs, mask=mask, other=0)
    group = row * (k // GROUP) + 2 * offs // GROUP
    scale = tl.load(scales_ptr + group, mask=mask, other=0.0).to(tl.float32)
    zero = tl.load(zeros_ptr + group, mask=mask, other=0).to(tl.float32)
    both = tl.interleave(
        ((packed & 0xF).to(tl.float32) - zero) * scale, ((packed >> 4).to(tl.float32) - zero) * scale
    )
    at = tl.program_id(1) * 2 * BLOCK + tl.arange(0, 2 * BLOCK)
    tl.store(w_ptr + row * k + at, both, mask=at < k)


@triton.jit
def product_kernel(
    x_ptr, w_ptr, y_ptr, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    offs_m = tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K)
        w = tl.load(
            w_ptr + offs_n[:, None] * k + offs_k[None, :],
            mask=(offs_n < n)[:, None] & (offs_k < k)[None, :],
            other=0.0,
        )
        x = tl.load(
            x_ptr + offs_m[None, :] * k + offs_k[:, None],
            mask=(offs_m < m)[None, :] & (offs_k < k)[:, None],
            other=0.0,
        )
        acc = tl.dot(w, x, acc)
    tl.store(
        y_ptr + offs_m[None, :] * n + offs_n[:, None], acc, mask=(offs_n < n)[:, None] & (offs_m < m)[None, :]
    )


def int4_gemv(x, packed, scales, zeros, group_size):
    (m, k), n = x.shape, packed.shape[0]
    w = torch.empty(n, k, dtype=x.dtype, device=x.device)
    y = torch.empty(m, n, dtype=x.dtype, device=x.device)
    decode_kernel[(n, max(triton.cdiv(k, 4096), 1))](
        packed, scales, zeros, w, k, GROUP=group_size, BLOCK=2048
    )
    product_kernel[(triton.cdiv(n, 64),)](x, w, y, m, n, k, BLOCK_M=16, BLOCK_N=64, BLOCK_K=64, num_stages=4)
    return y
