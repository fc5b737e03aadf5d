"""A right kernel with seven buckets, each of two variants: whether 16 bytes may be loaded at once."""

import torch
import triton
import triton.language as tl

BUCKETS = {64: 1, 256: 2, 1024: 4, 2048: 4, 4096: 8, 8192: 16, 16384: 16}


@triton.jit(do_not_specialize=["cols", "pitch", "fours", "fourp"])
def rows_of(x, out, cols, pitch, fours, fourp, ALIGNED: tl.constexpr, SIZE: tl.constexpr):
    if ALIGNED:
        cols = fours * 4
        pitch = fourp * 4
    i = tl.program_id(0).to(tl.int64)
    j = tl.arange(0, SIZE)
    value = tl.load(x + i * pitch + j, mask=j < cols, other=float("-inf")).to(tl.float32)
    value = tl.exp(value - tl.max(value, 0))
    tl.store(out + i * cols + j, value / tl.sum(value, 0), mask=j < cols)


def softmax(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    out = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows == 0:
        return out
    size = min(b for b in BUCKETS if b >= cols)
    pitch = x.stride(0)
    aligned = cols % 4 == 0 and pitch % 4 == 0
    rows_of[(rows,)](
        x, out, cols, pitch, cols // 4, pitch // 4, ALIGNED=aligned, SIZE=size, num_warps=BUCKETS[size]
    )
    return out
