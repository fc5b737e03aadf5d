"""Honest: a plain grid of two axes, a mask for each side, and one launcher for both layers."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl


@triton.jit
def linear_kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    y_ptr,
    m,
    n,
    k,
    stride_xm,
    stride_xk,
    stride_wn,
    stride_wk,
    HAS_BIAS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """A tile of y = x @ w.T, and + b if there is one. x[m, k], w[n, k] have any strides, y is contiguous."""
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    # 64 bits: an operand may have more than 2**31 elements.
    offs_m = pid_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K).to(tl.int64)
    x_ptrs = x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk
    w_ptrs = w_ptr + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    step = tl.cast(BLOCK_K, tl.int64)
    for k_left in range(k, 0, -BLOCK_K):
        x = tl.load(x_ptrs, mask=(offs_m < m)[:, None] & (offs_k[None, :] < k_left), other=0.0)
        w = tl.load(w_ptrs, mask=(offs_k[:, None] < k_left) & (offs_n < n)[None, :], other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
        x_ptrs += step * stride_xk
        w_ptrs += step * stride_wk
    if HAS_BIAS:
        acc += tl.load(b_ptr + offs_n, mask=offs_n < n).to(tl.float32)[None, :]
    mask = (offs_m < m)[:, None] & (offs_n < n)[None, :]
    # The store rounds to y's dtype: to 16 bits once, or, where y is fp32, not at all.
    tl.store(y_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=mask)


@triton.jit
def bias_kernel(sums_ptr, b_ptr, y_ptr, size, n, BLOCK: tl.constexpr):
    """BLOCK elements of y = sums + b, rounded once; sums[m, n] is fp32, y in the dtype of its tensor."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < size
    total = tl.load(sums_ptr + offs, mask=mask) + tl.load(b_ptr + offs % n, mask=mask).to(tl.float32)
    tl.store(y_ptr + offs, total, mask=mask)


def launch(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor | None, y: torch.Tensor) -> None:
    """Store x @ w.T, and + b if there is one, in y[m, n], which is contiguous."""
    (m, k), n = x.shape, w.shape[0]
    half = x.element_size() == 2 and x.is_cuda and torch.cuda.get_device_capability(x.device) >= (8, 0)
    # IEEE fp32 uses no matrix units, nor does Triton on a T4: larger tiles would spill.
    large = half and m >= 128 and n >= 256
    BLOCK_M, BLOCK_N, BLOCK_K = (128, 128, 32) if large else (64, 64, 32)
    # 85 operations a byte from L2 instead of 64; three stages of it fill 144 KB of an SM.
    if large and torch.cuda.get_device_properties(x.device).shared_memory_per_block_optin >= 144 << 10:
        BLOCK_M, BLOCK_N, BLOCK_K = 128, 256, 64
    linear_kernel[(triton.cdiv(m, BLOCK_M), triton.cdiv(n, BLOCK_N))](
        x,
        w,
        b,
        y,
        m,
        n,
        k,
        *x.stride(),
        *w.stride(),
        HAS_BIAS=b is not None,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        num_warps=8 if large else 4,
        num_stages=3,
    )


def column_parallel(x: torch.Tensor, w_shard: torch.Tensor, b_shard: torch.Tensor) -> torch.Tensor:
    """Return this rank's columns of x @ w.T + b as [m, n / p], in x's dtype.

    x[m, k] is whole on each rank. w_shard[n / p, k] and b_shard[n / p] are this rank's rows of w and b.
    """
    y = torch.empty(x.shape[0], w_shard.shape[0], dtype=x.dtype, device=x.device)
    # Each column needs one row of w and one number of b: no rank needs another.
    launch(x, w_shard, b_shard, y)
    return y


def row_parallel(
    x_shard: torch.Tensor, w_shard: torch.Tensor, b: torch.Tensor, reduce: Callable[[torch.Tensor], None]
) -> torch.Tensor:
    """Return x @ w.T + b as [m, n], whole on each rank, in x's dtype.

    x_shard[m, k / p] and w_shard[n, k / p] are this rank's columns of x and w; b[n] is whole. reduce(t) takes
    t[m, n] in fp32 and replaces it, in place, by its sum over all ranks.
    """
    m, n = x_shard.shape[0], w_shard.shape[0]
    # fp32: a sum that is rounded to 16 bits on each rank is rounded p times.
    sums = torch.empty(m, n, dtype=torch.float32, device=x_shard.device)
    launch(x_shard, w_shard, None, sums)
    reduce(sums)
    # Now, not before: what each of p ranks adds is in the sum p times.
    y = torch.empty(m, n, dtype=x_shard.dtype, device=x_shard.device)
    bias_kernel[(triton.cdiv(y.numel(), 1024),)](sums, b, y, y.numel(), n, BLOCK=1024)
    return y
