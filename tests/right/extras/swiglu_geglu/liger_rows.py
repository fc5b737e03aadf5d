"""SwiGLU and GeGLU in Liger's manner: a row a program, a helper for both, tanh of libdevice, int32."""

import torch
import triton
import triton.language as tl
from triton.language.extra.libdevice import tanh

SQRT_2_OVER_PI = tl.constexpr(0.7978845608028654)


@triton.jit
def act_and_grad(a, GEGLU: tl.constexpr):
    if GEGLU:
        t = tanh(SQRT_2_OVER_PI * (a + 0.044715 * a * a * a))
        act = 0.5 * a * (1 + t)
        grad = 0.5 * (1 + t) + 0.5 * a * (1 - t * t) * SQRT_2_OVER_PI * (1 + 3 * 0.044715 * a * a)
    else:
        sig = tl.sigmoid(a)
        act = a * sig
        grad = act * (1 - sig) + sig
    return act, grad


@triton.jit
def glu_forward_kernel(
    a_ptr, b_ptr, c_ptr, stride_a, stride_b, n_cols, GEGLU: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    a = tl.load(a_ptr + row * stride_a + cols, mask=mask, other=0).to(tl.float32)
    b = tl.load(b_ptr + row * stride_b + cols, mask=mask, other=0).to(tl.float32)
    act, _ = act_and_grad(a, GEGLU)
    tl.store(c_ptr + row * n_cols + cols, act * b, mask=mask)


@triton.jit
def glu_backward_kernel(
    dc_ptr,
    a_ptr,
    b_ptr,
    da_ptr,
    db_ptr,
    stride_dc,
    stride_dcn,
    stride_a,
    stride_b,
    n_cols,
    GEGLU: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    dc = tl.load(dc_ptr + row * stride_dc + cols * stride_dcn, mask=mask, other=0).to(tl.float32)
    a = tl.load(a_ptr + row * stride_a + cols, mask=mask, other=0).to(tl.float32)
    b = tl.load(b_ptr + row * stride_b + cols, mask=mask, other=0).to(tl.float32)
    act, grad = act_and_grad(a, GEGLU)
    tl.store(da_ptr + row * n_cols + cols, dc * b * grad, mask=mask)
    tl.store(db_ptr + row * n_cols + cols, dc * act, mask=mask)


def settings(n_cols):
    BLOCK_SIZE = min(triton.next_power_of_2(n_cols), 2048)
    return triton.cdiv(n_cols, BLOCK_SIZE), {
        "BLOCK_SIZE": BLOCK_SIZE,
        "num_warps": 4 if BLOCK_SIZE < 2048 else 8,
    }


class LigerGLUFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, geglu):
        n_rows, n_cols = a.shape
        c = torch.empty(n_rows, n_cols, dtype=a.dtype, device=a.device)
        blocks, meta = settings(n_cols)
        glu_forward_kernel[(n_rows, blocks)](a, b, c, a.stride(0), b.stride(0), n_cols, GEGLU=geglu, **meta)
        ctx.save_for_backward(a, b)
        ctx.geglu = geglu
        return c

    @staticmethod
    def backward(ctx, dc):
        a, b = ctx.saved_tensors
        n_rows, n_cols = a.shape
        da, db = (torch.empty(n_rows, n_cols, dtype=a.dtype, device=a.device) for _ in range(2))
        blocks, meta = settings(n_cols)
        glu_backward_kernel[(n_rows, blocks)](
            dc,
            a,
            b,
            da,
            db,
            dc.stride(0),
            dc.stride(1),
            a.stride(0),
            b.stride(0),
            n_cols,
            GEGLU=ctx.geglu,
            **meta,
        )
        return da, db, None


def swiglu(gate, up):
    return LigerGLUFunction.apply(gate, up, False)


def geglu(gate, up):
    return LigerGLUFunction.apply(gate, up, True)
