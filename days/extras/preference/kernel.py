"""Extra: pairs put in the order of their rewards, and one step of a reward model that learns from them."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def select_kernel(
    a_ptr,
    b_ptr,
    reward_a_ptr,
    reward_b_ptr,
    chosen_ptr,
    rejected_ptr,
    margin_ptr,
    n_cols,
    stride_am,
    stride_bm,
    BLOCK_N: tl.constexpr,
):
    """BLOCK_N columns of one pair: the row of the higher reward to chosen, the other one to rejected."""
    # TODO 1: which of the two rewards is higher, and what of a tie and of NaN?
    # TODO 2: these columns of both rows, each to where it belongs.
    # TODO 3: the margin of the pair, stored once.


@triton.jit
def pull_kernel(
    w_ptr,
    chosen_ptr,
    rejected_ptr,
    part_ptr,
    n_rows,
    n_cols,
    rows_each,
    stride_cm,
    stride_rm,
    BLOCK_N: tl.constexpr,
):
    """Row pid of the partial sums: what this program's pairs pull w by, the sum of sigmoid(-d.w) * d."""
    # TODO 4: this program's rows: d in fp32, its score under w, and what the pair pulls w by.
    # TODO 5: store their sum where no other program stores anything.


@triton.jit
def step_kernel(w_ptr, part_ptr, n_parts, n_cols, rate, BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr):
    """BLOCK_N elements of w, one step later: the partial sums are added up, times rate = lr / n."""
    # TODO 6: add up the partial sums, and move w by rate times that.


def preference_select(
    a: torch.Tensor, b: torch.Tensor, reward_a: torch.Tensor, reward_b: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return chosen[n, d], rejected[n, d] and margin[n]: a's row is chosen unless b's reward is higher."""
    n_rows, n_cols = a.shape
    chosen, rejected = (torch.empty(n_rows, n_cols, dtype=a.dtype, device=a.device) for _ in range(2))
    margin = torch.empty(n_rows, dtype=torch.float32, device=a.device)
    BLOCK_N = min(triton.next_power_of_2(n_cols), 4096)
    select_kernel[(n_rows, triton.cdiv(n_cols, BLOCK_N))](
        a,
        b,
        reward_a,
        reward_b,
        chosen,
        rejected,
        margin,
        n_cols,
        a.stride(0),
        b.stride(0),
        BLOCK_N=BLOCK_N,
        num_warps=min(max(BLOCK_N // 256, 1), 8),
    )
    return chosen, rejected, margin


def reward_update(w: torch.Tensor, chosen: torch.Tensor, rejected: torch.Tensor, lr: float) -> None:
    """Change w[d] in place by one step: w += lr * mean of sigmoid(-d.w) * d, with d = chosen - rejected."""
    n_rows, n_cols = chosen.shape
    # As many programs as keep a GPU busy, with no more than 64 rows each until there are 512 programs.
    rows_each = max(triton.cdiv(n_rows, 512), min(n_rows, 64), 1)
    n_parts = triton.cdiv(n_rows, rows_each)
    part = torch.empty(n_parts, n_cols, dtype=torch.float32, device=w.device)
    BLOCK_N = triton.next_power_of_2(n_cols)
    pull_kernel[(n_parts,)](
        w,
        chosen,
        rejected,
        part,
        n_rows,
        n_cols,
        rows_each,
        chosen.stride(0),
        rejected.stride(0),
        BLOCK_N=BLOCK_N,
        num_warps=min(max(BLOCK_N // 256, 1), 16),
    )
    # n rows of a sum, or none: of no pairs there are no parts, and w stays as it is.
    step_kernel[(triton.cdiv(n_cols, 64),)](
        w, part, n_parts, n_cols, lr / max(n_rows, 1), BLOCK_P=16, BLOCK_N=64
    )
