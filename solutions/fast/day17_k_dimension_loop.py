"""Day 17, tuned: a matrix product of any size, by as many programs as there are SMs.

What it does beyond the plain solution, and what that buys:

- Tensor descriptors (day 21) where the GPU has them: one thread asks for a frame, and no register holds a
  pointer or a mask.
- Each program takes every so-many-th tile: the first frames of a tile are under way while the last one is
  stored, by the copy engine, in two halves of 32 KB beside three stages of 48.
- As few programs as need no more turns than one for each SM would: 128 take 512 tiles in four turns, as 132
  do. What the others leave, power and L2, is theirs.
- Tiles in groups of 16 rows (day 18), column by column: what runs together reads 16 rows of tiles of a and
  eight columns of b, not 8 and 16, of which a column is twice as wide.
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
    """One tile of c = a @ b, BLOCK_M rows high and BLOCK_N columns wide, for any k."""
    tiles_n = tl.cdiv(n, BLOCK_N)
    # 64 bits: products of offsets and strides pass 2**31 for matrices of a few gigabytes.
    offs_m = (tl.program_id(0) // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (tl.program_id(0) % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    rows, cols = offs_m < m, offs_n < n
    # The first frame. Every later one lies the same step further on, so the loop adds and never multiplies.
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :].to(tl.int64) * stride_ak
    b_ptrs = b_ptr + offs_k[:, None].to(tl.int64) * stride_bk + offs_n[None, :] * stride_bn
    # The tile of c stays in registers, in fp32, from the first frame to the last.
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    # 64 bits: BLOCK_K rows of b are 2**31 elements where it has 2**25 columns.
    step = tl.cast(BLOCK_K, tl.int64)
    for left in range(k, 0, -BLOCK_K):
        # (BLOCK_M + BLOCK_N) * BLOCK_K elements a frame. In the last, lanes past k hold 0 on both sides.
        inner = offs_k < left
        a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += step * stride_ak
        b_ptrs += step * stride_bk
    # The only write, and the only rounding to c's dtype.
    tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=rows[:, None] & cols[None, :])


@triton.jit
def descriptor_kernel(
    a_desc,
    b_desc,
    c_desc,
    m,
    tiles_n,
    tiles,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """The same from descriptors; each program takes every num_programs-th tile until none is left."""
    # flatten makes one loop of the two, whose loads run ahead into the next tile.
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        # Of the last group there may be fewer rows.
        group = tile // (GROUP_M * tiles_n) * GROUP_M
        rows = tl.minimum(tl.cdiv(m, BLOCK_M) - group, GROUP_M)
        within = tile % (GROUP_M * tiles_n)
        row, col = (group + within % rows) * BLOCK_M, within // rows * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for start_k in range(0, k, BLOCK_K):
            # A descriptor knows its tensor's bounds: 0 beyond them, so nothing is masked.
            acc = tl.dot(a_desc.load([row, start_k]), b_desc.load([start_k, col]), acc)
        # Written by the copy engine, which drops what lies past the end.
        left, right = tl.split(acc.reshape(BLOCK_M, 2, BLOCK_N // 2).permute(0, 2, 1))
        c_desc.store([row, col], left.to(c_desc.dtype))
        c_desc.store([row, col + BLOCK_N // 2], right.to(c_desc.dtype))


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


def launch_descriptors(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """A program an SM, of which each holds a tile's sums in half of its registers; all take as many turns."""
    BLOCK_M, BLOCK_N, BLOCK_K = 128, 256, 64
    tiles_n = triton.cdiv(c.shape[1], BLOCK_N)
    tiles = triton.cdiv(c.shape[0], BLOCK_M) * tiles_n
    sms = torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 2
    turns = triton.cdiv(tiles, sms)
    descriptor_kernel[(triton.cdiv(tiles, max(turns, 1)),)](
        TensorDescriptor.from_tensor(a, [BLOCK_M, BLOCK_K]),
        TensorDescriptor.from_tensor(b, [BLOCK_K, BLOCK_N]),
        TensorDescriptor.from_tensor(c, [BLOCK_M, BLOCK_N // 2]),
        c.shape[0],
        tiles_n,
        tiles,
        a.shape[1],
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        GROUP_M=16,
        num_warps=8,
        num_stages=3,
    )


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b as a new [m, n], for a[m, k] and b[k, n] of any strides and one dtype."""
    m, n = a.shape[0], b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    if suits_descriptors(a, b, c):
        launch_descriptors(a, b, c)
        return c
    # Any other layout, dtype or GPU: the plain kernel, in fp32 with sums that stay in registers.
    matrix_units = a.dtype.itemsize == 2 and (
        not a.is_cuda or torch.cuda.get_device_capability(a.device)[0] >= 8
    )
    BLOCK_M, BLOCK_N, BLOCK_K = (128, 256, 64) if matrix_units else (64, 64, 32)
    matmul_kernel[(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)](
        a,
        b,
        c,
        m,
        n,
        a.shape[1],
        *a.stride(),
        *b.stride(),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        num_warps=8,
        num_stages=3,
    )
    return c
