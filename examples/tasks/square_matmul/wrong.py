"""Right where tiles divide the matrix, as at 2048: at other sizes rows and columns are left out."""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs_m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offs_n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, n, BLOCK):
        offs_k = k + tl.arange(0, BLOCK)
        a_mask = (offs_m[:, None] < n) & (offs_k[None, :] < n)
        b_mask = (offs_k[:, None] < n) & (offs_n[None, :] < n)
        a = tl.load(a_ptr + offs_m[:, None] * n + offs_k[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + offs_k[:, None] * n + offs_n[None, :], mask=b_mask, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    c_mask = (offs_m[:, None] < n) & (offs_n[None, :] < n)
    tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=c_mask)


def square_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    n = a.shape[0]
    c = torch.empty_like(a)
    tiles = n // 32
    matmul_kernel[(tiles, tiles)](a, b, c, n, BLOCK=32)
    return c
