"""Loops and branches, in which each program goes its own way, and what the compiler says of a kernel."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from grader.kernel.evaluator import AssertionInKernel
from grader.runner import error_messages
from tests.kernel.evaluated import evaluate, line

pytestmark = pytest.mark.every_triton


@triton.jit
def loops_kernel(out_ptr, n):
    pid = tl.program_id(0)
    total = 0
    for i in range(pid, n):
        if i % 2 == 0:
            total += i
        elif i > 5:
            total -= 1
    tl.store(out_ptr + pid, total)
    turns, at = 0, pid
    while at > 0 and turns < 5:
        at = at // 2
        turns += 1
    tl.store(out_ptr + 8 + pid, turns)
    for i in range(n, pid, -2):
        total += i
    tl.store(out_ptr + 16 + pid, total)


def test_each_program_goes_round_as_often_as_it_wants():
    out = torch.empty(3, 8, dtype=torch.int32)
    evaluate(loops_kernel, (8,), out, 7)
    for pid in range(8):
        total = sum(i if i % 2 == 0 else -1 if i > 5 else 0 for i in range(pid, 7))
        assert out[:, pid].tolist() == [total, pid.bit_length(), total + sum(range(7, pid, -2))]


@triton.jit
def early_kernel(out_ptr, n):
    pid = tl.program_id(0)
    if pid >= n:
        return
    if pid == 1:
        tl.store(out_ptr + pid, 10)
        return
    tl.store(out_ptr + pid, twice(pid))


@triton.jit(noinline=True)
def twice(x):
    return x * 2


def test_a_program_may_return_early_and_call_what_is_not_inlined():
    out = torch.full((5,), -1, dtype=torch.int32)
    evaluate(early_kernel, (5,), out, 4)
    assert out.tolist() == [0, 10, 4, 6, -1]


@triton.jit
def grid_kernel(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    number = x + tl.num_programs(0) * (y + tl.num_programs(1) * z)
    tl.store(out_ptr + number, x + 10 * y + 100 * z)


def test_the_first_axis_of_the_grid_runs_fastest():
    out = torch.empty(24, dtype=torch.int32)
    evaluate(grid_kernel, (2, 3, 4), out)
    assert out.tolist() == [x + 10 * y + 100 * z for z in range(4) for y in range(3) for x in range(2)]


@triton.jit
def library_kernel(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), torch.relu(x))


@triton.jit
def relu(x):
    """Called by way of another kernel."""
    return torch.relu(x)


@triton.jit
def deep_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, relu(tl.load(x_ptr)))


@triton.jit
def odd_kernel(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 20))
    tl.store(x_ptr + tl.arange(0, 20), x)


@triton.jit
def grown_kernel(x_ptr, BLOCK: tl.constexpr):
    total = 0.0
    for _ in range(BLOCK):
        total += tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr, tl.sum(total))


@triton.jit
def raising_kernel(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr)
    if x > 0:
        raise ValueError("no")


@triton.jit
def inner(x):
    return x.nothing()


@triton.jit
def calling_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, inner(tl.load(x_ptr)))


@triton.jit
def eight_bits_kernel(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr).to(tl.float8e5)
    tl.store(x_ptr, (x + x).to(tl.float32))


@pytest.mark.parametrize(
    ("kernel", "where", "at", "says"),
    [
        (library_kernel, library_kernel, "torch.relu", "Unsupported function referenced"),
        (deep_kernel, relu, "torch.relu", "Unsupported function referenced"),
        (odd_kernel, odd_kernel, "x = tl.load", "power of 2"),
        (grown_kernel, grown_kernel, "for _", "total"),
        (raising_kernel, raising_kernel, "raise", "unsupported AST node type: Raise"),
        (calling_kernel, inner, "x.nothing", "nothing"),
        (eight_bits_kernel, eight_bits_kernel, "x + x", "there is no arithmetic in fp8e5"),
    ],
)
def test_what_does_not_compile_is_told_with_the_kernels_own_line(kernel, where, at, says):
    with pytest.raises(Exception) as raised:  # noqa: PT011  whatever it is, it is described
        evaluate(kernel, (1,), torch.ones(32), BLOCK=32)
    fault = error_messages.describe(raised.value, kernel.fn.__code__.co_filename)
    assert (fault.kind, fault.line) == ("compile", line(where, at)), fault
    assert says in fault.message


@triton.jit
def asserting_kernel(x_ptr, n):
    x = tl.load(x_ptr + tl.program_id(0))
    tl.device_assert(x < n, "too large")
    tl.device_print("x", x)


def test_a_kernel_may_print_and_assert(capsys):
    evaluate(asserting_kernel, (2,), torch.arange(2), 2)
    assert capsys.readouterr().out.splitlines() == ["(0, 0, 0) x: 0", "(1, 0, 0) x: 1"]
    with pytest.raises(AssertionInKernel, match="too large"):
        evaluate(asserting_kernel, (4,), torch.arange(4), 2)
