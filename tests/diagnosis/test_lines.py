"""What there is to look at has its lines."""

from __future__ import annotations

import pytest

from grader.diagnosis.launch_record import Involved
from grader.diagnosis.lines import pointed

SOURCE = """@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    e = tl.exp(x.to(tl.float32) - tl.max(x, axis=0))
    tl.store(y_ptr + offs, e / tl.sum(e, axis=0), mask=mask)


def entry(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, len(x), BLOCK=64)
    return y
"""
HELPED = """@triton.jit
def load_rows(x_ptr, start, stride_xm, BLOCK: tl.constexpr):
    return tl.load(x_ptr + (start + tl.arange(0, BLOCK)) * stride_xm)


@triton.jit
def kernel(x_ptr, y_ptr, n, stride_xm, stride_yb, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        acc += load_rows(x_ptr, start, stride_yb, BLOCK)
    tl.store(y_ptr + tl.arange(0, BLOCK), acc)


def entry(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, len(x), x.stride(0), y.stride(0), BLOCK=32)
    return y
"""


@pytest.mark.parametrize(
    ("look_at", "where"),
    [
        ("other= of the load", "line 6"),
        ("the mask of the store", "lines 5 and 8"),
        ("the grid", "line 13"),
        ("the strides of the store", "line 8"),
        ("where it is allocated", "line 12"),
        (".to(tl.float32)", "line 7"),
        ("what is stored there", "line 8"),
        ("what entry returns", "line 14"),
        ("a thing without a word", "in kernel, from line 2 on"),
        ("the mask on line 5", ""),
        ("", ""),
    ],
)
def test_the_lines_behind_the_words_are_named(look_at: str, where: str) -> None:
    assert pointed(look_at, SOURCE) == (f"{look_at}: {where}" if where else look_at)


def test_a_file_without_such_a_thing_has_no_line() -> None:
    assert pointed("the mask", "x = 1\n") == "the mask"


def test_the_strides_of_a_tensor_are_those_that_bear_its_name_and_those_a_launcher_takes() -> None:
    assert pointed("the strides of x", HELPED, frozenset({1, 2, 3})) == "the strides of x: line 17"


def test_lines_that_are_handed_out_are_not_named() -> None:
    assert pointed("the loop", HELPED, frozenset({*range(1, 7), 10})) == "the loop: in kernel, from line 7 on"


def test_what_each_turn_of_a_loop_adds_to_is_named_with_it() -> None:
    look_at = "the loop, and what each turn adds to"
    assert pointed(look_at, HELPED) == f"{look_at}: lines 10 and 11"


def test_what_is_right_with_our_code_around_it_is_none_to_look_at() -> None:
    right = Involved(right=frozenset({"load_rows", "kernel"}))
    assert pointed("the loop", HELPED, part=right) == "the loop: in entry, from line 15 on"


def test_nothing_is_told_where_nothing_is_known() -> None:
    many = "\n".join(f"@triton.jit\ndef k{n}(x_ptr):\n    pass\n" for n in range(4))
    assert pointed("the loop", many, part=Involved(stores=frozenset())) == ""


IDLE = """
@triton.jit
def kernel(x_ptr, y_ptr, scale, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    for step in range(n):
        x += 1
    tl.store(y_ptr + offs, x, mask=offs < n)
"""


def test_a_name_that_nothing_reads_is_told_where_no_line_is_known() -> None:
    part = Involved(stores=frozenset())
    assert pointed("the formula in kernel, from line 3 on", IDLE, part=part) == (
        "`scale`, which nothing reads: line 3"
    )
    read = IDLE.replace("x += 1", "x += scale")
    assert pointed("the formula in kernel, from line 3 on", read, part=part) == (
        "the formula in kernel, from line 3 on"
    )
    assert pointed("line 5", IDLE, part=part) == "line 5"
