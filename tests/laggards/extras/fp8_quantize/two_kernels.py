"""A kernel for the scales, and one for the codes, which reads x again."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, scale_ptr, n_blocks, stride_xm, block, BLOCK_G: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offs_g = tl.program_id(1) * BLOCK_G + tl.arange(0, BLOCK_G)
    offs_n = tl.arange(0, BLOCK_N)
    mask = (offs_g < n_blocks)[:, None] & (offs_n < block)[None, :]
    at = row * stride_xm + offs_g[:, None] * block + offs_n[None, :]
    amax = tl.max(tl.abs(tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)), axis=1)
    scale = tl.where(amax > 0, amax / 448.0, 1.0)
    tl.store(scale_ptr + row * n_blocks + offs_g, scale, mask=offs_g < n_blocks)


@triton.jit
def code_kernel(
    x_ptr, q_ptr, scale_ptr, n_cols, n_blocks, stride_xm, block, BLOCK_G: tl.constexpr, BLOCK_N: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    offs_g = tl.program_id(1) * BLOCK_G + tl.arange(0, BLOCK_G)
    offs_n = tl.arange(0, BLOCK_N)
    cols = offs_g[:, None] * block + offs_n[None, :]
    mask = (offs_g < n_blocks)[:, None] & (offs_n < block)[None, :]
    x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=0.0).to(tl.float32)
    scale = tl.load(scale_ptr + row * n_blocks + offs_g, mask=offs_g < n_blocks, other=1.0)
    tl.store(q_ptr + row * n_cols + cols, (x / scale[:, None]).to(tl.float8e4nv), mask=mask)


def fp8_quantize(x, block):
    n_rows, n_cols = x.shape
    n_blocks = n_cols // block
    q = torch.empty(n_rows, n_cols, dtype=torch.float8_e4m3fn, device=x.device)
    scale = torch.empty(n_rows, n_blocks, dtype=torch.float32, device=x.device)
    BLOCK_N = triton.next_power_of_2(block)
    BLOCK_G = min(max(4096 // BLOCK_N, 1), triton.next_power_of_2(n_blocks))
    grid = n_rows, triton.cdiv(n_blocks, BLOCK_G)
    scale_kernel[grid](x, scale, n_blocks, x.stride(0), block, BLOCK_G=BLOCK_G, BLOCK_N=BLOCK_N)
    code_kernel[grid](x, q, scale, n_cols, n_blocks, x.stride(0), block, BLOCK_G=BLOCK_G, BLOCK_N=BLOCK_N)
    return q, scale
