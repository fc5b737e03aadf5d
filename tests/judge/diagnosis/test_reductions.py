"""A softmax's two reductions, what its maximum starts from, and what masked lanes of a factor hold."""

from __future__ import annotations

import ast

import pytest
import torch

from grader.challenge import Case
from grader.judge.diagnosis.reductions import first_maximum, infinite_factor, scores
from grader.judge.diagnosis.running import runs_along
from tests.judge.tried import told, tried

TWO_PASSES = """
@triton.jit
def kernel(q_ptr, k_ptr, n, BLOCK: tl.constexpr):
    q = tl.load(q_ptr)
    m_i = {start}
    for start in range(0, n, BLOCK):
        k = tl.load(k_ptr + start, mask=start < n, other={other})
        s = tl.dot(q, tl.trans(k))
        m_i = tl.maximum(m_i, tl.max(s, axis={axis}))
    l_i = tl.zeros((BLOCK,), tl.float32)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        p = tl.exp(tl.dot(q, tl.trans(k)) - m_i[:, None])
        l_i += tl.sum(p, axis=1)
        acc += tl.dot(p, k)
    tl.store(q_ptr, acc / l_i[:, None])
"""
LOW = 'tl.full((BLOCK,), -float("inf"), tl.float32)'


def kernel(start: str = LOW, other: str = "0.0", axis: int = 1) -> str:
    return TWO_PASSES.format(start=start, other=other, axis=axis)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_maximum_along_another_axis_than_the_sum_is_told(axis: int) -> None:
    trial = tried(Case(n=8), (torch.randn(8, 8),), lambda a: a.softmax(1), lambda a: a.softmax(0))
    sentence = told(trial, source=kernel(axis=axis))
    assert ("tl.max on line 9 goes along axis 0, and tl.sum" in sentence) == (axis == 0)


@pytest.mark.parametrize("lost", [torch.nan, 0.0, -torch.inf])
def test_a_maximum_of_all_rows_of_a_block_is_told_where_a_row_is_lost(lost: float) -> None:
    lines = (
        "@triton.jit",
        "def kernel(x_ptr, y_ptr):",
        "    x = tl.load(x_ptr + tl.arange(0, 64))",
        "    e = tl.exp(x - tl.max(x))",
    )
    source = "\n".join([*lines, "    tl.store(y_ptr, e / tl.sum(e, axis={axis}){row})", ""])
    trial = tried(Case(n=8), (torch.randn(8, 8),), lambda a: a.softmax(1), lambda a: torch.full_like(a, lost))
    rows = told(trial, source=source.format(axis=1, row="[:, None]"))
    assert rows.startswith("tl.max on line 4 takes one maximum of the whole block")
    assert "whole block" not in told(trial, source=source.format(axis=0, row=""))


def test_a_maximum_that_is_filled_with_0_is_found() -> None:
    assert first_maximum(ast.parse(kernel("tl.zeros((BLOCK,), tl.float32)"))) == ("m_i", 5)
    assert first_maximum(ast.parse(kernel("tl.full((BLOCK,), 0, tl.float32)"))) == ("m_i", 5)
    assert first_maximum(ast.parse(kernel())) is None


def test_masked_lanes_of_a_factor_that_hold_infinity_are_found() -> None:
    assert infinite_factor(ast.parse(kernel(other='-float("inf")'))) == 7
    assert infinite_factor(ast.parse(kernel())) is None


def test_scores_are_products_that_are_added_to_nothing() -> None:
    assert scores(ast.parse(kernel())) == [8, 13]


def test_two_passes_have_no_maximum_that_runs_along_with_their_sums() -> None:
    assert not runs_along(kernel())
    assert runs_along(kernel().replace("s = tl.dot(q, tl.trans(k))", "s = tl.exp(tl.dot(q, tl.trans(k)))"))
