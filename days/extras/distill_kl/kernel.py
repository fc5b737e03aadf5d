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
    # TODO 1: one walk along both rows: two maxima, two sums, and what the teacher thinks of t - s so far.
    # TODO 2: the lanes' numbers, put together; the divergence of the row.
    # TODO 3: store it, and what backward needs to compute both softmaxes again.


@triton.jit
def mean_kernel(loss_ptr, mean_ptr, n_rows, factor, BLOCK_M: tl.constexpr):
    """factor times the mean of the rows' losses, by one program: 4 bytes a row, not 4v."""
    # TODO 4: add up the rows, divide, and multiply by the factor.


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
    # TODO 5: both softmaxes once more; their difference, and all of its factors.


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
