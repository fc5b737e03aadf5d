"""Grouped GEMM: each program finds its group by cumsum, then block pointers whose bounds are the group's."""

import torch
import triton
import triton.language as tl


@triton.jit
def _find(pid_m, sizes, BLOCK_M: tl.constexpr):
    """Group, first row, and the row behind the group's last, of tile row pid_m."""
    tiles = tl.cdiv(sizes, BLOCK_M)
    ends = tl.cumsum(tiles, 0)
    before = ends <= pid_m
    group = tl.sum(before.to(tl.int32), 0)
    start = tl.sum(tl.where(before, sizes, 0), 0)
    row = start + (pid_m - tl.sum(tl.where(before, tiles, 0), 0)) * BLOCK_M
    idx = tl.arange(0, sizes.shape[0])
    return group, row, start + tl.sum(tl.where(idx == group, sizes, 0), 0)


@triton.jit
def _grouped_kernel(
    X,
    W,
    OUT,
    SIZES,
    E,
    N,
    K,
    sxm,
    sxk,
    swe,
    swk,
    swn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_E: tl.constexpr,
):
    pid_n, pid_m = tl.program_id(1), tl.program_id(0)
    offs_e = tl.arange(0, BLOCK_E)
    sizes = tl.load(SIZES + offs_e, mask=offs_e < E, other=0)
    group, row, row_end = _find(pid_m, sizes, BLOCK_M)
    if group >= E:
        return
    col = pid_n * BLOCK_N
    px = tl.make_block_ptr(X, (row_end, K), (sxm, sxk), (row, 0), (BLOCK_M, BLOCK_K), (1, 0))
    pw = tl.make_block_ptr(W + group * swe, (K, N), (swk, swn), (0, col), (BLOCK_K, BLOCK_N), (1, 0))
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, K, BLOCK_K):
        x = tl.load(px, boundary_check=(0, 1), padding_option="zero")
        w = tl.load(pw, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(x, w, acc, input_precision="ieee")
        px = tl.advance(px, (0, BLOCK_K))
        pw = tl.advance(pw, (BLOCK_K, 0))
    po = tl.make_block_ptr(OUT, (row_end, N), (N, 1), (row, col), (BLOCK_M, BLOCK_N), (1, 0))
    tl.store(po, acc.to(OUT.dtype.element_ty), boundary_check=(0, 1))


class GroupedLinear(torch.nn.Module):
    def forward(self, x, w, group_sizes):
        (T, K), (E, _, N) = x.shape, w.shape
        out = torch.empty((T, N), device=x.device, dtype=x.dtype)
        if T == 0 or N == 0:
            return out
        blocks = (64, 64, 32) if x.dtype == torch.float32 else (128, 128, 64)
        grid = (triton.cdiv(T, blocks[0]) + E, triton.cdiv(N, blocks[1]))
        _grouped_kernel[grid](
            x,
            w,
            out,
            group_sizes,
            E,
            N,
            K,
            *x.stride(),
            *w.stride(),
            *blocks,
            triton.next_power_of_2(E),
            num_warps=8,
            num_stages=3,
        )
        return out


grouped_matmul = GroupedLinear()
