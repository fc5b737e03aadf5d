"""Few programs, each of many blocks; of x only what is kept is loaded: the load has the mask of dropout."""

import torch
import triton
import triton.language as tl


@triton.jit
def drop(x_ptr, y_ptr, keep_ptr, n, p, factor, seed, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        i = tl.cast(block, tl.int64) * BLOCK + tl.arange(0, BLOCK)
        exists = i < n
        kept = tl.rand(seed, i) >= p
        x = tl.load(x_ptr + i, mask=exists & kept, other=0.0).to(tl.float32)
        tl.store(y_ptr + i, (x * factor).to(y_ptr.dtype.element_ty), mask=exists)
        tl.store(keep_ptr + i, kept, mask=exists)


def dropout(x: torch.Tensor, p: float, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    y, keep = torch.empty_like(x), torch.empty_like(x, dtype=torch.bool)
    factor = 0.0 if p == 1.0 else 1.0 / (1.0 - p)
    programs = min(triton.cdiv(x.numel(), 2048), 1056)
    if programs:
        drop[(programs,)](x, y, keep, x.numel(), p, factor, seed, BLOCK=2048, num_warps=8)
    return y, keep
