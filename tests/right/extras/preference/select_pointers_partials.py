"""Pairs put in order by a tl.where over both rows, int32 offsets; pulls in rows of partials, grid-stride.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def select_kernel(A, B, RA, RB, Chosen, Rejected, Margin, stride_a, stride_b, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    ra = tl.load(RA + row)
    rb = tl.load(RB + row)
    swap = rb > ra
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        a = tl.load(A + row * stride_a + cols, mask=mask)
        b = tl.load(B + row * stride_b + cols, mask=mask)
        tl.store(Chosen + row * n_cols + cols, tl.where(swap, b, a), mask=mask)
        tl.store(Rejected + row * n_cols + cols, tl.where(swap, a, b), mask=mask)
    tl.store(Margin + row, tl.where(swap, rb - ra, ra - rb))


@triton.jit
def grad_kernel(W, Chosen, Rejected, Part, n_rows, n_cols, stride_c, stride_r, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    w = tl.load(W + cols, mask=mask, other=0.0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for row in range(pid, n_rows, tl.num_programs(0)):
        chosen = tl.load(Chosen + row * stride_c + cols, mask=mask, other=0.0).to(tl.float32)
        rejected = tl.load(Rejected + row * stride_r + cols, mask=mask, other=0.0).to(tl.float32)
        delta = chosen - rejected
        acc += tl.sigmoid(-tl.sum(delta * w, axis=0)) * delta
    tl.store(Part + pid * n_cols + cols, acc, mask=mask)


@triton.jit
def apply_kernel(W, Part, n_parts, n_cols, rate, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, n_parts, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < n_parts) & (cols[None, :] < n_cols)
        acc += tl.load(Part + rows[:, None] * n_cols + cols[None, :], mask=mask, other=0.0)
    w = tl.load(W + cols, mask=cols < n_cols)
    tl.store(W + cols, w + rate * tl.sum(acc, axis=0), mask=cols < n_cols)


def preference_select(a, b, reward_a, reward_b):
    n_rows, n_cols = a.shape
    chosen = torch.empty(n_rows, n_cols, dtype=a.dtype, device=a.device)
    rejected = torch.empty_like(chosen)
    margin = torch.empty_like(reward_a)
    BLOCK = min(triton.next_power_of_2(n_cols), 2048)
    if n_rows:
        select_kernel[(n_rows,)](
            a, b, reward_a, reward_b, chosen, rejected, margin, a.stride(0), b.stride(0), n_cols, BLOCK=BLOCK
        )
    return chosen, rejected, margin


def reward_update(w, chosen, rejected, lr):
    n_rows, n_cols = chosen.shape
    if n_rows == 0:
        return
    n_parts = min(n_rows, 264)
    part = torch.empty(n_parts, n_cols, dtype=torch.float32, device=w.device)
    BLOCK = triton.next_power_of_2(n_cols)
    grad_kernel[(n_parts,)](
        w,
        chosen,
        rejected,
        part,
        n_rows,
        n_cols,
        chosen.stride(0),
        rejected.stride(0),
        BLOCK=BLOCK,
        num_warps=min(max(BLOCK // 256, 1), 16),
    )
    apply_kernel[(triton.cdiv(n_cols, 64),)](w, part, n_parts, n_cols, lr / n_rows, BLOCK_M=32, BLOCK_N=64)
