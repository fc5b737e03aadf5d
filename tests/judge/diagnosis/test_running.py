"""A sum under a running maximum is rescaled, and by the exponential of the old one less the new one."""

from __future__ import annotations

import ast

import pytest
import torch

from grader.challenge import Case
from grader.judge.case.compare import Finding
from grader.judge.diagnosis.evidence import Evidence
from grader.judge.diagnosis.running import by_own_maximum, first_sum, inverse_rescale, unscaled
from tests.judge.tried import tried

LOOP = """
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + start + tl.arange(0, BLOCK))
        m_new = {new}
        p = tl.exp(x - m_new)
        {total}
        count += 1
        m_i = m_new
"""
NEW = "tl.maximum(m_i, tl.max(x, axis=0))"


def told(total: str, new: str = NEW) -> str:
    trial = tried(Case(n=8), (torch.randn(8),), lambda x: x, lambda x: 2 * x)
    found = unscaled(trial, Finding("values", ""), Evidence(source=LOOP.format(new=new, total=total)))
    return found[0] if found else ""


@pytest.mark.parametrize(
    "total", ["l_i += tl.sum(p, axis=0)", "l_i = l_i + tl.sum(tl.exp(x - m_new), axis=0)"]
)
@pytest.mark.parametrize("new", [NEW, f"tl.minimum({NEW}, 1e4)"])
def test_a_sum_that_is_not_rescaled_is_told_with_its_line(total: str, new: str) -> None:
    assert told(total, new).startswith("Line 8 adds terms of the new maximum to l_i")


@pytest.mark.parametrize(
    "total",
    [
        "l_i = l_i * tl.exp(m_i - m_new) + tl.sum(p, axis=0)",
        "l_i *= tl.exp(m_i - m_new)\n        l_i += tl.sum(p, axis=0)",
        "l_i = l_i / tl.exp(m_new - m_i) + tl.sum(p, axis=0)",
        "total += tl.sum(x, axis=0)",
    ],
)
def test_a_sum_that_is_rescaled_or_of_something_else_is_not(total: str) -> None:
    assert told(total) == ""
    assert inverse_rescale(LOOP.format(new=NEW, total=total)) is None


def test_an_inverted_rescale_is_found() -> None:
    source = LOOP.format(new=NEW, total="l_i = l_i * tl.exp2((m_new - m_i) * LOG2_E) + tl.sum(p, axis=0)")
    found = inverse_rescale(source)
    assert found is not None
    assert ast.unparse(found) == "tl.exp2((m_new - m_i) * LOG2_E)"


def own(total: str) -> str:
    trial = tried(Case(n=8), (torch.randn(8),), lambda x: x, lambda x: 2 * x)
    found = by_own_maximum(trial, Finding("values", ""), Evidence(source=LOOP.format(new=NEW, total=total)))
    return found[0] if found else ""


@pytest.mark.parametrize(
    "total",
    [
        "l_i = l_i * tl.exp(m_i - m_new) + tl.sum(tl.exp(x - tl.max(x, axis=0)), axis=0)",
        "top = tl.max(x, axis=0)\n        top = tl.where(top == LOW, 0.0, top)\n        "
        "q = tl.exp2(x - top[:, None])",
    ],
)
def test_a_block_that_is_shifted_by_its_own_maximum_is_told_beside_a_running_one(total: str) -> None:
    assert "shifts a block by its own maximum, and the sum that it is added to goes by m_new" in own(total)


def test_a_block_that_is_moved_to_the_running_maximum_afterwards_is_not() -> None:
    total = "top = tl.max(x, axis=0)\n        l_i += tl.sum(tl.exp(x - top), axis=0) * tl.exp(top - m_new)"
    assert own(total) == ""
    assert own("l_i = l_i * tl.exp(m_i - m_new) + tl.sum(p, axis=0)") == ""


@pytest.mark.parametrize(
    ("start", "number"),
    [
        ("tl.full((BLOCK,), 1.0, tl.float32)", "1"),
        ("tl.zeros((BLOCK,), tl.float32) + 1.0", "1"),
        ("0.5", "0.5"),
        ("tl.zeros((BLOCK,), tl.float32)", None),
        ("tl.sum(tl.exp(x - m_i), axis=0)", None),
    ],
)
@pytest.mark.parametrize(
    "total", ["l_i += tl.sum(p, axis=0)", "l_i = l_i * tl.exp(m_i - m_new) + tl.sum(p, axis=0)"]
)
def test_a_sum_of_exponentials_that_does_not_start_from_0_is_found(start, number, total: str) -> None:
    source = LOOP.format(new=NEW, total=total).replace("    for", f"    l_i = {start}\n    for")
    assert first_sum(source) == (("l_i", number, 4) if number else None)


def test_a_sum_of_something_else_may_start_from_anything() -> None:
    source = LOOP.format(new=NEW, total="l_i += tl.sum(x, axis=0)")
    assert first_sum(source.replace("    for", "    l_i = 1.0\n    for")) is None
