"""Pieces of a row go to programs of their own, each with its own maximum; a second kernel merges."""

import torch
import triton
import triton.language as tl


@triton.jit
def piece_kernel(x_ptr, m_ptr, s_ptr, n, stride, PIECE: tl.constexpr, BLOCK: tl.constexpr):
    row, piece = tl.program_id(0).to(tl.int64), tl.program_id(1)
    x_ptr += row * stride
    lanes = tl.arange(0, BLOCK)
    m = float("-inf")
    s = 0.0
    for start in range(piece * PIECE, min(n, (piece + 1) * PIECE), BLOCK):
        x = tl.load(x_ptr + start + lanes, mask=start + lanes < n, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, axis=0))
        if m_new > float("-inf"):
            s = s * tl.exp(m - m_new)
        s += tl.sum(tl.where(x == m_new, 1.0, tl.exp(x - m_new)), axis=0)
        m = m_new
    tl.store(m_ptr + row * tl.num_programs(1) + piece, m)
    tl.store(s_ptr + row * tl.num_programs(1) + piece, tl.where(m == float("-inf"), 0.0, s))


@triton.jit
def merge_kernel(m_ptr, s_ptr, y_ptr, pieces, LANES: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, LANES)
    m = tl.load(m_ptr + row * pieces + lanes, mask=lanes < pieces, other=float("-inf"))
    s = tl.load(s_ptr + row * pieces + lanes, mask=lanes < pieces, other=0.0)
    top = tl.max(m, axis=0)
    y = top + tl.log(tl.sum(tl.where(m == top, s, s * tl.exp(m - top)), axis=0))
    tl.store(y_ptr + row, y)


def logsumexp(x: torch.Tensor) -> torch.Tensor:
    rows, n = x.shape
    pieces = triton.cdiv(n, 8192)
    m = torch.empty((rows, pieces), dtype=torch.float32, device=x.device)
    s = torch.empty_like(m)
    y = m.new_empty(rows)
    if rows:
        piece_kernel[rows, pieces](x, m, s, n, x.stride(0), PIECE=8192, BLOCK=2048, num_warps=8)
        merge_kernel[rows,](m, s, y, pieces, LANES=triton.next_power_of_2(pieces), num_warps=1)
    return y
