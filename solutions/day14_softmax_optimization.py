"""Day 14: softmax of rows too wide for the chip: two passes, the first one online."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
LOWEST = tl.constexpr(-3.4028234e38)  # the lowest finite fp32


@triton.jit
def softmax_kernel(x_ptr, y_ptr, n_rows, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    """y[row, :] = softmax(x[row, :]) for every row that this program visits, BLOCK_N columns at a time."""
    # Four rows of lanes: each lane reads four elements at once, BLOCK_N // 4 apart, and keeps one maximum and
    # one sum. So the first pass needs no barrier, and rescales once for four elements.
    LANES: tl.constexpr = BLOCK_N // 4
    offs_n = tl.arange(0, 4)[:, None] * LANES + tl.arange(0, LANES)[None, :]
    num_blocks = tl.cdiv(n_cols, BLOCK_N)
    # 64 bits: a row may start 2**31 elements or more after the first one.
    for row in range(tl.program_id(0).to(tl.int64), n_rows, tl.num_programs(0)):
        x_row_ptr = x_ptr + row * stride_xm
        y_row_ptr = y_ptr + row * n_cols
        # Starting at a finite number, not at -inf, never subtracts -inf from -inf: no branch for -inf.
        m_i = tl.full((LANES,), LOWEST, tl.float32)
        l_i = tl.zeros((LANES,), tl.float32)
        # First pass, n_cols elements from HBM: the maximum, and the sum as if it had been known all along.
        for block in range(num_blocks):
            cols = block * BLOCK_N + offs_n
            x = tl.load(x_row_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
            m_new = tl.maximum(m_i, tl.max(x, axis=0))
            # exp2 is the chip's own instruction; tl.exp costs three more, here for every element.
            p = tl.exp2((x - m_new[None, :]) * LOG2_E)
            l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + tl.sum(p, axis=0)
            m_i = m_new
        # The lanes' sums belong to different maxima: rescale them to the row's before adding.
        m = tl.max(m_i, axis=0)
        total = tl.sum(l_i * tl.exp2((m_i - m) * LOG2_E), axis=0)
        # One division a row; a product is all that each element pays.
        scale = 1.0 / total
        # Second pass, backwards: what was read last is still in cache. y is marked to leave L2 first, so that
        # it does not push x out; of x, this is the last use.
        for block in range(num_blocks):
            cols = (num_blocks - 1 - block) * BLOCK_N + offs_n
            x = tl.load(x_row_ptr + cols, mask=cols < n_cols, eviction_policy="evict_first").to(tl.float32)
            p = tl.exp2((x - m) * LOG2_E)
            tl.store(y_row_ptr + cols, p * scale, mask=cols < n_cols, eviction_policy="evict_first")


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row of x[m, n], n <= 262144; rows may lie any distance apart."""
    n_rows, n_cols = x.shape
    y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    BLOCK_N = min(max(triton.next_power_of_2(n_cols), 4), 16384)
    num_warps = max(BLOCK_N // 1024, 1)  # 32 elements a thread: four 16-byte loads of fp16 in flight
    # 32 warps an SM, so two wide rows an SM: 264 rows of 65536 fp16 are 35 MB, and an H200's 50 MB of L2
    # still hold them when the second pass comes. A persistent program goes straight from one row to the next.
    sms = torch.cuda.get_device_properties(x.device).multi_processor_count if x.is_cuda else 1
    rounds = max(triton.cdiv(n_rows, sms * (32 // num_warps)), 1)
    num_programs = triton.cdiv(n_rows, rounds)  # all with as many rows, or one row more than others
    softmax_kernel[(num_programs,)](x, y, n_rows, n_cols, x.stride(0), BLOCK_N=BLOCK_N, num_warps=num_warps)
    return y
