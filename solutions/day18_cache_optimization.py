"""Day 18: matmul whose programs take their tiles in groups, so that neighbours in time share L2."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


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


def tile_for(a: torch.Tensor, n: int) -> tuple[int, int, int, int]:
    """BLOCK_M, BLOCK_N, BLOCK_K and num_warps for a product of n columns, on a's device."""
    # IEEE fp32 uses no tensor cores, and neither does Triton on a T4: small tiles, or registers spill.
    if a.dtype == torch.float32 or not a.is_cuda or torch.cuda.get_device_capability(a.device) < (8, 0):
        return 64, 64, 32, 4
    if a.shape[0] < 128 or n < 256:  # a tile larger than the product multiplies zeros
        return 64, 64, 32, 4
    # 128 x 256 does 85 operations for each byte from L2, and three stages of it fill 144 KB of an SM.
    if torch.cuda.get_device_properties(a.device).shared_memory_per_block_optin >= 144 << 10:
        return 128, 256, 64, 8
    return 128, 128, 32, 4


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b for a[m, k] and b[k, n] of any strides, fp16, bf16 or fp32."""
    m = a.shape[0]
    n = b.shape[1]
    k = a.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    BLOCK_M, BLOCK_N, BLOCK_K, num_warps = tile_for(a, n)
    matmul_kernel[(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)](
        a,
        b,
        c,
        m,
        n,
        k,
        *a.stride(),
        *b.stride(),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        # 132 programs at once then cover about 16 x 8 tiles: 2048 rows of a and 2048 columns of b.
        GROUP_M=16,
        EVEN_K=k % BLOCK_K == 0,
        num_warps=num_warps,
        num_stages=3,
    )
    return c
