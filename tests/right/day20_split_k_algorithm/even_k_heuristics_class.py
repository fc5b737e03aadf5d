"""Split-K in a class: EVEN_K by heuristics, interleaved blocks of K, a 2-D reduction over the sheets."""

import torch
import triton
import triton.language as tl


@triton.heuristics({"EVEN_K": lambda args: args["K"] % (args["BLOCK_K"] * args["SPLIT_K"]) == 0})
@triton.jit
def _kernel(
    A,
    B,
    P,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_ps,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    SPLIT_K: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    pid = tl.program_id(0)
    pid_z = tl.program_id(1)
    grid_m = tl.cdiv(M, BLOCK_M)
    rm = (pid % grid_m) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = (pid // grid_m) * BLOCK_N + tl.arange(0, BLOCK_N)
    ram = rm % M
    rbn = rn % N
    rk = pid_z * BLOCK_K + tl.arange(0, BLOCK_K)
    A = A + (ram[:, None] * stride_am + rk[None, :] * stride_ak)
    B = B + (rk[:, None] * stride_bk + rbn[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)):
        if EVEN_K:
            a = tl.load(A)
            b = tl.load(B)
        else:
            k_remaining = K - k * (BLOCK_K * SPLIT_K)
            a = tl.load(A, mask=rk[None, :] < k_remaining, other=0.0)
            b = tl.load(B, mask=rk[:, None] < k_remaining, other=0.0)
        acc += tl.dot(a, b, out_dtype=tl.float32, allow_tf32=False)
        A += BLOCK_K * SPLIT_K * stride_ak
        B += BLOCK_K * SPLIT_K * stride_bk
    P = P + pid_z * stride_ps + rm[:, None] * N + rn[None, :]
    tl.store(P, acc, mask=(rm < M)[:, None] & (rn < N)[None, :])


@triton.jit
def _reduce(P, C, numel, stride_ps, SPLIT_K: tl.constexpr, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    rows = tl.arange(0, SPLIT_K)
    p = tl.load(P + rows[:, None] * stride_ps + cols[None, :], mask=cols[None, :] < numel, other=0.0)
    tl.store(C + cols, tl.sum(p, axis=0).to(C.dtype.element_ty), mask=cols < numel)


class _SplitKMatmul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        M, K = a.shape
        N = b.shape[1]
        bm, bn, bk = (64, 64, 32) if a.dtype == torch.float32 else (64, 128, 64)
        tiles = triton.cdiv(M, bm) * triton.cdiv(N, bn)
        split_k = 1
        while split_k < 64 and split_k * tiles < 128 and 8 * bk * split_k <= K:
            split_k *= 2
        out = torch.empty((M, N), dtype=a.dtype, device=a.device)
        p = out if split_k == 1 else torch.empty((split_k, M, N), dtype=torch.float32, device=a.device)
        _kernel[(tiles, split_k)](
            a,
            b,
            p,
            M,
            N,
            K,
            *a.stride(),
            *b.stride(),
            M * N,
            BLOCK_M=bm,
            BLOCK_N=bn,
            BLOCK_K=bk,
            SPLIT_K=split_k,
            num_warps=4,
            num_stages=4,
        )
        if split_k > 1:
            _reduce[(triton.cdiv(M * N, 128),)](p, out, M * N, M * N, SPLIT_K=split_k, BLOCK=128)
        return out


matmul_split_k = _SplitKMatmul.apply
