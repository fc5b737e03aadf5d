"""Dropout in attorch's manner: a helper for the mask, autotuned block sizes, numbers by tl.rand alone.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def apply_dropout(input, drop_p, seed, offset):
    random = tl.rand(seed, offset)
    keep = random >= drop_p
    return tl.where(keep, input / (1 - drop_p), 0.0), keep


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_SIZE": 512}, num_warps=4),
        triton.Config({"BLOCK_SIZE": 1024}, num_warps=4),
        triton.Config({"BLOCK_SIZE": 1024}, num_warps=8),
    ],
    key=["size"],
)
@triton.jit
def dropout_forward_kernel(
    input_pointer, output_pointer, keep_pointer, size, drop_p, seed, BLOCK_SIZE: tl.constexpr
):
    pid = tl.program_id(axis=0)
    offset = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offset < size
    input = tl.load(input_pointer + offset, mask=mask).to(tl.float32)
    output, keep = apply_dropout(input, drop_p, seed, offset)
    tl.store(output_pointer + offset, output, mask=mask)
    tl.store(keep_pointer + offset, keep, mask=mask)


class Dropout:
    def __init__(self, p):
        self.p = p

    def __call__(self, x, seed):
        flat = x.view(-1)
        output, keep = torch.empty_like(flat), torch.empty_like(flat, dtype=torch.bool)
        size = flat.numel()
        grid = lambda META: (triton.cdiv(size, META["BLOCK_SIZE"]),)  # noqa: E731
        if size > 0:
            dropout_forward_kernel[grid](flat, output, keep, size, self.p, seed)
        return output.view(x.shape), keep.view(x.shape)


def dropout(x, p, seed):
    return Dropout(p)(x, seed)
