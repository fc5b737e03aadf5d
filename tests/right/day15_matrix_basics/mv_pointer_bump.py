"""Matrix-vector product as in operator libraries: pointers that move on, autotuned tiles, int32 strides.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_N": 8, "BLOCK_M": 512}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_N": 4, "BLOCK_M": 1024}, num_warps=8, num_stages=3),
        triton.Config({"BLOCK_N": 64, "BLOCK_M": 64}, num_warps=4, num_stages=3),
    ],
    key=["M", "N", "stride_an", "stride_am"],
)
@triton.jit
def mv_kernel(
    A, B, C, N, M, stride_an, stride_am, stride_bm, stride_cn, BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr
):
    pid = tl.program_id(0)
    offset_n = pid * BLOCK_N + tl.arange(0, BLOCK_N)[:, None]
    offset_m = tl.arange(0, BLOCK_M)[None, :]
    n_mask = offset_n < N
    A_ptrs = A + offset_n * stride_an + offset_m * stride_am
    B_ptrs = B + offset_m * stride_bm
    acc = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float32)
    for m in range(0, M, BLOCK_M):
        m_mask = m + offset_m < M
        a = tl.load(A_ptrs, mask=n_mask & m_mask, other=0.0).to(tl.float32)
        b = tl.load(B_ptrs, mask=m_mask, other=0.0).to(tl.float32)
        acc += a * b
        A_ptrs += BLOCK_M * stride_am
        B_ptrs += BLOCK_M * stride_bm
    acc = tl.sum(acc, axis=1)
    C_ptrs = C + offset_n * stride_cn
    tl.store(C_ptrs, acc[:, None], mask=n_mask)


def matvec(inp, vec):
    assert inp.shape[1] == vec.shape[0], "incompatible dimensions"
    N, M = inp.shape
    out = torch.empty((N,), device=inp.device, dtype=inp.dtype)
    if N == 0:
        return out
    grid = lambda META: (triton.cdiv(N, META["BLOCK_N"]),)  # noqa: E731
    mv_kernel[grid](inp, vec, out, N, M, inp.stride(0), inp.stride(1), vec.stride(0), out.stride(0))
    return out
