"""Extra, tuned: a product of each pair of matrices in two batches, all of them in one launch.

What it does beyond the plain solution, and what that buys:

- Tensor descriptors (day 21) of three dimensions where the GPU has them: 154 registers a thread, where
  pointers, their 64-bit steps and masks make it 248, and no warp issues copies between products.
- c goes through the copy engine in two halves, which leaves shared memory for a fourth stage.
- The order of tiles in a matrix is day 18's: 8 rows of tiles, column by column.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def bmm_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    batch,
    m,
    n,
    k,
    stride_ag,
    stride_am,
    stride_ak,
    stride_bg,
    stride_bk,
    stride_bn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Tiles of c[g] = a[g] @ b[g], BLOCK_M high and BLOCK_N wide: every num_programs-th of them all."""
    tiles_n = tl.cdiv(n, BLOCK_N)
    tiles = tl.cdiv(m, BLOCK_M) * tiles_n
    # One count for all: a matrix after the other, and in it a row of tiles after the other. Programs that run
    # together then share matrices, which L2 holds: 4 MB of fp16 each pair. flatten makes one loop of this and
    # the one along k: while a tile is stored, the first pieces of the next one are on their way.
    for pid in tl.range(tl.program_id(0), batch * tiles, tl.num_programs(0), flatten=True):
        # 64 bits: any of the three may pass 2**31 elements, times its stride.
        g = (pid // tiles).to(tl.int64)
        tile = pid % tiles
        offs_m = (tile // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_n = (tile % tiles_n).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
        offs_k = tl.arange(0, BLOCK_K).to(tl.int64)
        rows, cols = offs_m < m, offs_n < n
        a_ptrs = a_ptr + g * stride_ag + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
        b_ptrs = b_ptr + g * stride_bg + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
        # The sums stay in registers, in fp32, while pieces of a's rows and b's columns pass by.
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for left in range(k, 0, -BLOCK_K):
            # (BLOCK_M + BLOCK_N) * BLOCK_K elements a turn. In the last, lanes past k hold 0 on both sides.
            inner = offs_k < left
            a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)
            b = tl.load(b_ptrs, mask=inner[:, None] & cols[None, :], other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
            a_ptrs += BLOCK_K * stride_ak
            b_ptrs += BLOCK_K * stride_bk
        # The only write, and the only rounding. c is contiguous: matrix g begins g * m rows behind the first.
        c_ptrs = c_ptr + (g * m + offs_m[:, None]) * n + offs_n[None, :]
        tl.store(c_ptrs, acc, mask=rows[:, None] & cols[None, :])


@triton.jit
def descriptor_kernel(
    a_desc,
    b_desc,
    c_desc,
    batch,
    tiles_m,
    tiles_n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """The same from descriptors of whole batches, which know their bounds: 0 beyond them, and no write."""
    tiles = tiles_m * tiles_n
    HALF_N: tl.constexpr = BLOCK_N // 2
    for pid in tl.range(tl.program_id(0), batch * tiles, tl.num_programs(0), flatten=True):
        g, tile = pid // tiles, pid % tiles
        first_m = tile // (GROUP_M * tiles_n) * GROUP_M
        group = min(tiles_m - first_m, GROUP_M)
        inside = tile % (GROUP_M * tiles_n)
        row, col = (first_m + inside % group) * BLOCK_M, inside // group * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for start_k in range(0, k, BLOCK_K):
            a = a_desc.load([g, row, start_k]).reshape(BLOCK_M, BLOCK_K)
            b = b_desc.load([g, start_k, col]).reshape(BLOCK_K, BLOCK_N)
            acc = tl.dot(a, b, acc)
        left, right = tl.split(acc.reshape(BLOCK_M, 2, HALF_N).permute(0, 2, 1))
        c_desc.store([g, row, col], left.to(c_desc.dtype).reshape(1, BLOCK_M, HALF_N))
        c_desc.store([g, row, col + HALF_N], right.to(c_desc.dtype).reshape(1, BLOCK_M, HALF_N))


def suits_descriptors(*tensors: torch.Tensor) -> bool:
    """Whether Hopper's copy engine takes them: 16-bit, last dimension dense, else 16-byte boundaries."""
    if tensors[0].is_cuda and torch.cuda.get_device_capability(tensors[0].device)[0] not in (9, 10):
        return False
    return all(
        x.element_size() == 2
        and x.numel() > 0
        and x.data_ptr() % 16 == 0
        and x.stride(2) == 1
        and all(stride > 0 and stride % 8 == 0 for stride in x.stride()[:2])
        for x in tensors
    )


def launch_descriptors(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
    """For matrices of at least a tile: a program for each SM."""
    BLOCK_M, BLOCK_N, BLOCK_K = 128, 256, 64
    batch, m, n = c.shape
    tiles_m, tiles_n = triton.cdiv(m, BLOCK_M), triton.cdiv(n, BLOCK_N)
    programs = torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 3
    descriptor_kernel[(min(batch * tiles_m * tiles_n, programs),)](
        TensorDescriptor.from_tensor(a, [1, BLOCK_M, BLOCK_K]),
        TensorDescriptor.from_tensor(b, [1, BLOCK_K, BLOCK_N]),
        TensorDescriptor.from_tensor(c, [1, BLOCK_M, BLOCK_N // 2]),
        batch,
        tiles_m,
        tiles_n,
        a.shape[2],
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        GROUP_M=8,
        num_warps=8,
        num_stages=4,
    )


def tile_of(a: torch.Tensor, m: int, n: int) -> tuple[int, int, int]:
    """Return BLOCK_M, BLOCK_N and BLOCK_K for matrices of this size, and of a's dtype."""
    major = torch.cuda.get_device_capability(a.device)[0] if a.is_cuda else 9
    # Attention heads and LoRA banks are small: no larger than they, since every lane beyond is wasted.
    if a.dtype.itemsize == 4 or major < 8:
        # fp32, and what Triton computes before Ampere, goes product by product through registers.
        most_m, most_n, BLOCK_K = (64, 64, 32)
    else:
        # The matrix units take more. Three pieces of 48 KB, and 32 to store from, fit on a Hopper SM.
        most_m, most_n, BLOCK_K = (128, 256 if major in (9, 10) else 128, 64)
    BLOCK_M = min(max(triton.next_power_of_2(m), 16), most_m)
    BLOCK_N = min(max(triton.next_power_of_2(n), 16), most_n)
    return BLOCK_M, BLOCK_N, BLOCK_K


def bmm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b as a new [g, m, n], for a[g, m, k] and b[g, k, n] of any strides and one dtype."""
    c = torch.empty(a.shape[0], a.shape[1], b.shape[2], dtype=a.dtype, device=a.device)
    batch, m, n = c.shape
    if m >= 64 and n >= 128 and suits_descriptors(a, b, c):
        launch_descriptors(a, b, c)
        return c
    BLOCK_M, BLOCK_N, BLOCK_K = tile_of(a, m, n)
    tiles = batch * triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N)
    # A program for each SM, which holds no more of them at this size; three where there is none.
    programs = torch.cuda.get_device_properties(a.device).multi_processor_count if a.is_cuda else 3
    bmm_kernel[(min(tiles, programs),)](
        a,
        b,
        c,
        batch,
        m,
        n,
        a.shape[2],
        *a.stride(),
        *b.stride(),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        # Three pieces of 48 KB are on the chip: while one is multiplied, two are on their way.
        num_warps=8 if BLOCK_M * BLOCK_N > 4096 else 4,
        num_stages=3,
    )
    return c
