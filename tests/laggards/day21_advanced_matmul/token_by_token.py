"""A program for each token and block of columns: the token's row times its expert's weights."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def token_kernel(
    x_ptr,
    w_ptr,
    out_ptr,
    group_sizes_ptr,
    e,
    n,
    k,
    stride_xm,
    stride_xk,
    stride_we,
    stride_wk,
    stride_wn,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_E: tl.constexpr,
):
    """Reads 1 row of x and BLOCK_N columns of w, writes BLOCK_N elements: kn reads for n outputs."""
    token = tl.program_id(0).to(tl.int64)
    offs_e = tl.arange(0, BLOCK_E)
    ends = tl.cumsum(tl.load(group_sizes_ptr + offs_e, mask=offs_e < e, other=0), axis=0)
    group = tl.sum((ends <= token).to(tl.int32), axis=0).to(tl.int64)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for start_k in range(0, k, BLOCK_K):
        mask_k = start_k + offs_k < k
        x = tl.load(x_ptr + token * stride_xm + (start_k + offs_k) * stride_xk, mask=mask_k, other=0.0)
        w = tl.load(
            w_ptr + group * stride_we + (start_k + offs_k)[:, None] * stride_wk + offs_n[None, :] * stride_wn,
            mask=mask_k[:, None] & (offs_n < n)[None, :],
            other=0.0,
        )
        acc += tl.sum(x.to(tl.float32)[:, None] * w.to(tl.float32), axis=0)
    tl.store(out_ptr + token * n + offs_n, acc, mask=offs_n < n)


def grouped_matmul(x: torch.Tensor, w: torch.Tensor, group_sizes: torch.Tensor) -> torch.Tensor:
    """Return each row of x times the weights of its group."""
    t, k = x.shape
    e, _, n = w.shape
    out = torch.empty(t, n, dtype=x.dtype, device=x.device)
    token_kernel[(t, triton.cdiv(n, 256))](
        x,
        w,
        out,
        group_sizes,
        e,
        n,
        k,
        *x.stride(),
        *w.stride(),
        BLOCK_N=256,
        BLOCK_K=64 if x.is_cuda else 256,
        BLOCK_E=triton.next_power_of_2(e),
    )
    return out
