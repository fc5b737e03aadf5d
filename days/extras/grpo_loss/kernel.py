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
    # TODO 1: the rewards of this answer's group: mean and standard deviation, unbiased.
    # TODO 2: this answer's own distance from the mean. Of equal rewards it is 0, exactly.


@triton.jit
def held(ratio, adv, eps):
    """Where clipping decides, and the ratio that counts: no gain by going further than 1 + eps or 1 - eps."""
    # TODO 3: where is going further no gain? It depends on which way the advantage pulls.


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
    # TODO 4: the tokens that count: ratio, gain, divergence; nothing of those that do not.
    # TODO 5: their mean, 0 where there are none; keep what backward needs.


@triton.jit
def mean_kernel(loss_ptr, mean_ptr, n_rows, BLOCK_M: tl.constexpr):
    """The mean of the answers' losses, by one program: 4 bytes an answer."""
    # TODO 6: add up the answers, and divide.


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
    # TODO 7: what pulls at each token that counts, times all that the loss was divided by.


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
