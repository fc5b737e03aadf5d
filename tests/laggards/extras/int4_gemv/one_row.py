"""One row of the weights a program of one warp, for one row of x: a dot product by tl.sum."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(x_ptr, packed_ptr, scales_ptr, zeros_ptr, y_ptr, n, k, GROUP: tl.constexpr):
    row, col = tl.program_id(1), tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, GROUP // 2)
    acc = tl.zeros((GROUP // 2,), tl.float32)
    for group in range(0, k // GROUP):
        packed = tl.load(packed_ptr + col * (k // 2) + group * (GROUP // 2) + offs)
        scale = tl.load(scales_ptr + col * (k // GROUP) + group).to(tl.float32)
        zero = tl.load(zeros_ptr + col * (k // GROUP) + group).to(tl.float32)
        even = tl.load(x_ptr + row * k + group * GROUP + 2 * offs).to(tl.float32)
        odd = tl.load(x_ptr + row * k + group * GROUP + 2 * offs + 1).to(tl.float32)
        low, high = (packed & 0xF).to(tl.float32) - zero, (packed >> 4).to(tl.float32) - zero
        acc += (low * even + high * odd) * scale
    tl.store(y_ptr + row * n + col, tl.sum(acc, axis=0))


def int4_gemv(x, packed, scales, zeros, group_size):
    (m, k), n = x.shape, packed.shape[0]
    y = torch.empty(m, n, dtype=x.dtype, device=x.device)
    row_kernel[(n, m)](x, packed, scales, zeros, y, n, k, GROUP=group_size, num_warps=1)
    return y
