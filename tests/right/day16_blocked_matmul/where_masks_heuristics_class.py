"""Thin matmul in a class: BLOCK_K and EVEN_K by heuristics, wrapped rows, K masked by tl.where.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.heuristics(
    {
        "BLOCK_K": lambda args: max(16, triton.next_power_of_2(args["K"])),
        "EVEN_K": lambda args: args["K"] >= 16 and args["K"] == triton.next_power_of_2(args["K"]),
    }
)
@triton.jit
def _thin_matmul_fwd(
    A,
    B,
    C,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    ram, rbn = rm % M, rn % N  # rows and columns past the end wrap around; they are not stored
    A += ram[:, None] * stride_am + rk[None, :] * stride_ak
    B += rk[:, None] * stride_bk + rbn[None, :] * stride_bn
    if EVEN_K:
        a = tl.load(A)
        b = tl.load(B)
    else:
        a = tl.load(A, mask=rk[None, :] < K)
        b = tl.load(B, mask=rk[:, None] < K)
        a = tl.where(rk[None, :] < K, a, 0.0)
        b = tl.where(rk[:, None] < K, b, 0.0)
    acc = tl.dot(a, b, out_dtype=tl.float32, input_precision="ieee").to(C.dtype.element_ty)
    tl.store(C + rm[:, None] * N + rn[None, :], acc, mask=(rm < M)[:, None] & (rn < N)[None, :])


class _ThinMatmul:
    BLOCKS = {torch.float32: (64, 64), torch.float16: (128, 128), torch.bfloat16: (128, 128)}

    def __call__(self, a, b):
        M, K = a.shape
        N = b.shape[1]
        c = torch.empty((M, N), dtype=a.dtype, device=a.device)
        BLOCK_M, BLOCK_N = self.BLOCKS[a.dtype]
        grid = (triton.cdiv(N, BLOCK_N), triton.cdiv(M, BLOCK_M))
        _thin_matmul_fwd[grid](
            a, b, c, M, N, K, *a.stride(), *b.stride(), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, num_warps=8
        )
        return c


matmul = _ThinMatmul()
