"""Extra: the divergence of a student from its teacher, two online softmaxes in one walk."""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable

LOWEST = tl.constexpr(-3.4028234e38)  # the lowest finite fp32


@triton.jit
def row_kernel(
    student_ptr,
    teacher_ptr,
    stats_ptr,
    loss_ptr,
    n_cols,
    stride_sm,
    stride_tm,
    scale,
    rate,
    BLOCK_N: tl.constexpr,
    VEC: tl.constexpr,
):
    """KL(teacher || student) of one row of softmax(. / T), and four numbers of it to keep.

    scale is log2(e) / T, so that exp(x / T) is 2 ** (scale * x); rate is 1 / T.
    """
    # 64 bits: a row may start 2**31 elements or more after the first one.
    row = tl.program_id(0).to(tl.int64)
    student_ptr += row * stride_sm
    teacher_ptr += row * stride_tm
    # Each lane reads 16 bytes at once and keeps sums of its own: no lane waits for another in the loop. Two
    # maxima, for one softmax knows nothing of the other's. Starting at a finite number never subtracts -inf
    # from -inf.
    LANES: tl.constexpr = BLOCK_N // VEC
    offs_n = tl.arange(0, LANES)[:, None] * VEC + tl.arange(0, VEC)[None, :]
    m_s = tl.full((LANES,), LOWEST, tl.float32)
    m_t = tl.full((LANES,), LOWEST, tl.float32)
    l_s = tl.zeros((LANES,), tl.float32)
    l_t = tl.zeros((LANES,), tl.float32)
    acc = tl.zeros((LANES,), tl.float32)
    # 2v elements from HBM, the only read of the forward pass.
    for start in range(0, n_cols, BLOCK_N):
        cols = start + offs_n
        s = tl.load(student_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        t = tl.load(teacher_ptr + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        m_new = tl.maximum(m_s, tl.max(s, axis=1))
        l_s = l_s * tl.exp2((m_s - m_new) * scale) + tl.sum(tl.exp2((s - m_new[:, None]) * scale), axis=1)
        m_s = m_new
        m_new = tl.maximum(m_t, tl.max(t, axis=1))
        alpha = tl.exp2((m_t - m_new) * scale)
        p = tl.exp2((t - m_new[:, None]) * scale)
        l_t = l_t * alpha + tl.sum(p, axis=1)
        # What the teacher rules out costs nothing, though s may be -inf there, and 0 * inf NaN.
        acc = tl.where(alpha > 0, acc * alpha, 0.0) + tl.sum(tl.where(p > 0, p * (t - s), 0.0), axis=1)
        m_t = m_new
    top_s, top_t = tl.max(m_s, axis=0), tl.max(m_t, axis=0)
    sum_s = tl.sum(l_s * tl.exp2((m_s - top_s) * scale), axis=0)
    alpha = tl.exp2((m_t - top_t) * scale)
    sum_t = tl.sum(l_t * alpha, axis=0)
    total = tl.sum(tl.where(alpha > 0, acc * alpha, 0.0), axis=0)
    # Mean of (t - s) under the teacher, less what the two logsumexps have between them.
    loss = (total / sum_t - (top_t - top_s)) * rate + (tl.log(sum_s) - tl.log(sum_t))
    tl.store(loss_ptr + row, loss)
    tl.store(stats_ptr + row * 4, top_s)
    tl.store(stats_ptr + row * 4 + 1, sum_s)
    tl.store(stats_ptr + row * 4 + 2, top_t)
    tl.store(stats_ptr + row * 4 + 3, sum_t)


@triton.jit
def mean_kernel(loss_ptr, mean_ptr, n_rows, factor, BLOCK_M: tl.constexpr):
    """factor times the mean of the rows' losses, by one program: 4 bytes a row, not 4v."""
    acc = tl.zeros((BLOCK_M,), tl.float32)
    for start in range(0, n_rows, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        acc += tl.load(loss_ptr + rows, mask=rows < n_rows, other=0.0)
    # 0 / 0 is NaN, as torch has it for the mean of nothing.
    tl.store(mean_ptr, tl.sum(acc, axis=0) / n_rows * factor)


@triton.jit
def backward_kernel(
    dmean_ptr,
    student_ptr,
    teacher_ptr,
    stats_ptr,
    dstudent_ptr,
    n_rows,
    n_cols,
    stride_sm,
    stride_tm,
    scale,
    temperature,
    BLOCK_N: tl.constexpr,
):
    """BLOCK_N columns of one row: dstudent = (softmax of the student - of the teacher) * T * dmean / m."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = cols < n_cols
    # T**2 of the loss and 1 / T of the chain rule. On the device: the host never waits for the upstream one.
    by = tl.load(dmean_ptr) * temperature / n_rows
    # 2v elements from HBM and v to it. Exponentials are computed again: they cost no byte.
    s = tl.load(student_ptr + row * stride_sm + cols, mask=mask, other=0.0).to(tl.float32)
    t = tl.load(teacher_ptr + row * stride_tm + cols, mask=mask, other=0.0).to(tl.float32)
    p_s = tl.exp2((s - tl.load(stats_ptr + row * 4)) * scale) * (1 / tl.load(stats_ptr + row * 4 + 1))
    p_t = tl.exp2((t - tl.load(stats_ptr + row * 4 + 2)) * scale) * (1 / tl.load(stats_ptr + row * 4 + 3))
    tl.store(dstudent_ptr + row * n_cols + cols, (p_s - p_t) * by, mask=mask)


class DistillKL(torch.autograd.Function):
    """Tells autograd which kernels compute the loss, and the student's gradient."""

    @staticmethod
    def forward(ctx: Any, student: torch.Tensor, teacher: torch.Tensor, temperature: float) -> torch.Tensor:
        n_rows, n_cols = student.shape
        stats = torch.empty(n_rows, 4, dtype=torch.float32, device=student.device)
        losses = torch.empty(n_rows, dtype=torch.float32, device=student.device)
        mean = torch.empty((), dtype=torch.float32, device=student.device)
        VEC = 16 // student.element_size()
        BLOCK_N = min(max(triton.next_power_of_2(n_cols), VEC), 4096)
        row_kernel[(n_rows,)](
            student,
            teacher,
            stats,
            losses,
            n_cols,
            student.stride(0),
            teacher.stride(0),
            1 / (math.log(2) * temperature),
            1 / temperature,
            BLOCK_N=BLOCK_N,
            VEC=VEC,
            num_warps=max(BLOCK_N // 512, 1),
        )
        mean_kernel[(1,)](losses, mean, n_rows, temperature**2, BLOCK_M=4096)
        # 16 bytes a row beside both inputs, which exist anyway.
        ctx.save_for_backward(student, teacher, stats)
        ctx.temperature = temperature
        return mean

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dmean: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        student, teacher, stats = ctx.saved_tensors
        n_rows, n_cols = student.shape
        dstudent = torch.empty(n_rows, n_cols, dtype=student.dtype, device=student.device)
        BLOCK_N = min(triton.next_power_of_2(n_cols), 2048)
        backward_kernel[(n_rows, triton.cdiv(n_cols, BLOCK_N))](
            dmean,
            student,
            teacher,
            stats,
            dstudent,
            n_rows,
            n_cols,
            student.stride(0),
            teacher.stride(0),
            1 / (math.log(2) * ctx.temperature),
            ctx.temperature,
            BLOCK_N=BLOCK_N,
            num_warps=4,
        )
        return dstudent, None, None


def distill_kl(student: torch.Tensor, teacher: torch.Tensor, temperature: float) -> torch.Tensor:
    """Return T**2 times the mean over rows of KL(teacher || student) of softmax(. / T), fp32 []."""
    return DistillKL.apply(student, teacher, temperature)
