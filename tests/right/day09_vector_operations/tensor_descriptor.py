"""Bias and GELU by tensor descriptors (TMA) where the rows allow it, else by pointers; tl.sigmoid."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def gelu(u):
    return u * tl.sigmoid(1.5957691216057308 * u * (1 + 0.044715 * u * u))


@triton.jit
def bias_gelu_tma_kernel(x_desc, bias_ptr, y_desc, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BLOCK_N)
    off_m = (pid // tiles_n) * BLOCK_M
    off_n = (pid % tiles_n) * BLOCK_N
    cols = off_n + tl.arange(0, BLOCK_N)
    bias = tl.load(bias_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
    u = x_desc.load([off_m, off_n]).to(tl.float32) + bias[None, :]
    y_desc.store([off_m, off_n], gelu(u).to(y_desc.dtype))


@triton.jit
def bias_gelu_kernel(x_ptr, bias_ptr, y_ptr, M, N, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BLOCK_N)
    rows = (pid // tiles_n) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = (pid % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows < M)[:, None] & (cols < N)[None, :]
    bias = tl.load(bias_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
    x = tl.load(x_ptr + rows[:, None] * stride_xm + cols[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + rows[:, None] * N + cols[None, :], gelu(x + bias[None, :]), mask=mask)


def fits_tma(t: torch.Tensor) -> bool:
    row_bytes = t.stride(0) * t.element_size()
    return t.data_ptr() % 16 == 0 and row_bytes % 16 == 0 and row_bytes > 0 and t.stride(1) == 1


def bias_gelu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    M, N = x.shape
    y = torch.empty(M, N, dtype=x.dtype, device=x.device)
    BLOCK_M, BLOCK_N = 16, 256
    grid = (triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N),)
    hopper = not x.is_cuda or torch.cuda.get_device_capability(x.device)[0] >= 9
    if hopper and M > 0 and fits_tma(x) and fits_tma(y):
        x_desc = TensorDescriptor.from_tensor(x, [BLOCK_M, BLOCK_N])
        y_desc = TensorDescriptor.from_tensor(y, [BLOCK_M, BLOCK_N])
        bias_gelu_tma_kernel[grid](x_desc, bias, y_desc, N, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    else:
        bias_gelu_kernel[grid](x, bias, y, M, N, x.stride(0), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    return y
