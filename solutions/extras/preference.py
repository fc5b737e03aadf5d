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
    # 64 bits: a row may start 2**31 elements or more after the first one.
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = cols < n_cols
    reward_a, reward_b = tl.load(reward_a_ptr + row), tl.load(reward_b_ptr + row)
    # Asked this way round a tie keeps a, and so does NaN, which is neither above nor below anything.
    swap = reward_b > reward_a
    # 2d elements in and 2d out: both rows are wanted whichever way it goes, so nobody waits for the rewards.
    a = tl.load(a_ptr + row * stride_am + cols, mask=mask)
    b = tl.load(b_ptr + row * stride_bm + cols, mask=mask)
    tl.store(chosen_ptr + row * n_cols + cols, tl.where(swap, b, a), mask=mask)
    tl.store(rejected_ptr + row * n_cols + cols, tl.where(swap, a, b), mask=mask)
    if tl.program_id(1) == 0:
        margin = reward_a - reward_b
        tl.store(margin_ptr + row, tl.where(swap, -margin, margin))


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
    pid = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    # Nobody changes w while this kernel runs: all pairs see the same one.
    w = tl.load(w_ptr + offs_n, mask=mask, other=0.0)
    pull = tl.zeros((BLOCK_N,), tl.float32)
    for row in range(pid * rows_each, min((pid + 1) * rows_each, n_rows)):
        # 2d elements from HBM, subtracted in fp32: in 16 bits the difference would be rounded.
        chosen = tl.load(chosen_ptr + row * stride_cm + offs_n, mask=mask, other=0.0).to(tl.float32)
        rejected = tl.load(rejected_ptr + row * stride_rm + offs_n, mask=mask, other=0.0).to(tl.float32)
        d = chosen - rejected
        # How sure w is of the wrong answer: it learns little from a pair that it has right.
        pull += tl.sigmoid(-tl.sum(d * w, axis=0)) * d
    tl.store(part_ptr + pid * n_cols + offs_n, pull, mask=mask)


@triton.jit
def step_kernel(w_ptr, part_ptr, n_parts, n_cols, rate, BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr):
    """BLOCK_N elements of w, one step later: the partial sums are added up, times rate = lr / n."""
    offs_n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    acc = tl.zeros((BLOCK_P, BLOCK_N), tl.float32)
    for start in range(0, n_parts, BLOCK_P):
        offs_p = start + tl.arange(0, BLOCK_P)
        inside = (offs_p < n_parts)[:, None] & mask[None, :]
        acc += tl.load(part_ptr + offs_p[:, None] * n_cols + offs_n[None, :], mask=inside, other=0.0)
    w = tl.load(w_ptr + offs_n, mask=mask)
    tl.store(w_ptr + offs_n, w + rate * tl.sum(acc, axis=0), mask=mask)


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
