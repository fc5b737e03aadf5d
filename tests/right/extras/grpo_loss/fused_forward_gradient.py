"""GRPO as Liger has it: one kernel a row makes loss and unscaled gradient, backward scales it; int32."""

import torch
import triton
import triton.language as tl


@triton.jit
def _grpo_fwd_kernel(
    LOGP, OLD_LOGP, REF_LOGP, REWARDS, MASK, LOSS, DLOGP, n_rows, L, G, EPS, BETA,
    BLOCK_G: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    offs_g = tl.arange(0, BLOCK_G)
    mask_g = offs_g < G
    group_ptr = REWARDS + row // G * G
    base = tl.load(group_ptr)
    r = tl.where(mask_g, tl.load(group_ptr + offs_g, mask=mask_g, other=0.0) - base, 0.0)
    mean = tl.sum(r, axis=0) / G
    var = tl.sum(tl.where(mask_g, (r - mean) * (r - mean), 0.0), axis=0) / (G - 1)
    advantage = (tl.load(REWARDS + row) - base - mean) / (tl.sqrt(var) + 1e-4)
    count = 0
    for start in range(0, L, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        keep = tl.load(MASK + row * L + cols, mask=cols < L, other=0)
        count += tl.sum((keep != 0).to(tl.int32), axis=0)
    inv = 1.0 / tl.maximum(count, 1)
    loss = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for start in range(0, L, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        offs = row * L + cols
        keep = tl.load(MASK + offs, mask=cols < L, other=0) != 0
        logp = tl.load(LOGP + offs, mask=keep, other=0.0)
        old = tl.load(OLD_LOGP + offs, mask=keep, other=0.0)
        ref = tl.load(REF_LOGP + offs, mask=keep, other=0.0)
        coef_1 = tl.exp(logp - old)
        coef_2 = tl.clamp(coef_1, 1 - EPS, 1 + EPS)
        per_token_loss1 = coef_1 * advantage
        per_token_loss2 = coef_2 * advantage
        per_token_loss = -tl.minimum(per_token_loss1, per_token_loss2)
        delta = ref - logp
        kl = tl.exp(delta) - delta - 1
        loss += tl.where(keep, per_token_loss + BETA * kl, 0.0)
        is_clipped = per_token_loss2 < per_token_loss1
        dlogp = tl.where(is_clipped, 0.0, -per_token_loss1) + BETA * (1 - tl.exp(delta))
        tl.store(DLOGP + offs, tl.where(keep, dlogp * inv, 0.0), mask=cols < L)
    tl.store(LOSS + row, tl.sum(loss, axis=0) * inv)


@triton.jit
def _mean_kernel(LOSS, OUT, n_rows, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_rows, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(LOSS + offs, mask=offs < n_rows, other=0.0)
    tl.store(OUT, tl.sum(acc, axis=0) / n_rows)


@triton.jit
def _scale_kernel(D, GRAD, OUT, n_rows, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.load(D + offs, mask=offs < n, other=0.0)
    tl.store(OUT + offs, d * (tl.load(GRAD) / n_rows), mask=offs < n)


class GrpoLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logp, old_logp, ref_logp, rewards, mask, eps, beta):
        B, L = logp.shape
        assert old_logp.shape == ref_logp.shape == mask.shape == logp.shape
        loss = torch.empty(B, device=logp.device, dtype=torch.float32)
        dlogp = torch.empty_like(logp)
        out = torch.empty((), device=logp.device, dtype=torch.float32)
        G = rewards.shape[1]
        _grpo_fwd_kernel[(B,)](
            logp, old_logp, ref_logp, rewards, mask, loss, dlogp, B, L, G, eps, beta,
            BLOCK_G=triton.next_power_of_2(G), BLOCK_N=1024, num_warps=4,
        )  # fmt: skip
        _mean_kernel[(1,)](loss, out, B, BLOCK=1024)
        ctx.save_for_backward(dlogp)
        return out

    @staticmethod
    def backward(ctx, grad):
        (dlogp,) = ctx.saved_tensors
        result = torch.empty_like(dlogp)
        n = dlogp.numel()
        _scale_kernel[(triton.cdiv(n, 4096),)](
            dlogp, grad, result, dlogp.shape[0], n, BLOCK=4096, num_warps=8
        )
        return result, None, None, None, None, None, None


def grpo_loss(logp, old_logp, ref_logp, rewards, mask, eps, beta):
    return GrpoLoss.apply(logp, old_logp, ref_logp, rewards, mask, eps, beta)
