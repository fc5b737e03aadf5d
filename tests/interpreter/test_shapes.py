"""Blocks whose types are shared meet as Triton has them meet."""

from __future__ import annotations

import pytest

from tests.interpreter.fresh import interpreted

KERNELS = """
import sys

repairs.install()

@triton.jit
def outer_kernel(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, cols = tl.arange(0, M), tl.arange(0, N)
    x, y = tl.load(x_ptr + rows), tl.load(y_ptr + cols)
    out = x[:, None] * y[None, :] + 2 * y - 1.0
    out = tl.where(out < x[:, None], out, y * (rows[:, None] + 1))
    tl.store(out_ptr + rows[:, None] * N + cols, out)

@triton.jit
def unlike_kernel(x_ptr, M: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, M), tl.arange(0, M) + tl.arange(0, 2 * M))

x, y, out = torch.randn(4), torch.randn(8), torch.empty(4, 8)
"""


@pytest.mark.every_triton
def test_blocks_and_numbers_of_any_shape_meet() -> None:
    shows = """
outer_kernel[(1,)](x, y, out, 4, 8)
right = x[:, None] * y + 2 * y - 1
right = torch.where(right < x[:, None], right, y * torch.arange(1, 5)[:, None])
print(torch.equal(out, right))
"""
    assert interpreted(KERNELS + shows) == "True\n"


@pytest.mark.every_triton
def test_blocks_that_do_not_fit_are_refused_in_tritons_words() -> None:
    shows = """
try:
    unlike_kernel[(1,)](out, 4)
except Exception as error:
    print(error)
"""
    assert "incompatible dimensions at index 0: 4 and 8" in interpreted(KERNELS + shows)


def test_no_operation_is_one_of_pythons_audits() -> None:
    shows = """
events = []
outer_kernel[(1,)](x, y, out, 4, 8)
sys.addaudithook(lambda event, _: events.append(event))
for _ in range(10):
    outer_kernel[(1,)](x, y, out, 4, 8)
print(events.count("builtins.id"))
"""
    assert int(interpreted(KERNELS + shows)) < 200  # of 180 operations, of which each was three or more
