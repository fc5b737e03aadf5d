"""A broadcast add by 3-D block pointers with boundary checks, autotuned over the tile. May have limits."""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 128}, num_warps=4),
        triton.Config({"BLOCK_M": 8, "BLOCK_N": 512}, num_warps=4),
    ],
    key=["M", "N"],
)
@triton.jit
def add_kernel(
    a_ptr, b_ptr, o_ptr, B, M, N, sab, sam, san, sbb, sbm, sbn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    pid_b = tl.program_id(0)
    m_start = tl.program_id(1) * BLOCK_M
    n_start = tl.program_id(2) * BLOCK_N
    a_block = tl.make_block_ptr(
        a_ptr, (B, M, N), (sab, sam, san), (pid_b, m_start, n_start), (1, BLOCK_M, BLOCK_N), (2, 1, 0)
    )
    b_block = tl.make_block_ptr(
        b_ptr, (B, M, N), (sbb, sbm, sbn), (pid_b, m_start, n_start), (1, BLOCK_M, BLOCK_N), (2, 1, 0)
    )
    o_block = tl.make_block_ptr(
        o_ptr, (B, M, N), (M * N, N, 1), (pid_b, m_start, n_start), (1, BLOCK_M, BLOCK_N), (2, 1, 0)
    )
    a = tl.load(a_block, boundary_check=(1, 2), padding_option="zero")
    b = tl.load(b_block, boundary_check=(1, 2), padding_option="zero")
    tl.store(o_block, a + b, boundary_check=(1, 2))


def add_batched(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    B, M, N = a.shape
    b = b.expand(a.shape)
    out = torch.empty(B, M, N, dtype=a.dtype, device=a.device)
    if out.numel() == 0:
        return out
    grid = lambda META: (B, triton.cdiv(M, META["BLOCK_M"]), triton.cdiv(N, META["BLOCK_N"]))  # noqa: E731
    add_kernel[grid](a, b, out, B, M, N, *a.stride(), *b.stride())
    return out
