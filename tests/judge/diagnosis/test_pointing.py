"""What there is to look at has its lines."""

from __future__ import annotations

import pytest

from grader.judge.diagnosis.launched import Involved
from grader.judge.diagnosis.pointing import pointed

TOP = """import time

BLOCK = 64


@triton.jit
def kernel(x_ptr):
    pass


while True:
    time.sleep(1)

if __name__ == "__main__":
    kernel[(1,)](0)
"""
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


@pytest.mark.parametrize(
    ("look_at", "where"),
    [
        ("other= of the masked load", "line 6"),
        ("the mask of the store", "lines 5 and 8"),
        ("triton.cdiv in the grid", "line 13"),
        ("tl.program_id in the offsets", "lines 3 and 4"),
        ("the argument of exp", "line 7"),
        ("torch.empty", "line 12"),
        (".to(tl.float32)", "line 7"),
        ("what is subtracted, divided and multiplied", "line 8"),
        ("what is stored there", "line 8"),
        ("what entry() returns", "line 14"),
        ("entry()", "line 11"),
        ("a thing without a word", "in kernel, from line 2 on"),
        ("the mask on line 5", ""),
        ("", ""),
    ],
)
def test_the_lines_behind_the_words_are_named(look_at: str, where: str) -> None:
    assert pointed(look_at, SOURCE) == (f"{look_at}: {where}" if where else look_at)


def test_a_file_without_such_a_thing_has_no_line() -> None:
    assert pointed("the mask", "x = 1\n") == "the mask"


def test_what_runs_as_the_file_is_imported_lies_in_no_kernel() -> None:
    assert pointed("what runs at the top of your file", TOP) == "what runs at the top of your file: line 11"
    assert pointed("what runs at the top of your file", SOURCE) == "what runs at the top of your file"
    assert pointed("what runs outside of your file's lines", TOP) == "what runs outside of your file's lines"


HELPED = """@triton.jit
def load_rows(x_ptr, start, stride_xm, BLOCK: tl.constexpr):
    return tl.load(x_ptr + (start + tl.arange(0, BLOCK)) * stride_xm)


@triton.jit
def kernel(x_ptr, y_ptr, n, stride_xm, stride_yb, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0)
    first = n // 2
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(first, n, BLOCK):
        x = load_rows(x_ptr, start, stride_yb, BLOCK)
        acc = tl.dot(x.to(y_ptr.dtype), x.to(tl.float16), acc)
    tl.store(y_ptr, acc)


def entry(x):
    y = torch.empty_like(x)
    BLOCK = 32 if x.dtype.itemsize == 2 else 16
    kernel[(1,)](x, y, len(x), *x.stride(), *y.stride(), BLOCK=BLOCK)
    return y
"""


@pytest.mark.parametrize(
    ("look_at", "where"),
    [
        ("how the address of x is made", "lines 8 and 12"),
        ("where the strides of x are used, and where the launcher hands them over", "lines 8, 12 and 20"),
        ("the loop, where it starts and ends", "lines 9 and 11"),
        (".to(tl.float32)", "line 13"),
        ("where BLOCK is chosen", "line 19"),
        ("what goes by the dtype", "lines 13 and 19"),
    ],
)
def test_a_line_that_hands_a_pointer_on_makes_its_address(look_at: str, where: str) -> None:
    assert pointed(look_at, HELPED, frozenset({1, 2, 3})) == f"{look_at}: {where}"


def test_a_tensor_that_kernels_call_otherwise_is_known_by_its_launch() -> None:
    source = SOURCE.replace("(x)", "(cache)").replace("(x, y, len(cache)", "(cache, y, len(cache)")
    source = source.replace("    e = ", "    z = tl.load(y_ptr + pid * n)\n    e = ")
    assert pointed("how the address of cache is made", source) == "how the address of cache is made: line 6"


def test_of_many_lines_those_of_the_first_words_are_named() -> None:
    source = SOURCE.replace("    pid", "    pid_b = tl.program_id(1)\n    pid_c = tl.program_id(2)\n    pid")
    assert pointed("tl.program_id in the offsets, and the masks", source).endswith(": lines 3, 4, 5 and 6")


@pytest.mark.parametrize(
    ("right", "look_at", "where"),
    [
        ({"kernel"}, "what is stored there", "what is stored there: in load_rows, from line 2 on"),
        ({"load_rows", "kernel"}, "the grid", "the grid: line 20"),
        ({"load_rows", "kernel"}, "the mask on line 12", "entry, from line 17 on"),
        ({"load_rows", "kernel"}, "", "entry, from line 17 on"),
        ({"entry"}, "the mask on line 12", "the mask on line 12"),
    ],
)
def test_what_is_right_with_our_code_around_it_is_none_to_look_at(
    right: set[str], look_at: str, where: str
) -> None:
    assert pointed(look_at, HELPED, part=Involved(right=frozenset(right))) == where


TWO_ROADS = """import torch
@triton.jit
def by_pointers(x_ptr, y_ptr, n, stride_xm, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * stride_xm + tl.arange(0, BLOCK)
    tl.store(y_ptr + tl.program_id(0) * n + tl.arange(0, BLOCK), tl.load(x_ptr + offs))
@triton.jit
def by_descriptors(x_desc, y_ptr, n, BLOCK: tl.constexpr):
    tl.store(y_ptr + tl.arange(0, BLOCK), x_desc.load([0, 0]))
def entry(x, y):
    if x.is_contiguous():
        by_pointers[(1,)](
            x,
            y,
            len(x),
            x.stride(0),
        )
    else:
        by_descriptors[(1,)](
            TensorDescriptor(x, [4, 8], [8, 1], [4, 8]),
            y,
        )
    return y
"""


@pytest.mark.parametrize(
    ("elsewhere", "look_at", "where"),
    [
        ("by_pointers", "how the address of x is made", "line 19"),
        ("by_pointers", "where the strides of x are used, and where the launcher hands them over", "line 19"),
        ("by_descriptors", "how the address of x is made", "line 5"),
        (
            "by_descriptors",
            "where the strides of x are used, and where the launcher hands them over",
            "lines 4, 5 and 15",
        ),
    ],
)
def test_of_two_roads_the_strides_of_the_one_that_ran_are_named(
    elsewhere: str, look_at: str, where: str
) -> None:
    part = Involved(frozenset({elsewhere}))
    assert pointed(look_at, TWO_ROADS, part=part) == f"{look_at}: {where}"


def test_who_asks_for_strides_and_launches_nothing_hands_none_over() -> None:
    asked = "def suits(x):\n    return x.stride(0) % 8 == 0\n"
    look_at = "where the launcher hands them over"
    assert pointed(look_at, TWO_ROADS + asked) == f"{look_at}: lines 11, 15 and 18"


HANDED = """@triton.jit
def kernel(
    a_ptr, b_ptr, m, stride_am, stride_ak, stride_bk, stride_bn, BLOCK: tl.constexpr
):
    a_ptr += m * stride_am
    a_ptr += m * stride_am
    a_ptr += m * stride_am
    a_ptr += m * stride_ak
    a_ptr += m * stride_ak
    tl.store(b_ptr, tl.load(a_ptr))


def entry(a, b):
    kernel[(1,)](
        a,
        b,
        m,
        {a}
        *b.stride(),
    )
"""


@pytest.mark.parametrize(("handed", "lines"), [("m,\n        1,", "18 and 19"), ("*b.stride(),", "18")])
def test_of_many_lines_with_strides_those_that_hand_them_over_are_named(handed: str, lines: str) -> None:
    found = pointed(
        "where the strides of a are used, and where the launcher hands them over", HANDED.format(a=handed)
    )
    assert found.endswith(f": lines {lines}" if "and" in lines else f": line {lines}")
