"""Softmax as an nn.Module with a table of block and warps, int32 offsets, one program a row."""

import torch
import triton
import triton.language as tl

MAX_FUSED_SIZE = 65536


def calculate_settings(n):
    block_size = triton.next_power_of_2(n)
    if block_size > MAX_FUSED_SIZE:
        raise RuntimeError(f"Cannot launch Triton kernel since n = {n} exceeds the maximum {MAX_FUSED_SIZE}.")
    num_warps = 4
    if block_size >= 32768:
        num_warps = 32
    elif block_size >= 8192:
        num_warps = 16
    elif block_size >= 2048:
        num_warps = 8
    return block_size, num_warps


@triton.jit
def _softmax_forward(Y, Y_row_stride, X, X_row_stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    row_idx = tl.program_id(0)
    X += row_idx * X_row_stride
    Y += row_idx * Y_row_stride
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    X_row = tl.load(X + col_offsets, mask=mask, other=float("-inf")).to(tl.float32)
    X_row = X_row - tl.max(X_row, 0)
    X_row = tl.exp(X_row)
    Y_row = X_row / tl.sum(X_row, 0)
    tl.store(Y + col_offsets, Y_row.to(Y.dtype.element_ty), mask=mask)


class Softmax(torch.nn.Module):
    def forward(self, X: torch.Tensor) -> torch.Tensor:
        shape = X.shape
        X = X.view(-1, shape[-1])
        n_rows, n_cols = X.shape
        BLOCK_SIZE, num_warps = calculate_settings(n_cols)
        Y = torch.empty((n_rows, n_cols), dtype=X.dtype, device=X.device)
        _softmax_forward[(n_rows,)](
            Y, Y.stride(0), X, X.stride(0), n_cols, BLOCK_SIZE=BLOCK_SIZE, num_warps=num_warps
        )
        return Y.view(*shape)


softmax = Softmax()
