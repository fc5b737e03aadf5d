"""Lines that are handed out are not blamed; TODOs that are left are found."""

from __future__ import annotations

import ast

from grader.diagnosis.launch_record import Involved
from grader.diagnosis.lines import pointed
from grader.diagnosis.skeleton import bare, handed_out, to_do
from grader.diagnosis.source_context import functions

SKELETON = """@triton.jit
def helper(pid, n):
    return tl.minimum(pid, n)


@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    '''y = relu(x).'''
    # TODO 1: read x.
    # TODO 2: store y.


def entry(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, len(x), BLOCK=64)
    return y
"""
WORK = """    offs = helper(tl.program_id(0), n) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, tl.maximum(x, 0.0), mask=offs < n)
"""


def filled() -> str:
    first, _, last = SKELETON.partition("    # TODO 1: read x.\n    # TODO 2: store y.\n")
    return first + WORK + last


def test_what_stands_in_the_skeleton_is_handed_out() -> None:
    assert handed_out(SKELETON, SKELETON) == set(range(1, 17))
    assert handed_out(filled(), SKELETON) == set(range(1, 9)) | set(range(12, 18))
    assert not handed_out(filled(), "")


def test_a_line_that_is_handed_out_is_never_named() -> None:
    given = handed_out(filled(), SKELETON)
    assert pointed("what is stored", filled(), given) == "what is stored: line 11"
    # A grid that is handed out is right: what is wrong is the kernel's use of it.
    assert pointed("the grid", filled(), given) == "the grid: in kernel, from line 7 on"
    assert pointed("the grid", filled()) == "the grid: line 16"


def test_a_kernel_that_ran_in_no_failing_case_is_never_named() -> None:
    assert "line" not in pointed(
        "the mask", filled(), handed_out(filled(), SKELETON), Involved(frozenset({"kernel"}))
    )


def test_a_todo_that_is_left_is_found() -> None:
    def left(source: str) -> list[int]:
        return to_do(source, handed_out(source, SKELETON), *functions(ast.parse(source)))

    assert left(SKELETON) == [9, 10]
    assert not left(filled())
    done = SKELETON.replace("    # TODO 2", "    x = tl.load(x_ptr)\n    # TODO 2")
    assert left(done) == [11]


def test_of_several_todos_with_nothing_below_and_lines_above_none_is_left() -> None:
    above = SKELETON.replace("    # TODO 1", "    tl.store(y_ptr, tl.load(x_ptr))\n    # TODO 1")
    assert not to_do(above, handed_out(above, SKELETON), *functions(ast.parse(above)))


def test_a_todo_with_no_line_right_below_is_told_beside_one_that_has_some() -> None:
    def told(source: str) -> list[str]:
        return bare(source, handed_out(source, SKELETON), functions(ast.parse(source))[1])

    assert told(SKELETON) == []
    assert told(SKELETON.replace("    # TODO 2", "    x = tl.load(x_ptr)\n    # TODO 2")) == ["TODO 2"]
    assert told(SKELETON.replace("store y.\n", "store y.\n    tl.store(y_ptr, 0)\n")) == ["TODO 1"]
    assert told(SKELETON.replace("    # TODO 1: read x.\n", "    x = tl.load(x_ptr)\n")) == ["TODO 2"]
