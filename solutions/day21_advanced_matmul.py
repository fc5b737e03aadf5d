"""Day 21: one matrix product for each group of rows, with group sizes that only the GPU knows."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M: tl.constexpr):
    """Day 18's order: bands of GROUP_M tile rows, each band column by column."""
    first_m = pid // (GROUP_M * num_pid_n) * GROUP_M
    height = tl.minimum(num_pid_m - first_m, GROUP_M)
    in_band = pid % (GROUP_M * num_pid_n)
    return first_m + in_band % height, in_band // height


@triton.jit
def load_sizes(group_sizes_ptr, e, BLOCK_E: tl.constexpr):
    """The sizes of all groups in one block; the lanes past the last group are empty groups."""
    offs_e = tl.arange(0, BLOCK_E)
    return tl.load(group_sizes_ptr + offs_e, mask=offs_e < e, other=0)


@triton.jit
def find_rows(pid_m, sizes, BLOCK_M: tl.constexpr, BLOCK_E: tl.constexpr):
    """Tile row pid_m, counted over all groups: its group, its first row, and the row behind its group's last.

    There is no such tile row when the first row is not below the row behind the last.
    """
    offs_e = tl.arange(0, BLOCK_E)
    # Every group starts a tile row of its own, so that no tile needs the weights of two groups.
    tiles = tl.cdiv(sizes, BLOCK_M)
    tile_ends = tl.cumsum(tiles, axis=0)
    # As many groups end at or before pid_m as come before pid_m's own. An empty one ends where it starts, and
    # is passed over.
    group = tl.sum((tile_ends <= pid_m).to(tl.int32), axis=0)
    first_tile = tl.sum(tl.where(offs_e < group, tiles, 0), axis=0)
    first_row = tl.sum(tl.where(offs_e < group, sizes, 0), axis=0)
    row_end = tl.sum(tl.where(offs_e <= group, sizes, 0), axis=0)
    return group, first_row + (pid_m - first_tile) * BLOCK_M, row_end


@triton.jit
def grouped_matmul_kernel(
    x_ptr,
    w_ptr,
    out_ptr,
    group_sizes_ptr,
    e,
    n,
    k,
    num_pid_m,
    stride_xm,
    stride_xk,
    stride_we,
    stride_wk,
    stride_wn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_E: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """out[rows, tile] = x[rows, :] @ w[group, :, tile] for one tile, where there is one."""
    pid_m, pid_n = grouped_tile(tl.program_id(0), num_pid_m, tl.cdiv(n, BLOCK_N), GROUP_M)
    group, row, row_end = find_rows(pid_m, load_sizes(group_sizes_ptr, e, BLOCK_E), BLOCK_M, BLOCK_E)
    if row >= row_end:
        return
    offs_m = row.to(tl.int64) + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    mask_m = offs_m[:, None] < row_end
    mask_n = offs_n[None, :] < n
    # 64 bits: the weights of a few hundred experts are more than 2**31 elements.
    w_ptr += group.to(tl.int64) * stride_we
    x_ptrs = x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk
    w_ptrs = w_ptr + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start_k in range(0, k, BLOCK_K):
        x = tl.load(x_ptrs, mask=mask_m & (offs_k[None, :] < k - start_k), other=0.0)
        w = tl.load(w_ptrs, mask=(offs_k[:, None] < k - start_k) & mask_n, other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
        x_ptrs += BLOCK_K * stride_xk
        w_ptrs += BLOCK_K * stride_wk
    # Rows past row_end are the next group's: another program writes them, from other weights.
    tl.store(out_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=mask_m & mask_n)


@triton.jit
def persistent_kernel(
    x_desc,
    w_desc,
    out_ptr,
    group_sizes_ptr,
    e,
    n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_E: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """The same by as many programs as there are SMs; each takes every so-many-th tile until none is left."""
    sizes = load_sizes(group_sizes_ptr, e, BLOCK_E)
    num_pid_m = tl.sum(tl.cdiv(sizes, BLOCK_M), axis=0)
    num_pid_n = tl.cdiv(n, BLOCK_N)
    # flatten makes one loop of the two: the first loads of a tile are under way while the last one is stored.
    for tile in tl.range(tl.program_id(0), num_pid_m * num_pid_n, tl.num_programs(0), flatten=True):
        pid_m, pid_n = grouped_tile(tile, num_pid_m, num_pid_n, GROUP_M)
        group, row, row_end = find_rows(pid_m, sizes, BLOCK_M, BLOCK_E)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for start_k in range(0, k, BLOCK_K):
            # A descriptor knows its tensor's bounds, and gives 0 beyond them: no masks, no pointers to keep.
            # It may read rows of the next group; each row has an acc of its own, and theirs is not stored.
            x = x_desc.load([row, start_k])
            w = w_desc.load([group, start_k, pid_n * BLOCK_N]).reshape(BLOCK_K, BLOCK_N)
            acc = tl.dot(x, w, acc)
        offs_m = row.to(tl.int64) + tl.arange(0, BLOCK_M)
        offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
        mask = (offs_m[:, None] < row_end) & (offs_n[None, :] < n)
        tl.store(out_ptr + offs_m[:, None] * n + offs_n[None, :], acc.to(out_ptr.dtype.element_ty), mask=mask)


def suits_descriptors(x: torch.Tensor, w: torch.Tensor) -> bool:
    """Whether Hopper's copy engine can read both: 16-bit, last dimension dense, all else 16-byte aligned."""
    if x.is_cuda and torch.cuda.get_device_capability(x.device)[0] not in (9, 10):
        return False
    return x.element_size() == 2 and all(
        tensor.numel() > 0
        and tensor.stride(-1) == 1
        and tensor.data_ptr() % 16 == 0
        and all(stride > 0 and stride % 8 == 0 for stride in tensor.stride()[:-1])
        for tensor in (x, w)
    )


def launch_persistent(x: torch.Tensor, w: torch.Tensor, group_sizes: torch.Tensor, out: torch.Tensor) -> None:
    """For large groups: 128 x 256 tiles, which read each byte of x and w from L2 the fewest times."""
    (e, k, n), BLOCK_M, BLOCK_N, BLOCK_K = w.shape, 128, 256, 64
    programs = torch.cuda.get_device_properties(x.device).multi_processor_count if x.is_cuda else 4
    persistent_kernel[(programs,)](
        TensorDescriptor.from_tensor(x, [BLOCK_M, BLOCK_K]),
        TensorDescriptor.from_tensor(w, [1, BLOCK_K, BLOCK_N]),
        out,
        group_sizes,
        e,
        n,
        k,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        BLOCK_E=triton.next_power_of_2(e),
        GROUP_M=8,
        num_warps=8,
        num_stages=3,
    )


def grouped_matmul(x: torch.Tensor, w: torch.Tensor, group_sizes: torch.Tensor) -> torch.Tensor:
    """Return, for x[t, k] in groups of group_sizes[e] rows, each group's rows @ its w[e, k, n]: [t, n]."""
    out = torch.empty(x.shape[0], w.shape[2], dtype=x.dtype, device=x.device)
    (t, k), (e, _, n) = x.shape, w.shape
    # The sizes stay on the device; their average is known, and is what the tile's height can go by.
    average = triton.cdiv(t, max(e, 1))
    if average >= 128 and suits_descriptors(x, w):
        launch_persistent(x, w, group_sizes, out)
        return out
    half = x.element_size() == 2
    BLOCK_M = min(max(triton.next_power_of_2(average), 16), 128 if half else 64)
    BLOCK_N = 128 if half else 64
    BLOCK_K = 128 // x.element_size()
    # However the rows are dealt out: whole tiles, and at most one more for each group that has rows at all.
    num_pid_m = t // BLOCK_M + min(e, t)
    grouped_matmul_kernel[(num_pid_m * triton.cdiv(n, BLOCK_N),)](
        x,
        w,
        out,
        group_sizes,
        e,
        n,
        k,
        num_pid_m,
        *x.stride(),
        *w.stride(),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        BLOCK_E=triton.next_power_of_2(e),
        GROUP_M=8,
        num_warps=8 if BLOCK_M == 128 else 4,
        num_stages=3,
    )
    return out
