"""One program walks the vector in chunks; y is allocated by shape."""

import torch
import triton
import triton.language as tl


@triton.jit
def walk(source, target, n, CHUNK: tl.constexpr):
    for start in range(0, n, CHUNK):
        here = start + tl.arange(0, CHUNK)
        tl.store(target + here, tl.load(source + here) * 2 + 1)


def scale_and_shift(x):
    (n,) = x.shape
    result = torch.empty(n, dtype=x.dtype, device=x.device)
    walk[(1,)](x, result, n, min(n, 256), num_warps=1)
    return result
