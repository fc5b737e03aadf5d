"""What the front end is spared where edits are tried changes nothing that it makes."""

from __future__ import annotations

import re

import pytest
import torch
import triton
import triton.language as tl

from grader.kernel import frontend
from grader.runner.edit_trials import _brief


@triton.jit
def once_more(x, steps):
    for _ in range(steps):
        x += 1.0
    return x


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    x_ptrs = x_ptr + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        kept = total
        for step in range(start):
            total += tl.load(x_ptrs) * step
        total = once_more(total, n) + kept
        x_ptrs += BLOCK
    tl.store(x_ptr + tl.arange(0, BLOCK), total)


def text() -> str:
    made = frontend.compiled(kernel, (torch.zeros(16), 16), {"BLOCK": 16}).text
    return re.sub(r" loc\(.*?\)|#loc.*", "", made)


@pytest.mark.every_triton
def test_loops_come_out_as_they_do_without_it() -> None:
    stock = text()
    frontend._texts.clear()
    with _brief():
        assert text() == stock
