"""One walk, a number a row in the place of lanes; logits divided by T as they are loaded; blocks of columns
in the backward pass, statistics as two tensors.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def walk(s_ptr, t_ptr, max_ptr, sum_ptr, kl_ptr, m, v, ss, st, temperature, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, COLS)
    a = -3.0e38
    b = -3.0e38
    za = 0.0
    zb = 0.0
    mean = 0.0
    for first in range(0, v, COLS):
        inside = first + lane < v
        x = tl.load(s_ptr + row * ss + first + lane, inside, float("-inf")).to(tl.float32) / temperature
        y = tl.load(t_ptr + row * st + first + lane, inside, float("-inf")).to(tl.float32) / temperature
        a_next = tl.maximum(a, tl.max(x, axis=0))
        b_next = tl.maximum(b, tl.max(y, axis=0))
        za = za * tl.exp(a - a_next) + tl.sum(tl.exp(x - a_next), axis=0)
        shrink = tl.exp(b - b_next)
        q = tl.exp(y - b_next)
        zb = zb * shrink + tl.sum(q, axis=0)
        mean = tl.where(shrink == 0, 0.0, mean * shrink)
        mean += tl.sum(tl.where(q == 0, 0.0, q * (y - x)), axis=0)
        a, b = a_next, b_next
    tl.store(kl_ptr + row, mean / zb + (a - b) + tl.log(za / zb))
    tl.store(max_ptr + row, a)
    tl.store(max_ptr + m + row, b)
    tl.store(sum_ptr + row, za)
    tl.store(sum_ptr + m + row, zb)


@triton.jit
def average(kl_ptr, out_ptr, m, temperature, ROWS: tl.constexpr):
    total = 0.0
    for first in range(0, m, ROWS):
        row = first + tl.arange(0, ROWS)
        total += tl.sum(tl.load(kl_ptr + row, row < m, 0.0), axis=0)
    tl.store(out_ptr, temperature * temperature * (total / m))


@triton.jit
def pull(d_ptr, s_ptr, t_ptr, max_ptr, sum_ptr, ds_ptr, m, v, ss, st, temperature, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    x = tl.load(s_ptr + row * ss + col, col < v).to(tl.float32) / temperature
    y = tl.load(t_ptr + row * st + col, col < v).to(tl.float32) / temperature
    x = tl.exp(x - tl.load(max_ptr + row)) / tl.load(sum_ptr + row)
    y = tl.exp(y - tl.load(max_ptr + m + row)) / tl.load(sum_ptr + m + row)
    tl.store(ds_ptr + row * v + col, (x - y) * temperature * (tl.load(d_ptr) / m), col < v)


class Student(torch.autograd.Function):
    @staticmethod
    def forward(ctx, student, teacher, temperature):
        m, v = student.shape
        tops, sums = (torch.empty(2 * m, dtype=torch.float32, device=student.device) for _ in range(2))
        kl = torch.empty(m, dtype=torch.float32, device=student.device)
        out = torch.empty((), dtype=torch.float32, device=student.device)
        ctx.rest = (m, v, student.stride(0), teacher.stride(0), temperature)
        walk[(m,)](student, teacher, tops, sums, kl, *ctx.rest, COLS=4096, num_warps=8)
        average[(1,)](kl, out, m, temperature, ROWS=1024)
        ctx.save_for_backward(student, teacher, tops, sums)
        return out

    @staticmethod
    def backward(ctx, d):
        student, teacher, tops, sums = ctx.saved_tensors
        m, v = student.shape
        ds = student.new_empty(m, v)
        pull[(m, triton.cdiv(v, 2048))](d, student, teacher, tops, sums, ds, *ctx.rest, COLS=2048)
        return ds, None, None


distill_kl = Student.apply
