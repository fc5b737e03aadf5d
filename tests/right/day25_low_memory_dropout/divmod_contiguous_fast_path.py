"""Flat dropout: contiguous tensors by their offsets, others by int32 divisions; the branch is a constexpr."""

import torch
import triton
import triton.language as tl


@triton.jit
def strided_offsets(index, D1, D2, s0, s1, s2):
    i2 = index % D2
    rest = index // D2
    return (rest // D1) * s0 + (rest % D1) * s1 + i2 * s2


@triton.jit
def dropout_kernel(
    x_ptr, out_ptr, numel, D1, D2, s0, s1, s2, p, seed, CONTIGUOUS: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
    index = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = index < numel
    offs = index if CONTIGUOUS else strided_offsets(index, D1, D2, s0, s1, s2)
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    keep = tl.rand(seed, index) >= p
    tl.store(out_ptr + index, tl.where(keep, x / (1.0 - p), 0.0), mask=mask)


def seeded_dropout(x, p, seed):
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    sizes = [1] * (3 - x.dim()) + list(x.shape)
    strides = [0] * (3 - x.dim()) + list(x.stride())
    grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),)  # noqa: E731
    dropout_kernel[grid](
        x,
        out,
        x.numel(),
        sizes[1],
        sizes[2],
        *strides,
        p,
        seed,
        CONTIGUOUS=x.is_contiguous(),
        BLOCK_SIZE=1024,
    )
    return out


class Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, seed):
        ctx.args = (p, seed)
        return seeded_dropout(x, p, seed)

    @staticmethod
    def backward(ctx, grad_output):
        return seeded_dropout(grad_output, *ctx.args), None, None


dropout = Dropout.apply
