"""Extra: silu(x @ w_gate.T) * (x @ w_up.T) in one kernel: two products that share every tile of x."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M: tl.constexpr):
    """Day 18: the tile (pid_m, pid_n) of program pid, in groups of GROUP_M rows of tiles."""
    pids_in_group = GROUP_M * num_pid_n
    first_pid_m = pid // pids_in_group * GROUP_M
    rows = tl.minimum(num_pid_m - first_pid_m, GROUP_M)
    pid_in_group = pid % pids_in_group
    return first_pid_m + pid_in_group % rows, pid_in_group // rows


@triton.heuristics({"EVEN_K": lambda args: args["k"] % args["BLOCK_K"] == 0})
@triton.jit
def swiglu_gemm_kernel(
    x_ptr,
    gate_ptr,
    up_ptr,
    y_ptr,
    m,
    n,
    k,
    stride_xm,
    stride_xk,
    stride_gn,
    stride_gk,
    stride_un,
    stride_uk,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    """One tile of y a program; both weights are [n, k], and EVEN_K says that BLOCK_K divides k."""
    # TODO 1: this program's tile, and pointers to the first tiles of x and of both weights.
    # TODO 2: two sums in one loop. How many tiles does a turn load?
    # TODO 3: the epilogue, on the fp32 sums of both: silu of one times the other, rounded once, in the store.


def swiglu_gemm(x: torch.Tensor, w_gate: torch.Tensor, w_up: torch.Tensor) -> torch.Tensor:
    """Return silu(x @ w_gate.T) * (x @ w_up.T) for x[m, k] and w[n, k] of any strides, fp16, bf16 or fp32."""
    (m, k), n = x.shape, w_gate.shape[0]
    y = torch.empty(m, n, dtype=x.dtype, device=x.device)
    # TODO 4: sizes, warps and stages, and the launch. What do two sums leave of the registers?
    return y
