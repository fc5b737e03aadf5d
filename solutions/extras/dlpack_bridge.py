"""Extra: x + alpha * y for the arrays of any library that speaks DLPack, without a copy."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def scaled_add_kernel(
    x_ptr,
    y_ptr,
    out_ptr,
    alpha,
    n_cols,
    stride_xm,
    stride_xn,
    stride_ym,
    stride_yn,
    BLOCK: tl.constexpr,
):
    """out = x + alpha * y for BLOCK columns of one row; out is contiguous."""
    pid = tl.program_id(0).to(tl.int64)
    n_blocks = tl.cdiv(n_cols, BLOCK)
    row = pid // n_blocks
    cols = pid % n_blocks * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    # 12 bytes an element of fp32, two reads and a write. The sum is in fp32, and rounded in the store.
    x = tl.load(x_ptr + row * stride_xm + cols * stride_xn, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + row * stride_ym + cols * stride_yn, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * n_cols + cols, x + alpha * y, mask=mask)


def as_tensors(*arrays: Any) -> list[torch.Tensor]:
    """Return each array as a tensor over the array's own memory."""
    tensors = []
    for array in arrays:
        # torch tells the exporter which stream is to read, takes its capsule, and keeps the memory alive.
        tensors.append(torch.from_dlpack(array))
    return tensors


def as_rows(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Return views [m, n] of tensors of one or two dimensions; of contiguous ones, one row with all."""
    if all(tensor.is_contiguous() for tensor in tensors):
        tensors = [tensor.view(1, -1) for tensor in tensors]
    tensors = [tensor if tensor.dim() == 2 else tensor.unsqueeze(0) for tensor in tensors]
    return tensors


def scaled_add(x: Any, y: Any, alpha: float) -> torch.Tensor:
    """Return x + alpha * y as a new, contiguous tensor, for objects with __dlpack__ and __dlpack_device__.

    x, y: one or two dimensions, of one shape, dtype and device, and of any strides.
    """
    x, y = as_tensors(x, y)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    x, y = as_rows([x, y])
    n_rows, n_cols = x.shape
    # 8 elements a thread at 4 warps. On axis 0 alone there may be more than 65535 programs.
    grid = (n_rows * triton.cdiv(n_cols, BLOCK),)
    scaled_add_kernel[grid](x, y, out, alpha, n_cols, *x.stride(), *y.stride(), BLOCK=BLOCK)
    return out
