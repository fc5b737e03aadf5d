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
    # 64 bits: a token's logits may start 2**31 elements or more after the first ones.
    token = tl.program_id(0).to(tl.int64)
    label = tl.load(labels_ptr + token)
    logprob = 0.0
    if label != MASKED:
        # Each lane reads four elements at once and keeps a maximum and a sum of its own: no barrier in the
        # loop. Starting at a finite number never subtracts -inf from -inf.
        LANES: tl.constexpr = BLOCK_N // 4
        offs_n = tl.arange(0, 4)[:, None] * LANES + tl.arange(0, LANES)[None, :]
        logits_ptr += token // n_steps * stride_b + token % n_steps * stride_s
        m_i = tl.full((LANES,), LOWEST, tl.float32)
        l_i = tl.zeros((LANES,), tl.float32)
        # v elements from HBM, the only read of the forward pass.
        for start in range(0, n_cols, BLOCK_N):
            cols = start + offs_n
            x = tl.load(logits_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
            m_new = tl.maximum(m_i, tl.max(x, axis=0))
            p = tl.exp2((x - m_new[None, :]) * LOG2_E)
            l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + tl.sum(p, axis=0)
            m_i = m_new
        m = tl.max(m_i, axis=0)
        l_row = tl.sum(l_i * tl.exp2((m_i - m) * LOG2_E), axis=0)
        # (x - m) - log l, never x - (m + log l): beside an m of 1e4 log l would lose its digits.
        logprob = (tl.load(logits_ptr + label).to(tl.float32) - m) - tl.log(l_row)
        tl.store(max_ptr + token, m)
        tl.store(sum_ptr + token, l_row)
    tl.store(logprob_ptr + token, logprob)


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
    token = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = cols < n_cols
    dlogits_ptrs = dlogits_ptr + token * n_cols + cols
    label = tl.load(labels_ptr + token)
    if label != MASKED:
        row, step = token // n_steps, token % n_steps
        dlogprob = tl.load(dlogprob_ptr + row * stride_db + step * stride_ds)
        m, l_row = tl.load(max_ptr + token), tl.load(sum_ptr + token)
        # v elements from HBM and v to it. The exponential is computed again: it costs no byte.
        x = tl.load(logits_ptr + row * stride_b + step * stride_s + cols, mask=mask, other=0.0).to(tl.float32)
        p = tl.exp2((x - m) * LOG2_E) * (1 / l_row)
        tl.store(dlogits_ptrs, (tl.where(cols == label, 1.0, 0.0) - p) * dlogprob, mask=mask)
    else:
        # Its logits may be NaN, and 0 times NaN is NaN: they are not even read.
        tl.store(dlogits_ptrs, tl.zeros((BLOCK_N,), tl.float32), mask=mask)


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
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    # 16 bytes a pair in, 12 out.
    chosen = tl.load(policy_chosen_ptr + offs, mask=mask) - tl.load(ref_chosen_ptr + offs, mask=mask)
    rejected = tl.load(policy_rejected_ptr + offs, mask=mask) - tl.load(ref_rejected_ptr + offs, mask=mask)
    z = beta * (chosen - rejected)
    # -log sigmoid(z) = log(1 + e**-z), by an exponential that never overflows.
    e = tl.exp(-tl.abs(z))
    one_more = 1 + e
    # 1 + e forgets the last digits of a small e; what it made of them is divided out of the logarithm again.
    log1p = tl.where(one_more == 1, e, tl.log(one_more) * (e / (one_more - 1)))
    tl.store(loss_ptr + offs, tl.where(z < 0, -z, 0.0) + log1p, mask=mask)
    tl.store(chosen_ptr + offs, beta * chosen, mask=mask)
    tl.store(rejected_ptr + offs, beta * rejected, mask=mask)


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
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    chosen = tl.load(policy_chosen_ptr + offs, mask=mask) - tl.load(ref_chosen_ptr + offs, mask=mask)
    rejected = tl.load(policy_rejected_ptr + offs, mask=mask) - tl.load(ref_rejected_ptr + offs, mask=mask)
    # How sure the policy is of the wrong answer: sigmoid(-z).
    wrong = tl.sigmoid(-beta * (chosen - rejected))
    by_loss = beta * wrong * tl.load(dloss_ptr + offs * stride_dl, mask=mask)
    by_chosen = beta * tl.load(dchosen_ptr + offs * stride_dc, mask=mask)
    by_rejected = beta * tl.load(drejected_ptr + offs * stride_dr, mask=mask)
    tl.store(dpolicy_chosen_ptr + offs, by_chosen - by_loss, mask=mask)
    tl.store(dpolicy_rejected_ptr + offs, by_rejected + by_loss, mask=mask)


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
