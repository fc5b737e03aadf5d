"""Kernels that miss what their day is about, which a fast GPU may forgive: each fails a fact without one."""

from __future__ import annotations

import re

import pytest

from grader.course import catalog
from tests.conftest import Grade
from tools.planted import swapped

TILE = "grouped_tile(tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), GROUP_M)"
ROW_MAJOR = "tl.program_id(0) // tl.cdiv(n, BLOCK_N), tl.program_id(0) % tl.cdiv(n, BLOCK_N)"
COLUMNS = "tl.program_id(0) % tl.cdiv(m, BLOCK_M), tl.program_id(0) // tl.cdiv(m, BLOCK_M)"
THREE_PASSES = '''
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    """One row a program, and three walks along it."""
    row = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    m_i = tl.full((BLOCK_N,), -float("inf"), tl.float32)
    l_i = tl.zeros((BLOCK_N,), tl.float32)
    for start in range(0, n_cols, BLOCK_N):
        x = tl.load(x_ptr + row * stride_xm + start + offs_n, start + offs_n < n_cols, -float("inf"))
        m_i = tl.maximum(m_i, x.to(tl.float32))
    m = tl.max(m_i, axis=0)
    for start in range(0, n_cols, BLOCK_N):
        x = tl.load(x_ptr + row * stride_xm + start + offs_n, start + offs_n < n_cols, -float("inf"))
        l_i += tl.exp(x.to(tl.float32) - m)
    total = tl.sum(l_i, axis=0)
    for start in range(0, n_cols, BLOCK_N):
        mask = start + offs_n < n_cols
        x = tl.load(x_ptr + row * stride_xm + start + offs_n, mask=mask, other=-float("inf"))
        tl.store(y_ptr + row * n_cols + start + offs_n, tl.exp(x.to(tl.float32) - m) / total, mask=mask)


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    softmax_kernel[(len(x),)](x, y, x.shape[1], x.stride(0), BLOCK_N=4096, num_warps=8)
    return y
'''


@pytest.mark.parametrize(
    ("key", "swap", "says"),
    [
        (
            "18",
            {TILE: ROW_MAJOR},
            "8,590 MB of it come from DRAM, where it has 537. Another order of tiles helps",
        ),
        ("18", {"GROUP_M=16": "GROUP_M=1"}, "share too few tiles of b_ptr"),
        (
            "32",
            {"tl.max(visible, axis=0), BLOCK_N": "Sk, BLOCK_N"},
            "The call multiplies 1.9× what our solution does: every program of flash_forward_kernel",
        ),
    ],
)
def test_what_a_day_is_about_is_missed_though_the_time_would_do(
    key: str, swap: dict[str, str], says: str, graded: Grade
) -> None:
    verdict = graded(key, swapped(catalog.find(key), swap), cases=False)
    assert verdict.status == "slow"
    assert says in verdict.diagnosis


def test_a_third_pass_over_long_rows_comes_from_dram(graded: Grade) -> None:
    verdict = graded("14", THREE_PASSES, cases=False)
    assert verdict.status == "slow"
    assert "MB of x_ptr are read again when L2 has lost them" in verdict.diagnosis


def test_another_order_that_shares_as_much_passes(graded: Grade) -> None:
    source = swapped(catalog.find("18"), {TILE: COLUMNS})
    assert graded("18", source, cases=False).status == "passed"


WHILE = {
    "for left in range(k, 0, -BLOCK_K):": "left = k\n    while left > 0:",
    "b_ptrs += ": "left -= BLOCK_K\n        b_ptrs += ",
}


def test_a_while_around_the_product_loads_and_multiplies_in_turn(graded: Grade) -> None:
    """It takes 936 µs on an H200, and the bar leaves 560."""
    verdict = graded("17", swapped(catalog.find("17"), WHILE), cases=False)
    assert verdict.status == "slow"
    assert re.search(r"[78]\d\d µs are predicted, [34]\.\d× ours .*multiplies in turn", verdict.diagnosis)
