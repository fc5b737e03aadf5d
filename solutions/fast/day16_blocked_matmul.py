"""Day 16, tuned: a matrix product whose inner dimension fits into one tile: one tl.dot for a tile of c.

What it does beyond the plain solution, and what that buys:

- Tensor descriptors (day 21) where the GPU has them, for c too: the copy engine writes a tile of c from
  shared memory while the next one is multiplied. Nearly all of the traffic is c: 134 of 138 MB at 8192 x 128
  x 8192.
- Strips of tiles side by side, which share their piece of a: it is loaded once, and a quarter of the programs
  start. Two of them fit on an SM, so that one stores while the other multiplies.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """One tile of c = a @ b of any strides and dtype; BLOCK_K >= k."""
    tiles_n = tl.cdiv(n, BLOCK_N)
    # 64 bits: products of offsets and strides pass 2**31 for matrices of a few gigabytes.
    offs_m = (tl.program_id(0) // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (tl.program_id(0) % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K).to(tl.int64)
    rows, inner, cols = offs_m < m, offs_k < k, offs_n < n
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
    # Past k both are 0: 0 * 0 adds nothing.
    a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)
    b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0.0)
    acc = tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=rows[:, None] & cols[None, :])


@triton.jit
def strip_kernel(
    a_desc,
    b_desc,
    c_desc,
    strips,
    steps,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """The same in strips: `steps` tiles side by side, which share their piece of a."""
    row = tl.program_id(0) // strips * BLOCK_M
    first = tl.program_id(0) % strips * steps * BLOCK_N
    # A descriptor knows its tensor's bounds: it reads 0 beyond them, and writes nothing there.
    a = a_desc.load([row, 0])
    for step in tl.range(steps, num_stages=4):
        col = first + step * BLOCK_N
        b = b_desc.load([0, col])
        # 2 * BLOCK_M * BLOCK_N bytes a tile, on their way while the next tile is multiplied.
        c_desc.store([row, col], tl.dot(a, b).to(c_desc.dtype))


def suits_descriptors(*tensors: torch.Tensor) -> bool:
    """Whether Hopper's copy engine takes them: 16-bit, last dimension dense, rows on 16-byte boundaries."""
    if tensors[0].is_cuda and torch.cuda.get_device_capability(tensors[0].device)[0] not in (9, 10):
        return False
    return all(
        x.element_size() == 2
        and x.numel() > 0
        and x.data_ptr() % 16 == 0
        and x.stride(1) == 1
        and x.stride(0) > 0
        and x.stride(0) % 8 == 0
        for x in tensors
    )


def launch_strips(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, BLOCK_K: int) -> None:
    """Strips as long as leave two programs for every SM, which is how many it has room for."""
    BLOCK_M, BLOCK_N = 128, 64
    tiles_m, tiles_n = triton.cdiv(c.shape[0], BLOCK_M), triton.cdiv(c.shape[1], BLOCK_N)
    sms = torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 2
    steps = triton.cdiv(tiles_n, max(2 * sms // tiles_m, 1))
    strips = triton.cdiv(tiles_n, steps)
    strip_kernel[(tiles_m * strips,)](
        TensorDescriptor.from_tensor(a, [BLOCK_M, BLOCK_K]),
        TensorDescriptor.from_tensor(b, [BLOCK_K, BLOCK_N]),
        TensorDescriptor.from_tensor(c, [BLOCK_M, BLOCK_N]),
        strips,
        steps,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        num_warps=4,
    )


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b as a new [m, n], for a[m, k] and b[k, n] of any strides and one dtype, k <= 128."""
    m, n = a.shape[0], b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    BLOCK_K = max(triton.next_power_of_2(a.shape[1]), 16)
    if suits_descriptors(a, b, c):
        launch_strips(a, b, c, BLOCK_K)
        return c
    # fp32 goes product by product through registers, and a larger tile would spill.
    matmul_kernel[(triton.cdiv(m, 64) * triton.cdiv(n, 64),)](
        a,
        b,
        c,
        m,
        n,
        a.shape[1],
        *a.stride(),
        *b.stride(),
        BLOCK_M=64,
        BLOCK_N=64,
        BLOCK_K=BLOCK_K,
        num_warps=8,
    )
    return c
