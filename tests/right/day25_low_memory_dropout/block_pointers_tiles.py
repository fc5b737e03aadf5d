"""Dropout over tiles of each matrix by block pointers, the batch on axis 1, in an nn.Module's manner.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_tile_kernel(
    X, Y, M, N, stride_b, stride_m, stride_n, p, scale, seed, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    pid = tl.program_id(0)
    batch = tl.program_id(1)
    tiles_n = tl.cdiv(N, BLOCK_N)
    row, col = (pid // tiles_n) * BLOCK_M, (pid % tiles_n) * BLOCK_N
    x_block = tl.make_block_ptr(
        X + batch * stride_b, (M, N), (stride_m, stride_n), (row, col), (BLOCK_M, BLOCK_N), (1, 0)
    )
    y_block = tl.make_block_ptr(Y + batch * M * N, (M, N), (N, 1), (row, col), (BLOCK_M, BLOCK_N), (1, 0))
    x = tl.load(x_block, boundary_check=(0, 1))
    rows = row + tl.arange(0, BLOCK_M)
    cols = col + tl.arange(0, BLOCK_N)
    keep = tl.rand(seed, (batch * M + rows[:, None]) * N + cols[None, :]) >= p
    y = tl.where(keep, x.to(tl.float32) * scale, 0.0)
    tl.store(y_block, y.to(Y.dtype.element_ty), boundary_check=(0, 1))


def drop(x, p, seed):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    while x.dim() < 3:
        x = x.unsqueeze(0)
    B, M, N = x.shape
    BLOCK_N = min(triton.next_power_of_2(max(N, 1)), 1024)
    BLOCK_M = max(1, min(1024 // BLOCK_N, triton.next_power_of_2(max(M, 1))))
    grid = (triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N), B)
    scale = 1.0 / (1.0 - p) if p < 1.0 else 0.0
    if y.numel() > 0:
        dropout_tile_kernel[grid](x, y, M, N, *x.stride(), p, scale, seed, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    return y


class _DropoutFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, seed):
        ctx.p = p
        ctx.seed = seed
        return drop(x, p, seed)

    @staticmethod
    def backward(ctx, dy):
        return drop(dy, ctx.p, ctx.seed), None, None


class Dropout(torch.nn.Module):
    def __init__(self, p, seed):
        super().__init__()
        self.p, self.seed = p, seed

    def forward(self, x):
        return _DropoutFunction.apply(x, self.p, self.seed)


def dropout(x, p, seed):
    return Dropout(p, seed)(x)
