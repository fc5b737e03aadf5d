"""Extra: log-probabilities of tokens, read once forwards; and DPO's loss of what they sum to."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable

LOG2_E = tl.constexpr(1.4426950408889634)
LOWEST = tl.constexpr(-3.4028234e38)  # the lowest finite fp32
MASKED = tl.constexpr(-100)


@triton.jit
def logprob_kernel(
    logits_ptr,
    labels_ptr,
    logprob_ptr,
    max_ptr,
    sum_ptr,
    n_steps,
    n_cols,
    stride_b,
    stride_s,
    BLOCK_N: tl.constexpr,
):
    """log softmax of one token's logits at its label; their maximum and sum of exponentials are kept."""
    # TODO 1: which token is this, and is it masked? A masked one has log-probability 0.
    # TODO 2: in one walk along its logits: their maximum, and the sum of exponentials below it.
    # TODO 3: keep both, and store the log-probability of the label.


@triton.jit
def logprob_backward_kernel(
    dlogprob_ptr,
    logits_ptr,
    labels_ptr,
    max_ptr,
    sum_ptr,
    dlogits_ptr,
    n_steps,
    n_cols,
    stride_db,
    stride_ds,
    stride_b,
    stride_s,
    BLOCK_N: tl.constexpr,
):
    """BLOCK_N columns of one token: dlogits = ([is the label] - softmax) * the token's own dlogprob."""
    # TODO 4: softmax once more; what is it taken from, and what does this token's dlogprob do? Masked: 0.


@triton.jit
def dpo_kernel(
    policy_chosen_ptr,
    policy_rejected_ptr,
    ref_chosen_ptr,
    ref_rejected_ptr,
    loss_ptr,
    chosen_ptr,
    rejected_ptr,
    n,
    beta,
    BLOCK: tl.constexpr,
):
    """Loss and both rewards of BLOCK pairs."""
    # TODO 5: how far the policy has moved from its reference on either answer, and z.
    # TODO 6: -log sigmoid(z), finite for every finite z and right where it is tiny; then both rewards.


@triton.jit
def dpo_backward_kernel(
    dloss_ptr,
    dchosen_ptr,
    drejected_ptr,
    policy_chosen_ptr,
    policy_rejected_ptr,
    ref_chosen_ptr,
    ref_rejected_ptr,
    dpolicy_chosen_ptr,
    dpolicy_rejected_ptr,
    n,
    stride_dl,
    stride_dc,
    stride_dr,
    beta,
    BLOCK: tl.constexpr,
):
    """Gradients of BLOCK pairs: each policy is seen by the loss, and by its own reward."""
    # TODO 7: what the loss says to each policy, and what its reward says; store the sums.


class TokenLogprobs(torch.autograd.Function):
    """Tells autograd which kernels compute the log-probabilities, and their gradient."""

    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        n_rows, n_steps, n_cols = logits.shape
        logprobs, maxima, sums = (
            torch.empty(n_rows, n_steps, dtype=torch.float32, device=logits.device) for _ in range(3)
        )
        BLOCK_N = min(max(triton.next_power_of_2(n_cols), 4), 8192)
        logprob_kernel[(n_rows * n_steps,)](
            logits,
            labels,
            logprobs,
            maxima,
            sums,
            n_steps,
            n_cols,
            logits.stride(0),
            logits.stride(1),
            BLOCK_N=BLOCK_N,
            num_warps=max(BLOCK_N // 1024, 1),
        )
        # 8 bytes a token beside logits and labels, which exist anyway.
        ctx.save_for_backward(logits, labels, maxima, sums)
        return logprobs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dlogprobs: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        logits, labels, maxima, sums = ctx.saved_tensors
        n_rows, n_steps, n_cols = logits.shape
        dlogits = torch.empty(n_rows, n_steps, n_cols, dtype=logits.dtype, device=logits.device)
        BLOCK_N = min(triton.next_power_of_2(n_cols), 4096)
        logprob_backward_kernel[(n_rows * n_steps, triton.cdiv(n_cols, BLOCK_N))](
            dlogprobs,
            logits,
            labels,
            maxima,
            sums,
            dlogits,
            n_steps,
            n_cols,
            *dlogprobs.stride(),
            logits.stride(0),
            logits.stride(1),
            BLOCK_N=BLOCK_N,
            num_warps=4,
        )
        return dlogits, None


class DPO(torch.autograd.Function):
    """Tells autograd which kernels compute DPO's loss and rewards, and the gradients of the policy."""

    @staticmethod
    def forward(
        ctx: Any,
        policy_chosen: torch.Tensor,
        policy_rejected: torch.Tensor,
        ref_chosen: torch.Tensor,
        ref_rejected: torch.Tensor,
        beta: float,
    ) -> tuple[torch.Tensor, ...]:
        inputs = policy_chosen, policy_rejected, ref_chosen, ref_rejected
        n = policy_chosen.numel()
        results = [torch.empty(n, dtype=torch.float32, device=policy_chosen.device) for _ in range(3)]
        dpo_kernel[(triton.cdiv(n, 256),)](*inputs, *results, n, beta, BLOCK=256, num_warps=4)
        ctx.save_for_backward(*inputs)
        ctx.beta = beta
        return tuple(results)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        inputs = ctx.saved_tensors
        n = inputs[0].numel()
        gradients = [torch.empty(n, dtype=torch.float32, device=inputs[0].device) for _ in range(2)]
        dpo_backward_kernel[(triton.cdiv(n, 256),)](
            *upstream,
            *inputs,
            *gradients,
            n,
            *(one.stride(0) for one in upstream),
            ctx.beta,
            BLOCK=256,
            num_warps=4,
        )
        return *gradients, None, None, None


def token_logprobs(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return log softmax(logits[b, s])[labels[b, s]], fp32 [b, s]; 0 where the label is -100."""
    return TokenLogprobs.apply(logits, labels)


def dpo_loss(
    policy_chosen: torch.Tensor,
    policy_rejected: torch.Tensor,
    ref_chosen: torch.Tensor,
    ref_rejected: torch.Tensor,
    beta: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return DPO's loss and the rewards of both answers, fp32 [b], from log-probabilities, fp32 [b]."""
    return DPO.apply(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta)
