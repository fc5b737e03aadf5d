"""Seeded dropout on a 3-d grid (columns, rows, batch) of any strides, int32, tl.rand in both passes."""

import torch
import triton
import triton.language as tl


@triton.jit
def _seeded_dropout_3d(
    x_ptr, y_ptr, M, N, stride_b, stride_m, stride_n, p, scale, seed, BLOCK_N: tl.constexpr
):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    pid_m = tl.program_id(1)
    pid_b = tl.program_id(2)
    mask = cols < N
    x = tl.load(x_ptr + pid_b * stride_b + pid_m * stride_m + cols * stride_n, mask=mask, other=0.0)
    index = (pid_b * M + pid_m) * N + cols
    keep = tl.rand(seed, index) >= p
    y = tl.where(keep, x.to(tl.float32) * scale, 0.0)
    tl.store(y_ptr + index, y.to(y_ptr.dtype.element_ty), mask=mask)


def _launch(x, p, seed):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return y
    x3 = x.view(1, 1, -1) if x.is_contiguous() else x[(None,) * (3 - x.dim())]
    B, M, N = x3.shape
    BLOCK_N = min(triton.next_power_of_2(N), 1024)
    scale = 0.0 if p == 1 else 1 / (1 - p)
    grid = (triton.cdiv(N, BLOCK_N), M, B)
    num_warps = 1 if BLOCK_N <= 128 else 4
    _seeded_dropout_3d[grid](x3, y, M, N, *x3.stride(), p, scale, seed, BLOCK_N=BLOCK_N, num_warps=num_warps)
    return y


class SeededDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, seed):
        ctx.p, ctx.seed = p, seed
        return _launch(x, p, seed)

    @staticmethod
    def backward(ctx, dy):
        return _launch(dy, ctx.p, ctx.seed), None, None


def dropout(x, p, seed):
    return SeededDropout.apply(x, p, seed)
