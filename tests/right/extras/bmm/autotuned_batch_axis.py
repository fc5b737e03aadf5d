"""Batched matmul, the batch on axis 1 of the grid, grouped tiles, autotuned, int32 offsets.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"TILE_M": m, "TILE_N": n, "TILE_K": k}, num_stages=s, num_warps=w)
        for m, n, k, s, w in [
            (128, 256, 64, 3, 8),
            (128, 128, 32, 4, 4),
            (64, 64, 32, 3, 4),
            (32, 32, 32, 3, 4),
        ]
    ],
    key=["M", "N", "K"],
)
@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["TILE_K"] == 0})
@triton.jit
def bmm_kernel(
    A,
    B,
    C,
    M,
    N,
    K,
    stride_ab,
    stride_am,
    stride_ak,
    stride_bb,
    stride_bk,
    stride_bn,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_K: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    pid = tl.program_id(0)
    pid_b = tl.program_id(1)
    A += pid_b * stride_ab
    B += pid_b * stride_bb
    C += pid_b * M * N
    grid_m, grid_n = tl.cdiv(M, TILE_M), tl.cdiv(N, TILE_N)
    pid_m, pid_n = tl.swizzle2d(pid // grid_n, pid % grid_n, grid_m, grid_n, 8)
    offs_m = pid_m * TILE_M + tl.arange(0, TILE_M)
    offs_n = pid_n * TILE_N + tl.arange(0, TILE_N)
    offs_k = tl.arange(0, TILE_K)
    mask_m, mask_n = offs_m < M, offs_n < N
    a_ptrs = A + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = B + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, TILE_K)):
        if EVEN_K:
            a = tl.load(a_ptrs, mask=mask_m[:, None], other=0.0)
            b = tl.load(b_ptrs, mask=mask_n[None, :], other=0.0)
        else:
            mask_k = offs_k < K - k * TILE_K
            a = tl.load(a_ptrs, mask=mask_m[:, None] & mask_k[None, :], other=0.0)
            b = tl.load(b_ptrs, mask=mask_k[:, None] & mask_n[None, :], other=0.0)
        acc += tl.dot(a, b, allow_tf32=False)
        a_ptrs += TILE_K * stride_ak
        b_ptrs += TILE_K * stride_bk
    o_ptrs = C + offs_m[:, None] * N + offs_n[None, :]
    tl.store(o_ptrs, acc.to(C.dtype.element_ty), mask=mask_m[:, None] & mask_n[None, :])


def bmm(A, B):
    assert A.shape[0] == B.shape[0] and A.shape[2] == B.shape[1]
    batch, M, K = A.shape
    N = B.shape[2]
    out = torch.empty((batch, M, N), dtype=A.dtype, device=A.device)
    if out.numel() == 0:
        return out

    def grid_fn(meta):
        return triton.cdiv(M, meta["TILE_M"]) * triton.cdiv(N, meta["TILE_N"]), batch

    bmm_kernel[grid_fn](A, B, out, M, N, K, *A.stride(), *B.stride())
    return out
