"""A program keeps its tile of a and walks along a row of tiles of c, reading b tile after tile."""

import torch
import triton
import triton.language as tl


@triton.jit
def walk(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    a_m,
    a_k,
    b_k,
    b_n,
    STEPS: tl.constexpr,
    BLOCK: tl.constexpr,
    INNER: tl.constexpr,
):
    rows = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, INNER)
    a = tl.load(
        a_ptr + rows[:, None] * a_m + inner[None, :] * a_k,
        mask=(rows < m)[:, None] & (inner < k)[None, :],
        other=0.0,
    )
    first = tl.program_id(1) * STEPS * BLOCK
    for step in range(STEPS):
        cols = (first + step * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)
        # The transposed piece of b, turned over in registers.
        b_t = tl.load(
            b_ptr + inner[None, :] * b_k + cols[:, None] * b_n,
            mask=(cols < n)[:, None] & (inner < k)[None, :],
            other=0.0,
        )
        c = tl.dot(a, tl.trans(b_t), input_precision="ieee")
        tl.store(c_ptr + rows[:, None] * n + cols[None, :], c, mask=(rows < m)[:, None] & (cols < n)[None, :])


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, k = a.shape
    n = b.size(1)
    c = torch.zeros((m, n), dtype=a.dtype, device=a.device)
    inner = 16 if k <= 16 else 32 if k <= 32 else 64 if k <= 64 else 128
    walk[triton.cdiv(m, 64), triton.cdiv(n, 256)](
        a, b, c, m, n, k, *a.stride(), *b.stride(), STEPS=4, BLOCK=64, INNER=inner, num_warps=8
    )
    return c
