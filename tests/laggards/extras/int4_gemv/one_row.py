"""One row of the weights a program of one warp, for one row of x: a dot product by tl.sum."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(
    x_ptr, packed_ptr, scales_ptr, zeros_ptr, y_ptr, n, k, GROUP: tl.constexpr, BLOCK: tl.constexpr
):
    row, col = tl.program_id(1), tl.program_id(0).to(tl.int64)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, k // 2, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < k // 2
        packed = tl.load(packed_ptr + col * (k // 2) + offs, mask=mask, other=0)
        group = col * (k // GROUP) + 2 * offs // GROUP
        scale = tl.load(scales_ptr + group, mask=mask, other=0.0).to(tl.float32)
        zero = tl.load(zeros_ptr + group, mask=mask, other=0).to(tl.float32)
        even = tl.load(x_ptr + row * k + 2 * offs, mask=mask, other=0.0).to(tl.float32)
        odd = tl.load(x_ptr + row * k + 2 * offs + 1, mask=mask, other=0.0).to(tl.float32)
        low, high = (packed & 0xF).to(tl.float32) - zero, (packed >> 4).to(tl.float32) - zero
        acc += (low * even + high * odd) * scale
    tl.store(y_ptr + row * n + col, tl.sum(acc, axis=0))


def int4_gemv(x, packed, scales, zeros, group_size):
    (m, k), n = x.shape, packed.shape[0]
    y = torch.empty(m, n, dtype=x.dtype, device=x.device)
    row_kernel[(n, m)](x, packed, scales, zeros, y, n, k, GROUP=group_size, BLOCK=256, num_warps=1)
    return y
