"""Wide softmax by at most 108 persistent programs, online scalars, second pass backwards, int32 offsets.

May have limits.
"""

import torch
import triton
import triton.language as tl

NUM_PROGRAMS = 108


@triton.jit
def softmax_kernel(x_ptr, y_ptr, n_rows, n_cols, stride_x, stride_y, BLOCK_SIZE: tl.constexpr):
    offsets = tl.arange(0, BLOCK_SIZE)
    num_blocks = tl.cdiv(n_cols, BLOCK_SIZE)
    for row in range(tl.program_id(0), n_rows, tl.num_programs(0)):
        x_row = x_ptr + row * stride_x
        y_row = y_ptr + row * stride_y
        m_i = -3.4028234e38
        l_i = 0.0
        for i in range(0, num_blocks):
            cols = i * BLOCK_SIZE + offsets
            x = tl.load(x_row + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
            m_new = tl.maximum(m_i, tl.max(x, axis=0))
            l_i = l_i * tl.exp(m_i - m_new) + tl.sum(tl.exp(x - m_new), axis=0)
            m_i = m_new
        for i in range(0, num_blocks):
            cols = (num_blocks - 1 - i) * BLOCK_SIZE + offsets
            mask = cols < n_cols
            x = tl.load(x_row + cols, mask=mask, other=-float("inf"), eviction_policy="evict_first").to(
                tl.float32
            )
            tl.store(y_row + cols, tl.exp(x - m_i) / l_i, mask=mask, eviction_policy="evict_first")


def softmax(x):
    n_rows, n_cols = x.shape
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    BLOCK_SIZE = min(triton.next_power_of_2(n_cols), 16384)
    num_warps = 32 if BLOCK_SIZE >= 8192 else 8
    grid = (min(n_rows, NUM_PROGRAMS),)
    softmax_kernel[grid](
        x, y, n_rows, n_cols, x.stride(0), y.stride(0), BLOCK_SIZE=BLOCK_SIZE, num_warps=num_warps
    )
    return y
