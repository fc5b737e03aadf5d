"""Where a group's weights begin stands in a table of addresses, as in Triton's tutorial on grouped GEMM."""

import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(
    x_ptr,
    addresses_ptr,
    out_ptr,
    sizes_ptr,
    groups,
    n,
    k,
    stride_xm,
    stride_xk,
    stride_wk,
    stride_wn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    tile, tiles_n = tl.program_id(0), tl.cdiv(n, BLOCK_N)
    first_tile, first_row = 0, tl.cast(0, tl.int64)
    for group in range(groups):
        size = tl.load(sizes_ptr + group)
        tiles = tl.cdiv(size, BLOCK_M) * tiles_n
        if (tile >= first_tile) & (tile < first_tile + tiles):
            w_ptr = tl.load(addresses_ptr + group).to(tl.pointer_type(x_ptr.dtype.element_ty))
            rows = (tile - first_tile) // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
            cols = ((tile - first_tile) % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
            offs_k = tl.arange(0, BLOCK_K).to(tl.int64)
            x_ptrs = x_ptr + (first_row + rows)[:, None] * stride_xm + offs_k[None, :] * stride_xk
            w_ptrs = w_ptr + offs_k[:, None] * stride_wk + cols[None, :] * stride_wn
            acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
            for start in range(0, k, BLOCK_K):
                left = offs_k < k - start
                x = tl.load(x_ptrs, mask=(rows < size)[:, None] & left[None, :], other=0.0)
                w = tl.load(w_ptrs, mask=left[:, None] & (cols < n)[None, :], other=0.0)
                acc = tl.dot(x, w, acc, input_precision="ieee")
                x_ptrs += BLOCK_K * stride_xk
                w_ptrs += BLOCK_K * stride_wk
            mask = (rows < size)[:, None] & (cols < n)[None, :]
            tl.store(out_ptr + (first_row + rows)[:, None] * n + cols[None, :], acc, mask=mask)
        first_tile += tiles
        first_row += size


def grouped_matmul(x, w, group_sizes):
    (t, k), (e, _, n) = x.shape, w.shape
    out = torch.empty(t, n, dtype=x.dtype, device=x.device)
    if t == 0 or n == 0:
        return out
    slow = x.dtype == torch.float32
    block_m = 64 if slow or t < 128 * e else 128
    block_n, block_k = (64, 32) if slow else (128, 64)
    apart = w.stride(0) * w.element_size()
    addresses = torch.tensor([w.data_ptr() + group * apart for group in range(e)], device=x.device)
    product_kernel[((t // block_m + min(e, t)) * triton.cdiv(n, block_n),)](
        x,
        addresses,
        out,
        group_sizes,
        e,
        n,
        k,
        *x.stride(),
        *w.stride()[1:],
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        BLOCK_K=block_k,
        num_warps=8,
        num_stages=3,
    )
    return out
