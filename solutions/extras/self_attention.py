"""Extra: self-attention as a layer: a linear kernel, the attention of day 27, and the linear kernel again."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from mine import attention


@triton.jit
def linear_kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    y_ptr,
    m,
    n,
    k,
    S,
    D,
    stride_xb,
    stride_xs,
    stride_xh,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """A tile of y = x @ w.T + b. Row i of x is token i % S of sequence i // S, column j is j % D of head
    j // D.

    w[n, k] and y[m, n] are contiguous; b is None where there is no bias.
    """
    pid_m, pid_n = tl.program_id(0) // tl.cdiv(n, BLOCK_N), tl.program_id(0) % tl.cdiv(n, BLOCK_N)
    # 64 bits: the last token may lie 2**31 elements or more behind the first one.
    offs_m = pid_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    rows, cols = offs_m < m, offs_n < n
    x_rows = x_ptr + offs_m // S * stride_xb + offs_m % S * stride_xs
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, k, BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K).to(tl.int64)
        inside = offs_k < k
        # The heads are merged here, in the address: no token is moved for it.
        x_ptrs = x_rows[:, None] + (offs_k // D * stride_xh + offs_k % D)[None, :]
        x = tl.load(x_ptrs, mask=rows[:, None] & inside[None, :], other=0.0)
        w_ptrs = w_ptr + offs_n[None, :] * k + offs_k[:, None]
        w = tl.load(w_ptrs, mask=cols[None, :] & inside[:, None], other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    if b_ptr is not None:
        acc += tl.load(b_ptr + offs_n, mask=cols, other=0.0)[None, :]
    tl.store(y_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=rows[:, None] & cols[None, :])


def linear(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor | None) -> torch.Tensor:
    """Return x @ w.T + b as [B, S, n] for x[B, S, H, D] read as [B, S, H * D]; the last stride of x is 1."""
    B, S = x.shape[:2]
    n = w.shape[0]
    y = torch.empty(B, S, n, dtype=x.dtype, device=x.device)
    # Without matrix units a tile's operands go through registers, and those of 64 x 64 sums spill.
    slow = x.is_cuda and (x.dtype == torch.float32 or torch.cuda.get_device_capability(x.device)[0] < 8)
    BLOCK = 32 if slow else 64
    linear_kernel[(triton.cdiv(B * S, BLOCK) * triton.cdiv(n, BLOCK),)](
        x,
        w,
        b,
        y,
        B * S,
        n,
        w.shape[1],
        S,
        x.shape[3],
        *x.stride()[:3],
        BLOCK_M=BLOCK,
        BLOCK_N=BLOCK,
        BLOCK_K=BLOCK,
        num_warps=4,
    )
    return y


def self_attention(
    x: torch.Tensor,
    w_qkv: torch.Tensor,
    b_qkv: torch.Tensor | None,
    w_out: torch.Tensor,
    b_out: torch.Tensor | None,
    num_heads: int,
    causal: bool,
) -> torch.Tensor:
    """Return the attention layer of x[b, s, e] as [b, s, e]; w_qkv[3e, e], w_out[e, e], biases or None.

    The rows of w_qkv are those of q, then k, then v, and within each those of head 0, 1, … of num_heads.
    """
    b, s, e = x.shape
    width = e // num_heads
    # One head of e columns.
    qkv = linear(x[:, :, None, :], w_qkv, b_qkv)
    # [3, b, h, s, d] by strides alone: the heads of a token lie side by side, and stay there.
    heads = qkv.view(b, s, 3, num_heads, width).permute(2, 0, 3, 1, 4)
    context = attention(heads[0], heads[1], heads[2], width**-0.5, causal)
    return linear(context.transpose(1, 2), w_out, b_out)
