"""Seeded dropout as in Triton's tutorial: tl.rand by offset, int32, a tl.where for what is kept."""

import torch
import triton
import triton.language as tl


@triton.jit
def _seeded_dropout(x_ptr, output_ptr, mask_ptr, n_elements, p, seed, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    random = tl.rand(seed, offsets)
    x_keep = random >= p
    output = tl.where(x_keep, x / (1 - p), 0.0)
    tl.store(output_ptr + offsets, output, mask=mask)
    tl.store(mask_ptr + offsets, x_keep, mask=mask)


def dropout(x, p, seed):
    assert x.is_contiguous()
    output = torch.empty_like(x)
    keep = torch.empty_like(x, dtype=torch.bool)
    n_elements = x.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)  # noqa: E731
    _seeded_dropout[grid](x, output, keep, n_elements, p, seed, BLOCK_SIZE=1024)
    return output, keep
