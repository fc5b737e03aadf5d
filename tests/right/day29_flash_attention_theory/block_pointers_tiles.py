"""merge in tiles of rows by block pointers, columns in chunks with tl.advance, exp2 with log2e.

May have limits.
"""

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def rescale(m, m_new):
    return tl.where(m == float("-inf"), 0.0, tl.exp2((m - m_new) * LOG2E))


@triton.jit
def merge_kernel(
    M1,
    L1,
    O1,
    M2,
    L2,
    O2,
    M,
    L,
    Out,
    n_rows,
    D,
    stride_o1,
    stride_o2,
    BLOCK_M: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    start = tl.program_id(0) * BLOCK_M
    rows = start + tl.arange(0, BLOCK_M)
    mask = rows < n_rows
    m1 = tl.load(M1 + rows, mask=mask, other=float("-inf"))
    m2 = tl.load(M2 + rows, mask=mask, other=float("-inf"))
    m = tl.maximum(m1, m2)
    a1, a2 = rescale(m1, m), rescale(m2, m)
    l1 = tl.load(L1 + rows, mask=mask, other=0.0)
    l2 = tl.load(L2 + rows, mask=mask, other=0.0)
    tl.store(M + rows, m, mask=mask)
    tl.store(L + rows, a1 * l1 + a2 * l2, mask=mask)
    b1 = tl.make_block_ptr(O1, (n_rows, D), (stride_o1, 1), (start, 0), (BLOCK_M, BLOCK_D), (1, 0))
    b2 = tl.make_block_ptr(O2, (n_rows, D), (stride_o2, 1), (start, 0), (BLOCK_M, BLOCK_D), (1, 0))
    b = tl.make_block_ptr(Out, (n_rows, D), (D, 1), (start, 0), (BLOCK_M, BLOCK_D), (1, 0))
    for _ in range(0, D, BLOCK_D):
        o1 = tl.load(b1, boundary_check=(0, 1))
        o2 = tl.load(b2, boundary_check=(0, 1))
        tl.store(b, a1[:, None] * o1 + a2[:, None] * o2, boundary_check=(0, 1))
        b1, b2, b = tl.advance(b1, (0, BLOCK_D)), tl.advance(b2, (0, BLOCK_D)), tl.advance(b, (0, BLOCK_D))


def merge(m1, l1, o1, m2, l2, o2):
    assert o1.stride(1) == o2.stride(1) == 1 or o1.shape[1] == 1
    n_rows, D = o1.shape
    m = torch.empty_like(m1)
    l_ = torch.empty_like(l1)
    o = torch.empty(o1.shape, dtype=o1.dtype, device=o1.device)
    BLOCK_D = min(triton.next_power_of_2(D), 128)
    grid = lambda meta: (triton.cdiv(n_rows, meta["BLOCK_M"]),)  # noqa: E731
    merge_kernel[grid](
        m1, l1, o1, m2, l2, o2, m, l_, o, n_rows, D, o1.stride(0), o2.stride(0), BLOCK_M=16, BLOCK_D=BLOCK_D
    )
    return m, l_, o


def flash_traffic(S, D, block_m, itemsize):
    return itemsize * S * D * (2 + 2 * -(-S // block_m))
