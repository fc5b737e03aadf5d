"""An outer sum that is autotuned over three tiles, a grid by meta, int32 offsets."""

import torch
import triton
import triton.language as tl


def get_configs():
    return [
        triton.Config({"BLOCK_M": bm, "BLOCK_N": bn}, num_warps=w)
        for bm, bn, w in [(16, 256, 4), (32, 128, 4), (8, 1024, 8)]
    ]


@triton.autotune(configs=get_configs(), key=["M", "N"])
@triton.jit
def outer_add_kernel(inp_ptr, vec_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BLOCK_N)
    rows = (pid // tiles_n) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = (pid % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    row_mask = rows < M
    col_mask = cols < N
    a = tl.load(inp_ptr + rows, mask=row_mask, other=0.0)
    b = tl.load(vec_ptr + cols, mask=col_mask, other=0.0)
    out = a[:, None] + b[None, :]
    tl.store(out_ptr + rows[:, None] * N + cols[None, :], out, mask=row_mask[:, None] & col_mask[None, :])


def outer_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    M, N = x.numel(), y.numel()
    out = x.new_empty((M, N))
    grid = lambda META: (triton.cdiv(M, META["BLOCK_M"]) * triton.cdiv(N, META["BLOCK_N"]),)  # noqa: E731
    outer_add_kernel[grid](x, y, out, M, N)
    return out
