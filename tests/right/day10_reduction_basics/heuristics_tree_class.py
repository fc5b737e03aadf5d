"""Sum as a tree of equal launches inside a class: heuristics EVEN_N, unmasked loads where blocks are full."""

import torch
import triton
import triton.language as tl


@triton.heuristics({"EVEN_N": lambda args: args["n"] % args["BLOCK_SIZE"] == 0})
@triton.jit
def _block_sum(x_ptr, y_ptr, n, BLOCK_SIZE: tl.constexpr, EVEN_N: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    if EVEN_N:
        x = tl.load(x_ptr + offs, eviction_policy="evict_first")
    else:
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0, eviction_policy="evict_first")
    tl.store(y_ptr + pid, tl.sum(x.to(tl.float32), axis=0))


class Sum:
    def __init__(self, block_size=16384, num_warps=8):
        self.block_size = block_size
        self.num_warps = num_warps

    def __call__(self, x):
        assert x.dim() == 1 and x.is_contiguous()
        if x.numel() == 0:
            return torch.zeros((), dtype=torch.float32, device=x.device)
        while True:
            n_blocks = triton.cdiv(x.numel(), self.block_size)
            y = torch.empty(n_blocks, dtype=torch.float32, device=x.device)
            _block_sum[(n_blocks,)](x, y, x.numel(), BLOCK_SIZE=self.block_size, num_warps=self.num_warps)
            if n_blocks == 1:
                return y.view(())
            x = y


_sum = Sum()


def total(x):
    return _sum(x)
