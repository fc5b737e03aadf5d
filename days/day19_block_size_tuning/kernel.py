"""Day 19: relu(x @ w.T + b) in one kernel, its block sizes chosen by measurement for every shape."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

CONFIGS = [
    # TODO 1: four to eight configs: three block sizes, num_warps and num_stages; large ones and small ones.
]


def worth_timing(configs: list[triton.Config], named_args: dict, **_) -> list[triton.Config]:
    """The configs that fit the GPU, the dtype and the problem; always at least the last, the smallest."""
    # TODO 2: drop those whose stages overflow shared memory, and those whose tile is far larger than y.


@triton.jit
def grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M: tl.constexpr):
    """Day 18: the tile (pid_m, pid_n) of program pid, in groups of GROUP_M rows of tiles."""
    pids_in_group = GROUP_M * num_pid_n
    first_pid_m = pid // pids_in_group * GROUP_M
    rows = tl.minimum(num_pid_m - first_pid_m, GROUP_M)
    pid_in_group = pid % pids_in_group
    return first_pid_m + pid_in_group % rows, pid_in_group // rows


# TODO 3: have the autotuner pick among CONFIGS: for which arguments must it choose anew?
@triton.heuristics({"EVEN_K": lambda args: args["k"] % args["BLOCK_K"] == 0})
@triton.jit
def linear_relu_kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    y_ptr,
    m,
    n,
    k,
    stride_xm,
    stride_xk,
    stride_wn,
    stride_wk,
    stride_b,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    """y = relu(x @ w.T + b), one tile a program; w is [n, k], and EVEN_K says that BLOCK_K divides k."""
    # TODO 4: the loop of day 17 over a tile of x @ w.T. Which stride of w leads along k?
    # TODO 5: the epilogue, on the fp32 sums: add b, then relu, and round once, in the store. NaN stays NaN.


def linear_relu(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return relu(x @ w.T + b) for x[m, k], w[n, k] and b[n] of any strides, fp16, bf16 or fp32."""
    m = x.shape[0]
    n = w.shape[0]
    y = torch.empty(m, n, dtype=x.dtype, device=x.device)
    # TODO 6: launch. How many programs there are depends on the config, which is not known here.
    return y
