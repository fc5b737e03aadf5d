"""Logsumexp online, one walk with a block pointer of one row, tl.advance and a running pair."""

import torch
import triton
import triton.language as tl


@triton.jit
def _lse_fwd(X, LSE, M, N, stride_m, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    x_block_ptr = tl.make_block_ptr(X, (M, N), (stride_m, 1), (row, 0), (1, BLOCK_N), (1, 0))
    m_i = float("-inf")
    l_i = 0.0
    for start_n in range(0, N, BLOCK_N):
        x = tl.load(x_block_ptr, boundary_check=(1,), padding_option="zero").to(tl.float32)
        valid = start_n + tl.arange(0, BLOCK_N)[None, :] < N
        x = tl.where(valid, x, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(x))
        # nothing finite yet, or +inf: subtract nothing
        m_safe = tl.where((m_new == float("-inf")) | (m_new == float("inf")), 0.0, m_new)
        l_i = l_i * tl.exp(tl.where(m_i == float("-inf"), m_i, m_i - m_safe)) + tl.sum(tl.exp(x - m_safe))
        m_i = m_new
        x_block_ptr = tl.advance(x_block_ptr, (0, BLOCK_N))
    m_safe = tl.where((m_i == float("-inf")) | (m_i == float("inf")), 0.0, m_i)
    tl.store(LSE + row, m_safe + tl.log(l_i))


def logsumexp(x: torch.Tensor) -> torch.Tensor:
    M, N = x.shape
    lse = x.new_empty((M,), dtype=torch.float32)
    BLOCK_N = max(min(triton.next_power_of_2(N), 8192), 16)
    num_warps = 4 if BLOCK_N <= 2048 else 8
    _lse_fwd[(M,)](x, lse, M, N, x.stride(0), BLOCK_N, num_warps=num_warps)
    return lse
