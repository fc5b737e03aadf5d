"""GEMV whose tile heuristics follow the strides, masks by tl.where, strides specialised; int32 offsets."""

import triton
import triton.language as tl


def row_major(args):
    return args["stride_an"] <= args["stride_am"]


@triton.heuristics(
    {
        "BLOCK_M": lambda args: 4 if row_major(args) else 64,
        "BLOCK_N": lambda args: 1024 if row_major(args) else 64,
        "EVEN_N": lambda args: args["N"] % (1024 if row_major(args) else 64) == 0,
    }
)
@triton.jit
def gemv_kernel(
    a_ptr,
    x_ptr,
    y_ptr,
    M,
    N,
    stride_am,
    stride_an,
    stride_x,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    EVEN_N: tl.constexpr,
):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.arange(0, BLOCK_N)
    mask_m = rm < M
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for n in range(0, N, BLOCK_N):
        cols = n + rn
        a_ptrs = a_ptr + rm[:, None] * stride_am + cols[None, :] * stride_an
        if EVEN_N:
            a = tl.load(a_ptrs, mask=mask_m[:, None], other=0.0)
            x = tl.load(x_ptr + cols * stride_x)
        else:
            mask_n = cols < N
            a = tl.load(a_ptrs, mask=mask_m[:, None] & mask_n[None, :])
            a = tl.where(mask_n[None, :], a, 0.0)
            x = tl.where(mask_n, tl.load(x_ptr + cols * stride_x, mask=mask_n), 0.0)
        acc += a.to(tl.float32) * x.to(tl.float32)[None, :]
    tl.store(y_ptr + rm, tl.sum(acc, axis=1), mask=mask_m)


def matvec(a, x):
    M, N = a.shape
    y = a.new_empty(M)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]),)  # noqa: E731
    gemv_kernel[grid](a, x, y, M, N, a.stride(0), a.stride(1), x.stride(0), num_warps=4)
    return y
