"""What the source says of maxima before exponentials, and of what is kept in 16 bits."""

from __future__ import annotations

import pytest

from grader import catalog
from grader.dev import planted
from grader.judge.diagnosis.flow import subtracts_maximum, sums_exponentials
from grader.judge.diagnosis.kept import kept_low
from grader.judge.diagnosis.site import never_read, store_conditions

KERNEL = "@triton.jit\ndef kernel(q_ptr, m_ptr, N):\n    s = tl.load(q_ptr)\n    {}\n"


@pytest.mark.parametrize(
    "body",
    [
        "p = tl.exp(s - tl.max(s, 0))",
        "m = tl.max(s, 0)\n    safe = tl.where(m > 0, m, 0)\n    s -= safe\n    p = tl.exp(s)",
        "p = (s - s.max(0)).exp()",
        "p = tl.exp(s - tl.load(m_ptr))\n    tl.store(m_ptr, tl.max(s, 0))",
        "p = tl.exp(s - tl.load(lse_ptr))",
        "m = tl.max(s, 0)\n    p = weigh(s, m)\n\ndef weigh(s, shift):\n    return tl.exp(s - shift)",
    ],
)
def test_a_maximum_is_followed_into_the_exponent(body: str) -> None:
    assert subtracts_maximum(KERNEL.format(body))


@pytest.mark.parametrize(
    "body",
    [
        "p = tl.exp(s)",
        "m = 0.0\n    p = tl.exp(s - m)\n    for i in range(0, tl.max(s, 0)):\n        pass",
        "p = tl.exp(s - max(N, 1))",
    ],
)
def test_a_maximum_beside_the_exponent_is_none(body: str) -> None:
    assert not subtracts_maximum(KERNEL.format(body))


@pytest.mark.parametrize(
    "body",
    [
        "p = tl.exp(s - 1)\n    l = tl.sum(p, 0)",
        "p = tl.exp2(s)\n    acc = tl.dot(p.to(tl.float16), s)",
        "acc = 0.0\n    acc += tl.exp(s)\n    l = tl.sum(acc, 0)",
        "l = tl.sum(weigh(s), 0)\n\ndef weigh(s):\n    return tl.exp(s) * 2",
    ],
)
def test_exponentials_that_are_added_up_are_a_softmax(body: str) -> None:
    assert sums_exponentials(KERNEL.format(body))


@pytest.mark.parametrize(
    "body",
    [
        "y = tl.dot(s, s)\n    y = y / (1 + tl.exp(-y))",
        "g = 1 / (1 + tl.exp(-s))\n    l = tl.sum(g * s, 0)",
        "e = tl.exp(2 * s)\n    l = tl.sum((e - 1) / (e + 1), 0)",
        "p = tl.exp(s)",
    ],
)
def test_what_a_sigmoid_makes_of_an_exponential_is_none(body: str) -> None:
    assert not sums_exponentials(KERNEL.format(body))


def test_sums_and_scratch_in_the_inputs_dtype_are_listed() -> None:
    kernel = KERNEL.format("acc = tl.zeros((8,), q_ptr.dtype.element_ty)\n    acc += s")
    launcher = """
def f(q):
    s = torch.empty(4, dtype=q.dtype)
    m = torch.empty(4, dtype=torch.float32)
    o = torch.empty_like(q)
    return o
"""
    assert kept_low(kernel + launcher) == {"acc": "q_ptr.dtype.element_ty", "s": "q.dtype"}


def test_a_sum_that_a_loop_rounds_is_told_before_what_kernels_leave_to_one_another() -> None:
    kernel = KERNEL.format("for i in range(4):\n        acc = tl.dot(s, s, acc).to(s.dtype).to(tl.float32)")
    launcher = "def f(q):\n    p = torch.empty(4, dtype=q.dtype)\n    return q\n"
    assert kept_low(kernel + launcher) == {"acc": "s.dtype"}
    assert kept_low(kernel.replace("acc)", "0)") + launcher) == {"p": "q.dtype"}


@pytest.mark.parametrize("number", ["15", "18", "20", "22", "30", "32", "34"])
def test_right_kernels_keep_their_sums_in_fp32(number: str) -> None:
    day = catalog.find(number)
    assert [kept_low(path.read_text()) for path in (day.solution, *planted.honest(day))] == [
        {} for _ in (day.solution, *planted.honest(day))
    ]


BY_CONDITION = """
@triton.jit
def kernel(x_ptr, y_ptr, n, stride_y, EVEN: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0))
    if x == 0:
        return
    if EVEN:
        tl.store(y_ptr, x)
    if tl.program_id(0) < n:
        x += 1
        tl.store(y_ptr + tl.program_id(0), x)
    if x > 1:
        x = 1
"""


def test_the_conditions_of_a_store_are_known() -> None:
    """A return before it and an `if` around it; what a constant decides is no condition of a program."""
    assert store_conditions(BY_CONDITION) == [5, 9]


def test_what_a_kernel_is_handed_and_does_not_read_is_known() -> None:
    assert never_read(BY_CONDITION) == [("kernel", "stride_y", 3)]
    assert never_read(BY_CONDITION.replace("y_ptr, x)", "y_ptr + stride_y, x)")) == []
