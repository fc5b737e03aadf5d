"""RoPE as Liger and unsloth have it: a token a program with all its heads, batch on axis 1, int32 offsets.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _rope_embedding(
    X,
    Y,
    COS,
    SIN,
    POS,
    seq_len,
    n_heads,
    half,
    stride_b,
    stride_s,
    stride_h,
    stride_d,
    INTERLEAVED: tl.constexpr,
    BACKWARD_PASS: tl.constexpr,
    BLOCK_H: tl.constexpr,
    BLOCK_HALF: tl.constexpr,
):
    token = tl.program_id(0)
    batch = tl.program_id(1)
    heads = tl.arange(0, BLOCK_H)[:, None]
    pair = tl.arange(0, BLOCK_HALF)
    position = tl.load(POS + batch * seq_len + token)
    cos = tl.load(COS + position * half + pair, mask=pair < half, other=0.0)[None, :]
    sin = tl.load(SIN + position * half + pair, mask=pair < half, other=0.0)[None, :]
    if BACKWARD_PASS:
        sin = -sin
    if INTERLEAVED:
        first, second = 2 * pair, 2 * pair + 1
    else:
        first, second = pair, pair + half
    mask = (heads < n_heads) & (pair < half)[None, :]
    X += batch * stride_b + token * stride_s
    Y += (batch * seq_len + token) * n_heads * half * 2
    x1 = tl.load(X + heads * stride_h + first[None, :] * stride_d, mask=mask, other=0.0).to(tl.float32)
    x2 = tl.load(X + heads * stride_h + second[None, :] * stride_d, mask=mask, other=0.0).to(tl.float32)
    tl.store(Y + heads * half * 2 + first[None, :], x1 * cos - x2 * sin, mask=mask)
    tl.store(Y + heads * half * 2 + second[None, :], x2 * cos + x1 * sin, mask=mask)


def rotate(x, cos, sin, positions, interleaved, backward):
    b, s, h, d = x.shape
    y = torch.empty((b, s, h, d), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    BLOCK_H, BLOCK_HALF = triton.next_power_of_2(h), triton.next_power_of_2(d // 2)
    num_warps = 4 if BLOCK_H * BLOCK_HALF <= 4096 else 8
    _rope_embedding[(s, b)](
        x,
        y,
        cos,
        sin,
        positions,
        s,
        h,
        d // 2,
        *x.stride(),
        INTERLEAVED=interleaved,
        BACKWARD_PASS=backward,
        BLOCK_H=BLOCK_H,
        BLOCK_HALF=BLOCK_HALF,
        num_warps=num_warps,
    )
    return y


class Fast_RoPE_Embedding(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, cos, sin, positions, interleaved):
        ctx.save_for_backward(cos, sin, positions)
        ctx.interleaved = interleaved
        return tuple(rotate(x, cos, sin, positions, interleaved, False) for x in (q, k))

    @staticmethod
    def backward(ctx, dq, dk):
        cos, sin, positions = ctx.saved_tensors
        dq, dk = (rotate(dy, cos, sin, positions, ctx.interleaved, True) for dy in (dq, dk))
        return dq, dk, None, None, None, None


def rope(q, k, cos, sin, positions, interleaved):
    return Fast_RoPE_Embedding.apply(q, k, cos, sin, positions, interleaved)
