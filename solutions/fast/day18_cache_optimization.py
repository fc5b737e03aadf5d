"""Day 18, tuned: matmul whose programs take their tiles in groups, so that neighbours in time share L2.

What it does beyond the plain solution, and what that buys:

- Tensor descriptors (day 21) where the GPU has them: one thread asks for a tile, and no register holds a
  pointer or a mask. What the warps do not issue costs no power either, and power is what holds the clock of
  such a product down.
- As many programs as SMs, each of which takes every so-many-th tile: the first loads of a tile are under way
  while the last one is stored, by the copy engine, in two halves of 32 KB beside three stages of 48.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M: tl.constexpr):
    """Return the tile (pid_m, pid_n) of program pid: GROUP_M rows of tiles at a time, column by column."""
    pids_in_group = GROUP_M * num_pid_n
    first_pid_m = pid // pids_in_group * GROUP_M
    # What is left for the last group may be fewer rows; walking it as if it were full would leave the matrix.
    rows = tl.minimum(num_pid_m - first_pid_m, GROUP_M)
    pid_in_group = pid % pids_in_group
    pid_m = first_pid_m + pid_in_group % rows
    pid_n = pid_in_group // rows
    return pid_m, pid_n


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
    GROUP_M: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    """c = a @ b, one tile of BLOCK_M x BLOCK_N a program; EVEN_K says that BLOCK_K divides k."""
    pid_m, pid_n = grouped_tile(tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), GROUP_M)
    # 64 bits: an operand may have more than 2**31 elements.
    offs_m = pid_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    # Rows past the end wrap around to rows that exist: the loop needs no mask for them, the store drops them.
    a_ptrs = a_ptr + (offs_m % m)[:, None] * stride_am + offs_k[None, :].to(tl.int64) * stride_ak
    b_ptrs = b_ptr + offs_k[:, None].to(tl.int64) * stride_bk + (offs_n % n)[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    # 64 bits: BLOCK_K rows of b are 2**31 elements where it has 2**25 columns.
    step = tl.cast(BLOCK_K, tl.int64)
    # Each turn reads BLOCK_M + BLOCK_N rows of BLOCK_K, from L2 if a neighbour was here a moment ago.
    for k_left in range(k, 0, -BLOCK_K):
        if EVEN_K:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            a = tl.load(a_ptrs, mask=offs_k[None, :] < k_left, other=0.0)
            b = tl.load(b_ptrs, mask=offs_k[:, None] < k_left, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += step * stride_ak
        b_ptrs += step * stride_bk
    mask = (offs_m < m)[:, None] & (offs_n < n)[None, :]
    tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=mask)


@triton.jit
def descriptor_kernel(
    a_desc,
    b_desc,
    c_desc,
    num_pid_m,
    num_pid_n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """The same from descriptors; each program takes every num_programs-th tile until none is left."""
    # flatten makes one loop of the two, whose loads run ahead into the next tile.
    for tile in tl.range(tl.program_id(0), num_pid_m * num_pid_n, tl.num_programs(0), flatten=True):
        pid_m, pid_n = grouped_tile(tile, num_pid_m, num_pid_n, GROUP_M)
        row, col = pid_m * BLOCK_M, pid_n * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for start_k in range(0, k, BLOCK_K):
            # A descriptor knows its tensor's bounds: 0 beyond them, so nothing is masked or wrapped.
            a = a_desc.load([row, start_k])
            b = b_desc.load([start_k, col])
            acc = tl.dot(a, b, acc)
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
    """A program for each SM, of which every one holds a tile's sums in half of its registers."""
    BLOCK_M, BLOCK_N, BLOCK_K = 128, 256, 64
    num_pid_m, num_pid_n = triton.cdiv(c.shape[0], BLOCK_M), triton.cdiv(c.shape[1], BLOCK_N)
    sms = torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 2
    descriptor_kernel[(min(sms, num_pid_m * num_pid_n),)](
        TensorDescriptor.from_tensor(a, [BLOCK_M, BLOCK_K]),
        TensorDescriptor.from_tensor(b, [BLOCK_K, BLOCK_N]),
        TensorDescriptor.from_tensor(c, [BLOCK_M, BLOCK_N // 2]),
        num_pid_m,
        num_pid_n,
        a.shape[1],
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        GROUP_M=16,
        num_warps=8,
        num_stages=3,
    )


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b for a[m, k] and b[k, n] of any strides, fp16, bf16 or fp32."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    if suits_descriptors(a, b, c):
        launch_descriptors(a, b, c)
        return c
    # Any other layout, dtype or GPU: day 18's plain kernel. IEEE fp32 uses no tensor cores and spills sooner.
    half = a.element_size() == 2 and a.is_cuda and torch.cuda.get_device_capability(a.device) >= (8, 0)
    side, depth = (128 if half else 64), 32
    matmul_kernel[(triton.cdiv(m, side) * triton.cdiv(n, side),)](
        a,
        b,
        c,
        m,
        n,
        k,
        *a.stride(),
        *b.stride(),
        BLOCK_M=side,
        BLOCK_N=side,
        BLOCK_K=depth,
        GROUP_M=16,
        EVEN_K=k % depth == 0,
        num_warps=4,
        num_stages=3,
    )
    return c
