"""Distillation KL, one walk with scalars a row, int64 rows, a 2-D backward grid, autograd.Function."""

import torch
import triton
import triton.language as tl


@triton.jit
def _running(m, x, rate):
    m_new = tl.maximum(m, tl.max(x, 0))
    return m_new, tl.exp((m - m_new) * rate), tl.exp((x - m_new) * rate)


@triton.jit
def kl_forward(S, T, stride_s, stride_t, loss_ptr, stats_ptr, n_cols, rate, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    S += row * stride_s
    T += row * stride_t
    m_s = -3.4028234663852886e38
    m_t = -3.4028234663852886e38
    d_s = 0.0
    d_t = 0.0
    acc = 0.0
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_cols
        s = tl.load(S + offsets, mask=mask, other=-float("inf")).to(tl.float32)
        t = tl.load(T + offsets, mask=mask, other=-float("inf")).to(tl.float32)
        m_s, alpha_s, e_s = _running(m_s, s, rate)
        m_t, alpha_t, e_t = _running(m_t, t, rate)
        d_s = d_s * alpha_s + tl.sum(e_s, 0)
        d_t = d_t * alpha_t + tl.sum(e_t, 0)
        # the teacher's -inf costs nothing, the student's alone everything
        term = tl.where(s == -float("inf"), float("inf"), e_t * (t - s))
        term = tl.where(t == -float("inf"), 0.0, term)
        acc = tl.where(acc == float("inf"), acc, acc * alpha_t) + tl.sum(term, 0)
    loss = (acc / d_t - (m_t - m_s)) * rate + (tl.log(d_s) - tl.log(d_t))
    tl.store(loss_ptr + row, loss)
    stats_ptr += row * 4
    tl.store(stats_ptr, m_s)
    tl.store(stats_ptr + 1, d_s)
    tl.store(stats_ptr + 2, m_t)
    tl.store(stats_ptr + 3, d_t)


@triton.jit
def batch_mean(loss_ptr, out_ptr, n_rows, factor, BLOCK_SIZE: tl.constexpr):
    acc = tl.zeros((BLOCK_SIZE,), tl.float32)
    for i in range(0, n_rows, BLOCK_SIZE):
        offsets = i + tl.arange(0, BLOCK_SIZE)
        acc += tl.load(loss_ptr + offsets, mask=offsets < n_rows, other=0.0)
    tl.store(out_ptr, tl.sum(acc, 0) / n_rows * factor)


@triton.jit
def kl_backward(
    dout, S, T, stride_s, stride_t, dS, stats_ptr, n_rows, n_cols, temperature, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_cols
    s = tl.load(S + row * stride_s + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    t = tl.load(T + row * stride_t + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    stats_ptr += row * 4
    q = tl.exp((s - tl.load(stats_ptr)) / temperature) / tl.load(stats_ptr + 1)
    p = tl.exp((t - tl.load(stats_ptr + 2)) / temperature) / tl.load(stats_ptr + 3)
    grad = (q - p) * (tl.load(dout) * temperature / n_rows)
    tl.store(dS + row * n_cols + offsets, grad, mask=mask)


class KLDivFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, student, teacher, temperature):
        BT, V = student.shape
        loss = torch.empty((BT,), dtype=torch.float32, device=student.device)
        stats = torch.empty((BT, 4), dtype=torch.float32, device=student.device)
        out = torch.empty((), dtype=torch.float32, device=student.device)
        BLOCK_SIZE = min(8192, triton.next_power_of_2(V))
        strides = (student.stride(0), teacher.stride(0))
        num_warps = 16 if BLOCK_SIZE >= 4096 else 4
        args = (*strides, loss, stats, V, 1.0 / temperature, BLOCK_SIZE)
        kl_forward[(BT,)](student, teacher, *args, num_warps=num_warps)
        batch_mean[(1,)](loss, out, BT, temperature**2, BLOCK_SIZE=1024)
        ctx.save_for_backward(student, teacher, stats)
        ctx.temperature = temperature
        return out

    @staticmethod
    def backward(ctx, dout):
        student, teacher, stats = ctx.saved_tensors
        BT, V = student.shape
        dS = torch.empty((BT, V), dtype=student.dtype, device=student.device)
        BLOCK = min(2048, triton.next_power_of_2(V))
        kl_backward[(BT, triton.cdiv(V, BLOCK))](
            dout,
            student,
            teacher,
            student.stride(0),
            teacher.stride(0),
            dS,
            stats,
            BT,
            V,
            ctx.temperature,
            BLOCK,
        )
        return dS, None, None


def distill_kl(student, teacher, temperature):
    return KLDivFunction.apply(student, teacher, temperature)
