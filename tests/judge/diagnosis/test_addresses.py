"""How an address is made: which lines move it, and which stride it lacks."""

from __future__ import annotations

import ast

import pytest

from grader.judge.diagnosis.addresses import addresses, strided, unstrided

KERNEL = """@triton.jit
def kernel(x_ptr, t_ptr, y_ptr, n_cols, stride_xb, stride_xm, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < n_cols
    x_ptr += pid // 8 * stride_xb
    start = pid % 8 * stride_xm
    t = tl.load(t_ptr + pid)
    x = tl.load(x_ptr + start + offs, mask=mask)
    tl.store(y_ptr + pid * n_cols + offs, x * t, mask=mask)
"""


def test_an_address_is_made_on_the_lines_that_move_it() -> None:
    table, read, stored = addresses(ast.parse(KERNEL))
    assert (table.line, table.block, table.masked) == (8, False, False)
    assert (read.line, read.block, read.masked, read.pointers) == (9, True, True, {"x_ptr"})
    assert (set(read.near), set(read.far)) == ({6, 9}, {7})
    assert read.declared == {"stride_xb", "stride_xm"}
    assert (set(stored.near), stored.declared) == ({10}, set())


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("pid % 8 * stride_xm", "pid % 8 * stride_xm", set()),
        ("pid % 8 * stride_xm", "pid % 8 * n_cols", {7}),
        ("x_ptr += pid // 8 * stride_xb", "pass", {9}),
    ],
)
def test_a_stride_that_is_missing_is_looked_for_where_none_is(old: str, new: str, lines: set[int]) -> None:
    found = unstrided(ast.parse(KERNEL.replace(old, new)), "load")
    assert found == lines


def test_a_store_that_moves_by_a_stride_of_another_tensor() -> None:
    assert not strided(ast.parse(KERNEL), "store")
    assert strided(ast.parse(KERNEL.replace("pid * n_cols", "pid * stride_xm")), "store") == {10}
