"""Day 10: the sum of a vector, in stages: every launch leaves one number a block."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def sum_blocks_kernel(x_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    """partial[pid] = the sum of x[pid * BLOCK : (pid + 1) * BLOCK], in fp32."""
    pid = tl.program_id(0)
    offs = pid.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    # The read: BLOCK elements. Lanes past the end hold 0, which no sum notices.
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    # fp32 before the sum: fp16 ends at 65504, and from 2048 on it no longer notices a 1.
    block_sum = tl.sum(x.to(tl.float32), axis=0)
    # The write: 4 bytes. Each program has a place of its own, so none waits for or adds to another's.
    tl.store(partial_ptr + pid, block_sum)


def total(x: torch.Tensor) -> torch.Tensor:
    """Return the sum of x[n], contiguous, as a 0-d fp32 tensor."""
    n = x.numel()
    # 64 KB of fp32 a program, 16 loads of 16 bytes a thread at 8 warps. 2**27 elements leave 8192 partial
    # sums, which fit in one block: the second launch reads 32 KB where the first read 512 MB.
    BLOCK = 16384
    n_blocks = max(triton.cdiv(n, BLOCK), 1)  # nothing at all still has a sum
    partial = torch.empty(n_blocks, dtype=torch.float32, device=x.device)
    sum_blocks_kernel[(n_blocks,)](x, partial, n, BLOCK=BLOCK, num_warps=8)
    # Between launches all programs are done: the one place where they can wait for each other.
    return total(partial) if n_blocks > 1 else partial.view(())
