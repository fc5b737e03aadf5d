"""Token log-probabilities with a saved logsumexp, unsloth's chunks and Liger's warps; DPO by log1p; int32."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

MAX_FUSED_SIZE = 65536 // 4
IGNORE = tl.constexpr(-100)


def calculate_settings(n):
    BLOCK_SIZE = min(triton.next_power_of_2(n), MAX_FUSED_SIZE)
    num_warps = 16 if BLOCK_SIZE >= 8192 else 8 if BLOCK_SIZE >= 2048 else 4
    return BLOCK_SIZE, num_warps


@triton.jit
def _logprob_fwd(
    logits_ptr, labels_ptr, out_ptr, lse_ptr, S, V, stride_b, stride_s, BLOCK_SIZE: tl.constexpr
):
    row = tl.program_id(0)
    label = tl.load(labels_ptr + row)
    if label == IGNORE:
        tl.store(out_ptr + row, 0.0)
        tl.store(lse_ptr + row, 0.0)
        return
    logits_ptr += row // S * stride_b + row % S * stride_s
    m = float("-inf")
    d = 0.0
    for i in range(0, V, BLOCK_SIZE):
        offs = i + tl.arange(0, BLOCK_SIZE)
        x = tl.load(logits_ptr + offs, mask=offs < V, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x))
        safe = tl.where(m_new == float("-inf"), 0.0, m_new)
        d = d * tl.exp(m - safe) + tl.sum(tl.exp(x - safe))
        m = m_new
    x_label = tl.load(logits_ptr + label).to(tl.float32)
    tl.store(out_ptr + row, (x_label - m) - tl.log(d))
    tl.store(lse_ptr + row, m + tl.log(d))


@triton.jit
def _logprob_bwd(
    dout_ptr, logits_ptr, labels_ptr, lse_ptr, dlogits_ptr, S, V, stride_db, stride_ds, stride_b, stride_s,
    BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    row, block = tl.program_id(0), tl.program_id(1)
    cols = block * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = cols < V
    label = tl.load(labels_ptr + row)
    x = tl.load(logits_ptr + row // S * stride_b + row % S * stride_s + cols, mask=mask, other=0.0).to(
        tl.float32
    )
    dout = tl.load(dout_ptr + row // S * stride_db + row % S * stride_ds)
    p = tl.exp(x - tl.load(lse_ptr + row))
    dx = tl.where(cols == label, 1.0 - p, -p) * dout
    dx = tl.where(label == IGNORE, 0.0, dx)
    tl.store(dlogits_ptr + row * V + cols, dx, mask=mask)


@triton.jit
def _dpo_fwd(PC, PR, RC, RR, loss_ptr, chosen_ptr, rejected_ptr, n, beta, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    chosen = tl.load(PC + offs, mask=mask) - tl.load(RC + offs, mask=mask)
    rejected = tl.load(PR + offs, mask=mask) - tl.load(RR + offs, mask=mask)
    z = beta * (chosen - rejected)
    loss = tl.where(z < 0, -z, 0.0) + libdevice.log1p(tl.exp(-tl.abs(z)))
    tl.store(loss_ptr + offs, loss, mask=mask)
    tl.store(chosen_ptr + offs, beta * chosen, mask=mask)
    tl.store(rejected_ptr + offs, beta * rejected, mask=mask)


@triton.jit
def _dpo_bwd(DL, DC, DR, PC, PR, RC, RR, DPC, DPR, n, s_dl, s_dc, s_dr, beta, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    chosen = tl.load(PC + offs, mask=mask) - tl.load(RC + offs, mask=mask)
    rejected = tl.load(PR + offs, mask=mask) - tl.load(RR + offs, mask=mask)
    g = tl.load(DL + offs * s_dl, mask=mask) * tl.sigmoid(-beta * (chosen - rejected))
    tl.store(DPC + offs, beta * (tl.load(DC + offs * s_dc, mask=mask) - g), mask=mask)
    tl.store(DPR + offs, beta * (tl.load(DR + offs * s_dr, mask=mask) + g), mask=mask)


class TokenLogprobs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, labels):
        B, S, V = logits.shape
        out = torch.empty((B, S), dtype=torch.float32, device=logits.device)
        lse = torch.empty_like(out)
        BLOCK_SIZE, num_warps = calculate_settings(V)
        _logprob_fwd[(B * S,)](
            logits, labels, out, lse, S, V, logits.stride(0), logits.stride(1), BLOCK_SIZE=BLOCK_SIZE,
            num_warps=num_warps,
        )  # fmt: skip
        ctx.save_for_backward(logits, labels, lse)
        return out

    @staticmethod
    def backward(ctx, dout):
        logits, labels, lse = ctx.saved_tensors
        B, S, V = logits.shape
        dlogits = torch.empty(B, S, V, dtype=logits.dtype, device=logits.device)
        BLOCK_SIZE = min(4096, triton.next_power_of_2(V))
        _logprob_bwd[(B * S, triton.cdiv(V, BLOCK_SIZE))](
            dout, logits, labels, lse, dlogits, S, V, *dout.stride(), logits.stride(0), logits.stride(1),
            BLOCK_SIZE=BLOCK_SIZE, num_warps=8,
        )  # fmt: skip
        return dlogits, None


class DPOLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
        n = policy_chosen.numel()
        loss, chosen, rejected = (torch.empty_like(policy_chosen) for _ in range(3))
        args = policy_chosen, policy_rejected, ref_chosen, ref_rejected
        _dpo_fwd[(triton.cdiv(n, 1024),)](*args, loss, chosen, rejected, n, beta, BLOCK=1024)
        ctx.save_for_backward(*args)
        ctx.beta = beta
        return loss, chosen, rejected

    @staticmethod
    def backward(ctx, dloss, dchosen, drejected):
        args = ctx.saved_tensors
        dpc, dpr = torch.empty_like(args[0]), torch.empty_like(args[1])
        n = dpc.numel()
        _dpo_bwd[(triton.cdiv(n, 1024),)](
            dloss, dchosen, drejected, *args, dpc, dpr, n, dloss.stride(0), dchosen.stride(0),
            drejected.stride(0), ctx.beta, BLOCK=1024,
        )  # fmt: skip
        return dpc, dpr, None, None, None


def token_logprobs(logits, labels):
    return TokenLogprobs.apply(logits, labels)


def dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    return DPOLoss.apply(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta)
