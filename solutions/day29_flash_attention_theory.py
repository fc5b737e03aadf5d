"""Day 29: two partial softmaxes become one, and the bytes that flash attention moves."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def merge_kernel(
    m1_ptr,
    l1_ptr,
    o1_ptr,
    m2_ptr,
    l2_ptr,
    o2_ptr,
    m_ptr,
    l_ptr,
    o_ptr,
    n_rows,
    D,
    stride_o1m,
    stride_o2m,
    BLOCK_M: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """Merge BLOCK_M rows of two partial softmaxes into one each; BLOCK_D >= D."""
    # 64 bits: a row of o may start 2**31 elements or more after the first one.
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, BLOCK_D)
    rows = offs_m < n_rows
    mask = rows[:, None] & (offs_d < D)[None, :]
    m1 = tl.load(m1_ptr + offs_m, mask=rows, other=0.0)
    m2 = tl.load(m2_ptr + offs_m, mask=rows, other=0.0)
    m = tl.maximum(m1, m2)
    # A part without keys has m = -inf, and exp(-inf - m) is the weight 0 that it deserves. If both have none,
    # m is -inf too and the difference would be NaN: there any finite number does instead.
    shift = tl.where(m == -float("inf"), 0.0, m)
    alpha1 = tl.exp(m1 - shift)
    alpha2 = tl.exp(m2 - shift)
    l1 = tl.load(l1_ptr + offs_m, mask=rows, other=0.0)
    l2 = tl.load(l2_ptr + offs_m, mask=rows, other=0.0)
    tl.store(m_ptr + offs_m, m, mask=rows)
    tl.store(l_ptr + offs_m, l1 * alpha1 + l2 * alpha2, mask=rows)
    # Nearly all of the bytes: 3 * 4 * D a row, against 3 * 8 for m and l.
    o1 = tl.load(o1_ptr + offs_m[:, None] * stride_o1m + offs_d[None, :], mask=mask)
    o2 = tl.load(o2_ptr + offs_m[:, None] * stride_o2m + offs_d[None, :], mask=mask)
    o = o1 * alpha1[:, None] + o2 * alpha2[:, None]
    tl.store(o_ptr + offs_m[:, None] * D + offs_d[None, :], o, mask=mask)


def merge(
    m1: torch.Tensor,
    l1: torch.Tensor,
    o1: torch.Tensor,
    m2: torch.Tensor,
    l2: torch.Tensor,
    o2: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return (m, l, o) over the keys of both parts, of m, l [rows] and unnormalised o [rows, D], fp32."""
    n_rows, D = o1.shape
    m_i = torch.empty(n_rows, dtype=torch.float32, device=o1.device)
    l_i = torch.empty(n_rows, dtype=torch.float32, device=o1.device)
    o = torch.empty(n_rows, D, dtype=torch.float32, device=o1.device)
    BLOCK_D = triton.next_power_of_2(D)
    # 2048 elements of o1 and as many of o2: 16 of each a thread.
    BLOCK_M = max(2048 // BLOCK_D, 1)
    merge_kernel[(triton.cdiv(n_rows, BLOCK_M),)](
        m1,
        l1,
        o1,
        m2,
        l2,
        o2,
        m_i,
        l_i,
        o,
        n_rows,
        D,
        o1.stride(0),
        o2.stride(0),
        BLOCK_M=BLOCK_M,
        BLOCK_D=BLOCK_D,
        num_warps=4,
    )
    return m_i, l_i, o


def flash_traffic(S: int, D: int, block_m: int, itemsize: int) -> int:
    """Return the bytes that one head's programs read and write, with block_m queries a program."""
    tiles = triton.cdiv(S, block_m)
    # Q is read once and O written once, in pieces; K and V are read whole by every tile of queries.
    return itemsize * S * D * (2 + 2 * tiles)
