"""Of a block that starts beyond its tensor the lines are named that count its start, in its kernel alone."""

from __future__ import annotations

from grader.judge.diagnosis.starts import starts

SOURCE = """\
import triton
import triton.language as tl

@triton.jit
def head(pid_h, GROUP):
    return pid_h % GROUP

@triton.jit
def kernel(k_ptr, n, stride_k, GROUP):
    pid_b = tl.program_id(1)
    k_ptr += pid_b * n + head(tl.program_id(0), GROUP) * stride_k
    k = tl.load(k_ptr + tl.arange(0, 16))

@triton.jit
def other(k_ptr, n, stride_k):
    k_ptr += tl.program_id(1) * n
"""


def test_what_moved_the_pointer_and_what_it_called_is_named() -> None:
    assert starts(SOURCE, 12, frozenset()) == [6, 11]


def test_what_is_handed_out_is_not() -> None:
    assert starts(SOURCE, 12, frozenset({11})) == [6]
    assert starts(SOURCE, 12, frozenset({6, 11})) == []
    assert starts(SOURCE, 2, frozenset()) == []
