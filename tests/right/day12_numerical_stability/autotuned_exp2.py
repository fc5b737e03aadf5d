"""Logsumexp autotuned over block and warps, exp2 and log2 with a module-level log2(e), int32 offsets.

May have limits.
"""

import torch
import triton
import triton.language as tl

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
LN2: tl.constexpr = tl.constexpr(0.6931471805599453)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_SIZE": 1024}, num_warps=4),
        triton.Config({"BLOCK_SIZE": 2048}, num_warps=4),
        triton.Config({"BLOCK_SIZE": 8192}, num_warps=8),
    ],
    key=["n_cols"],
)
@triton.jit
def lse_kernel(x_ptr, lse_ptr, x_row_stride, n_cols, BLOCK_SIZE: tl.constexpr):
    row_idx = tl.program_id(0)
    x_ptr += row_idx * x_row_stride
    offsets = tl.arange(0, BLOCK_SIZE)

    m = -float("inf")
    for i in tl.range(0, n_cols, BLOCK_SIZE):
        x = tl.load(
            x_ptr + i + offsets, mask=i + offsets < n_cols, other=-float("inf"), eviction_policy="evict_last"
        )
        m = tl.maximum(m, tl.max(x.to(tl.float32), axis=0))
    shift = tl.where((m == float("inf")) | (m == -float("inf")), 0.0, m)

    d = 0.0
    for i in tl.range(0, n_cols, BLOCK_SIZE):
        x = tl.load(
            x_ptr + i + offsets, mask=i + offsets < n_cols, other=-float("inf"), eviction_policy="evict_first"
        )
        d += tl.sum(tl.exp2((x.to(tl.float32) - shift) * LOG2E), axis=0)
    tl.store(lse_ptr + row_idx, shift + tl.log2(d) * LN2)


class LogSumExp(torch.nn.Module):
    def forward(self, x):
        x = x.view(-1, x.shape[-1])
        n_rows, n_cols = x.shape
        lse = torch.empty(n_rows, dtype=torch.float32, device=x.device)
        if n_rows > 0:
            lse_kernel[(n_rows,)](x, lse, x.stride(0), n_cols)
        return lse


logsumexp = LogSumExp()
