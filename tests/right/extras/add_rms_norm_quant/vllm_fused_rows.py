"""Add, RMS norm and int8 quantisation, a row a program as in vLLM and Liger; libdevice.rint, int32.

May have limits.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def _fused_add_rms_norm_quant(X, R, W, Q, S, row_stride, n_cols, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    X += row * row_stride
    R += row * row_stride
    Q += row * row_stride
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(R + cols, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(W + cols, mask=mask, other=0.0).to(tl.float32)
    h = (x + r).to(R.dtype.element_ty)
    tl.store(R + cols, h, mask=mask)
    h = h.to(tl.float32)
    rstd = tl.rsqrt(tl.sum(h * h, axis=0) / n_cols + eps)
    y = h * rstd * w
    amax = tl.max(tl.abs(y), axis=0)
    scale = tl.where(amax > 0, amax / 127.0, 1.0)
    q = libdevice.rint(y / scale)
    tl.store(Q + cols, tl.clamp(q, -127.0, 127.0).to(tl.int8), mask=mask)
    tl.store(S + row, scale)


def add_rms_norm_quant(x, residual, weight, eps):
    m, n = x.shape
    assert residual.shape == x.shape and weight.shape == (n,)
    q = torch.empty_like(x, dtype=torch.int8)
    scale = torch.empty(m, dtype=torch.float32, device=x.device)
    BLOCK_SIZE = triton.next_power_of_2(n)
    num_warps = min(max(BLOCK_SIZE // 512, 1), 16)
    _fused_add_rms_norm_quant[(m,)](
        x, residual, weight, q, scale, x.stride(0), n, eps, BLOCK_SIZE=BLOCK_SIZE, num_warps=num_warps
    )
    return q, scale
