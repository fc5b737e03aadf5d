"""Extra: GRPO's loss, where a group of answers says what each of them is worth; both passes fused."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable


@triton.jit
def advantage(rewards_ptr, row, group_size, BLOCK_G: tl.constexpr):
    """How much better answer `row` is than its group, in standard deviations."""
    # 4 bytes for each of a handful of answers, which L2 has for all but the first of the group.
    group_ptr = rewards_ptr + row // group_size * group_size
    offs_g = tl.arange(0, BLOCK_G)
    mask = offs_g < group_size
    # Counted from the first reward: of equal ones the differences are 0 exactly, whatever a mean rounds to.
    first = tl.load(group_ptr)
    reward = tl.load(group_ptr + offs_g, mask=mask, other=0.0) - first
    mean = tl.sum(tl.where(mask, reward, 0.0), axis=0) / group_size
    off = tl.where(mask, reward - mean, 0.0)
    std = tl.sqrt(tl.sum(off * off, axis=0) / (group_size - 1))
    return (tl.load(rewards_ptr + row) - first - mean) / (std + 1e-4)


@triton.jit
def held(ratio, adv, eps):
    """Where clipping decides, and the ratio that counts: no gain by going further than 1 + eps or 1 - eps."""
    over = (adv > 0) & (ratio > 1 + eps)
    under = (adv < 0) & (ratio < 1 - eps)
    return over | under, tl.where(over, 1 + eps, tl.where(under, 1 - eps, ratio))


@triton.jit
def row_kernel(
    logp_ptr,
    old_ptr,
    ref_ptr,
    rewards_ptr,
    mask_ptr,
    loss_ptr,
    adv_ptr,
    count_ptr,
    n_cols,
    group_size,
    eps,
    beta,
    BLOCK_G: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Mean loss of one answer's tokens; its advantage and how many tokens count are kept."""
    # 64 bits: there may be 2**31 tokens or more.
    row = tl.program_id(0).to(tl.int64)
    adv = advantage(rewards_ptr, row, group_size, BLOCK_G)
    acc = tl.zeros((BLOCK_N,), tl.float32)
    count = tl.zeros((BLOCK_N,), tl.int32)
    # 13 bytes a token from HBM, the only read of the forward pass.
    for start in range(0, n_cols, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        at = row * n_cols + cols
        # Tokens that do not count are not even read: they may hold NaN, and 0 times NaN is NaN.
        used = tl.load(mask_ptr + at, mask=cols < n_cols, other=0) != 0
        logp = tl.load(logp_ptr + at, mask=used, other=0.0)
        ratio = tl.exp(logp - tl.load(old_ptr + at, mask=used, other=0.0))
        delta = tl.load(ref_ptr + at, mask=used, other=0.0) - logp
        _, kept = held(ratio, adv, eps)
        acc += tl.where(used, beta * (tl.exp(delta) - delta - 1) - kept * adv, 0.0)
        count += used.to(tl.int32)
    # An answer without tokens has a loss of 0, not of 0 / 0.
    n_used = tl.maximum(tl.sum(count, axis=0), 1).to(tl.float32)
    tl.store(loss_ptr + row, tl.sum(acc, axis=0) / n_used)
    tl.store(adv_ptr + row, adv)
    tl.store(count_ptr + row, n_used)


@triton.jit
def mean_kernel(loss_ptr, mean_ptr, n_rows, BLOCK_M: tl.constexpr):
    """The mean of the answers' losses, by one program: 4 bytes an answer."""
    acc = tl.zeros((BLOCK_M,), tl.float32)
    for start in range(0, n_rows, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        acc += tl.load(loss_ptr + rows, mask=rows < n_rows, other=0.0)
    # 0 / 0 is NaN, as torch has it for the mean of nothing.
    tl.store(mean_ptr, tl.sum(acc, axis=0) / n_rows)


@triton.jit
def backward_kernel(
    dmean_ptr,
    logp_ptr,
    old_ptr,
    ref_ptr,
    mask_ptr,
    adv_ptr,
    count_ptr,
    dlogp_ptr,
    n_rows,
    n_cols,
    eps,
    beta,
    BLOCK_N: tl.constexpr,
):
    """dlogp of BLOCK_N tokens of one answer; where clipping decides only the divergence pulls."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    at = row * n_cols + cols
    # On the device: the host never waits for the upstream gradient, nor for a count.
    by = tl.load(dmean_ptr) / (n_rows * tl.load(count_ptr + row))
    adv = tl.load(adv_ptr + row)
    # 13 bytes a token in and 4 out.
    used = tl.load(mask_ptr + at, mask=cols < n_cols, other=0) != 0
    logp = tl.load(logp_ptr + at, mask=used, other=0.0)
    ratio = tl.exp(logp - tl.load(old_ptr + at, mask=used, other=0.0))
    delta = tl.load(ref_ptr + at, mask=used, other=0.0) - logp
    clipped, _ = held(ratio, adv, eps)
    slope = tl.where(clipped, 0.0, -ratio * adv) + beta * (1 - tl.exp(delta))
    tl.store(dlogp_ptr + at, tl.where(used, slope * by, 0.0), mask=cols < n_cols)


class GRPO(torch.autograd.Function):
    """Tells autograd which kernels compute the loss, and the gradient of the policy."""

    @staticmethod
    def forward(
        ctx: Any,
        logp: torch.Tensor,
        old_logp: torch.Tensor,
        ref_logp: torch.Tensor,
        rewards: torch.Tensor,
        mask: torch.Tensor,
        eps: float,
        beta: float,
    ) -> torch.Tensor:
        n_rows, n_cols = logp.shape
        group_size = rewards.shape[1]
        losses, advantages, counts = (
            torch.empty(n_rows, dtype=torch.float32, device=logp.device) for _ in range(3)
        )
        mean = torch.empty((), dtype=torch.float32, device=logp.device)
        row_kernel[(n_rows,)](
            logp,
            old_logp,
            ref_logp,
            rewards,
            mask,
            losses,
            advantages,
            counts,
            n_cols,
            group_size,
            eps,
            beta,
            BLOCK_G=triton.next_power_of_2(group_size),
            BLOCK_N=1024,
            num_warps=4,
        )
        mean_kernel[(1,)](losses, mean, n_rows, BLOCK_M=1024)
        # 8 bytes an answer beside the inputs, which exist anyway.
        ctx.save_for_backward(logp, old_logp, ref_logp, mask, advantages, counts)
        ctx.numbers = eps, beta
        return mean

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dmean: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        logp, old_logp, ref_logp, mask, advantages, counts = ctx.saved_tensors
        n_rows, n_cols = logp.shape
        dlogp = torch.empty(n_rows, n_cols, dtype=torch.float32, device=logp.device)
        backward_kernel[(n_rows, triton.cdiv(n_cols, 1024))](
            dmean,
            logp,
            old_logp,
            ref_logp,
            mask,
            advantages,
            counts,
            dlogp,
            n_rows,
            n_cols,
            *ctx.numbers,
            BLOCK_N=1024,
            num_warps=4,
        )
        return dlogp, None, None, None, None, None, None


def grpo_loss(
    logp: torch.Tensor,
    old_logp: torch.Tensor,
    ref_logp: torch.Tensor,
    rewards: torch.Tensor,
    mask: torch.Tensor,
    eps: float,
    beta: float,
) -> torch.Tensor:
    """Return GRPO's loss of log-probabilities [b, s] and rewards[groups, g], fp32 []; b is groups * g."""
    return GRPO.apply(logp, old_logp, ref_logp, rewards, mask, eps, beta)
