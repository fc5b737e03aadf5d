"""Which step of a kernel made a NaN or an Inf: followed through blocks, reductions, dots and memory."""

from __future__ import annotations

import pytest

from tests.interpreter.fresh import interpreted

TRACED = """
from contextlib import contextmanager
from grader.interpreter.made import Made
from grader.interpreter.regions import Region

repairs.install()

def steps(kernel, *arguments, at=0, **options):
    *given, out = arguments
    names = dict(zip("abc", given))
    regions = [Region(name, t.data_ptr(), t.data_ptr(), t.data_ptr() + t.nbytes, t.data_ptr() + t.nbytes)
               for name, t in names.items()]
    made = Made(__file__, lambda: regions)
    with made.traced():
        kernel[(1,)](*arguments, **options)
    chain = made.behind(out.data_ptr() + at * out.element_size())
    for step in chain:
        print(step.name, step.dtype, step.operands, step.result, step.behind, step.memory)
"""
SOFTMAX = """
@triton.jit
def softmax(a_ptr, out_ptr, n, N: tl.constexpr):
    offs = tl.arange(0, N)
    x = tl.load(a_ptr + offs, mask=offs < n, other=-float("inf"))
    e = tl.exp(x)
    tl.store(out_ptr + offs, e / tl.sum(e, axis=0), mask=offs < n)

steps(softmax, torch.tensor([100.0, 0.0, 1.0]), torch.empty(3), n=3, N=4)
steps(softmax, torch.tensor([100.0, 0.0, 1.0]), torch.empty(3), n=3, N=4, at=1)
"""
HALVES = """
@triton.jit
def halves(a_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(a_ptr + tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(out_ptr, tl.sum(tl.sum(tl.dot(x, x).to(tl.float16), axis=1), axis=0))

steps(halves, torch.full((16, 16), 65.0, dtype=torch.float16), torch.empty(1, dtype=torch.float16), N=16)
"""
MEMORY = """
@triton.jit
def first(a_ptr, b_ptr, out_ptr):
    tl.store(b_ptr, tl.log(tl.load(a_ptr)))
    tl.store(out_ptr, tl.load(b_ptr) * 0.0)

@triton.jit
def second(a_ptr, out_ptr):
    x = tl.load(a_ptr + 1)
    tl.store(out_ptr, tl.where(x > 0, x, float("nan")) + (x - x) / 0.0)

@triton.jit
def kept(a_ptr, out_ptr):
    x = tl.load(a_ptr)
    tl.store(out_ptr, tl.where(x == 0, 1.0, 1.0 / x))

steps(first, torch.zeros(1), torch.empty(1), torch.empty(1))
print()
steps(second, torch.tensor([0.0, -float("inf")]), torch.empty(1))
print()
steps(kept, torch.zeros(1), torch.empty(1))
"""


@pytest.mark.every_triton
def test_a_quotient_of_exponentials_is_followed_to_the_one_that_overflowed() -> None:
    followed = interpreted(TRACED + SOFTMAX).splitlines()  # of the second element, which is 0, nothing
    assert followed == ["fdiv fp32 [inf, inf] nan [1] ", "exp fp32 [100.0] inf [] "]


@pytest.mark.every_triton
def test_a_cast_that_ends_at_65504_is_found_behind_two_sums() -> None:
    assert interpreted(TRACED + HALVES).splitlines() == ["fp_trunc fp16 [67600.0] inf [] "]


@pytest.mark.every_triton
def test_it_is_followed_through_memory_and_forgotten_where_nothing_chose_it() -> None:
    stored, chosen, none = interpreted(TRACED + MEMORY).split("\n\n")
    assert stored.splitlines() == ["fmul fp32 [-inf, 0.0] nan [1] ", "log fp32 [0.0] -inf [] "]
    assert chosen.splitlines() == ["constant fp32 [] nan [] "]
    assert none.strip() == ""
