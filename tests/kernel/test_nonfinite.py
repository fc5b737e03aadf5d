"""Which step of a kernel made a NaN or an Inf: through blocks, reductions, dots, loops and memory."""

from __future__ import annotations

import inspect
import math
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from grader.kernel import launch
from grader.kernel.access_analysis import Recorder
from grader.kernel.bounds import Bounds
from grader.kernel.nonfinite import Nonfinite
from grader.kernel.tensor_regions import regions_of
from grader.kernel.traced_step import Step
from tests.kernel.evaluated import line

INF = math.inf


def follow(seen: Nonfinite, kernel: Any, *args: Any, grid: int = 1, **options: Any) -> None:
    """Run a launch whose values are followed."""
    bounds = Bounds(kernel.fn.__code__.co_filename)
    bounds.launch(regions_of(dict(zip(inspect.signature(kernel.fn).parameters, args, strict=False)), {}))
    ready = launch.prepared(kernel, args, options, bounds.path)
    ready._replace(machine=seen.following(ready.machine)).run((grid, 1, 1), Recorder(bounds))


def steps(kernel: Any, *args: Any, at: int = 0, **options: Any) -> list[Step]:
    """Those behind an element of the tensor that comes last."""
    seen = Nonfinite()
    follow(seen, kernel, *args, **options)
    out = next(one for one in reversed(args) if isinstance(one, torch.Tensor))
    return seen.behind(out.data_ptr() + at * out.element_size())


def told(found: list[Step]) -> list[str]:
    """In short."""
    return [f"{s.name} {s.dtype} {s.operands} {s.result} {s.behind} {s.memory}".strip() for s in found]


@triton.jit
def softmax_kernel(a_ptr, out_ptr, n, N: tl.constexpr):
    offs = tl.arange(0, N)
    x = tl.load(a_ptr + offs, mask=offs < n, other=-float("inf"))
    e = tl.exp(x)
    tl.store(out_ptr + offs, e / tl.sum(e, axis=0), mask=offs < n)


@pytest.mark.every_triton
def test_a_quotient_of_exponentials_is_followed_to_the_one_that_overflowed():
    x = torch.tensor([100.0, 0.0, 1.0])
    found = steps(softmax_kernel, x, torch.empty(3), 3, N=4)
    assert told(found) == ["divf fp32 [inf, inf] nan [1]", "exp fp32 [100.0] inf []"]
    assert [one.line for one in found] == [line(softmax_kernel, "tl.store"), line(softmax_kernel, "tl.exp")]
    assert not steps(softmax_kernel, x, torch.empty(3), 3, N=4, at=1), "it is 0"


@triton.jit
def halves_kernel(a_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(a_ptr + tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(out_ptr, tl.sum(tl.sum(tl.dot(x, x).to(tl.float16), axis=1), axis=0))
    tl.store(out_ptr + 1, tl.sum(tl.sum(x, axis=1) * 16.0, axis=0))


@pytest.mark.every_triton
def test_a_cast_that_ends_at_65504_is_found_behind_two_sums_and_a_sum_that_does():
    x, out = torch.full((16, 16), 65.0, dtype=torch.float16), torch.empty(2, dtype=torch.float16)
    assert told(steps(halves_kernel, x, out, N=16)) == ["truncf fp16 [67600.0] inf []"]
    assert told(steps(halves_kernel, x, out, N=16, at=1)) == ["reduce fp16 [16640.0, 16640.0] inf []"]


@triton.jit
def scores_kernel(a_ptr, b_ptr, out_ptr, N: tl.constexpr):
    offs = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(a_ptr + offs, mask=offs < 3, other=-float("inf"))
    tl.store(out_ptr + offs, tl.dot(x, tl.load(b_ptr + offs)))


def test_a_dot_is_told_by_the_factors_that_made_it():
    a, b, out = torch.ones(16, 16), torch.zeros(16, 16), torch.empty(16, 16)
    found = steps(scores_kernel, a, b, out, N=16, at=16)
    assert told(found) == ["dot fp32 [-inf, 0.0, 0.0] nan [1]", "constant fp32 [] -inf []"]
    assert found[1].line == line(scores_kernel, "other=")


@triton.jit
def first_kernel(a_ptr, b_ptr):
    tl.store(b_ptr + tl.program_id(0), tl.log(tl.load(a_ptr + tl.program_id(0))))


@triton.jit
def second_kernel(b_ptr, out_ptr):
    tl.store(out_ptr, tl.load(b_ptr + 1) * 0.0)


@pytest.mark.every_triton
def test_it_is_followed_from_one_launch_to_the_next():
    seen, a, b, out = Nonfinite(), torch.tensor([1.0, 0.0]), torch.empty(2), torch.empty(1)
    follow(seen, first_kernel, a, b, grid=2)
    follow(seen, second_kernel, b, out)
    found = ["mulf fp32 [-inf, 0.0] nan [1]", "log fp32 [0.0] -inf []"]
    assert told(seen.behind(out.data_ptr())) == found
    assert out.isnan().all(), "what it stores is there"


@triton.jit
def chosen_kernel(a_ptr, out_ptr):
    x = tl.load(a_ptr + 1)
    tl.store(out_ptr, tl.where(x > 0, x, float("nan")) + (x - x) / 0.0)
    tl.store(out_ptr + 1, tl.where(x < 0, 1.0, 1.0 / (x - x)))
    tl.store(out_ptr + 2, x * 0.0)


def test_what_nothing_chose_is_forgotten_and_an_inf_of_the_input_is_named_by_its_place():
    x, out = torch.tensor([0.0, -INF]), torch.empty(3)
    assert told(steps(chosen_kernel, x, out)) == ["constant fp32 [] nan []"]
    assert not steps(chosen_kernel, x, out, at=1)
    found = steps(chosen_kernel, x, out, at=2)
    assert told(found) == ["mulf fp32 [-inf, 0.0] nan [1]", "load fp32 [] -inf [] a_ptr"]
    assert found[1].offset == 4


@triton.jit
def online_kernel(a_ptr, out_ptr, n, N: tl.constexpr):
    offs = tl.arange(0, N)
    m, total = tl.full((N,), -float("inf"), tl.float32), tl.zeros((N,), tl.float32)
    for at in range(n):
        x = tl.load(a_ptr + at * N + offs)
        x = tl.where(offs > at, x, -float("inf"))
        m_new = tl.maximum(m, x)
        total = total * tl.exp(m - m_new) + tl.exp(x - m_new)
        m = m_new
    if n > 1:
        total = total + 1.0
    tl.store(out_ptr + offs, total)


def test_it_goes_around_a_loop_and_a_constant_in_common_is_of_the_line_that_takes_it():
    found = steps(online_kernel, torch.zeros(2, 4), torch.empty(4), 2, N=4)
    assert told(found)[0] == "subf fp32 [-inf, -inf] nan [1, 2]"
    assert told(found)[1:] == ["constant fp32 [] -inf []"] * 2
    lines = [line(online_kernel, text) for text in ("total = total *", "total = total *", "m_new =")]
    assert [one.line for one in found] == lines
    assert not steps(online_kernel, torch.zeros(2, 4), torch.empty(4), 2, N=4, at=3)


@triton.jit
def moved_kernel(a_ptr, out_ptr, scale, N: tl.constexpr):
    offs = tl.arange(0, N)
    x = tl.cumsum(libdevice.rsqrt(tl.load(a_ptr + offs)), 0)
    y = tl.reshape(tl.trans(tl.join(x, x * 2)), (2 * N,))
    tl.store(out_ptr + tl.arange(0, 2 * N), y)
    tl.store(out_ptr + 2 * N, tl.max(x) * scale)
    tl.store(out_ptr + 2 * N + 1 + offs, tl.gather(x, offs - 1, 0))


def test_lanes_that_move_take_their_steps_along():
    x, out = torch.tensor([1.0, 4.0, 0.0, 1.0]), torch.empty(16)
    for at in (2, 3, 6, 7):  # and the sums after it
        assert told(steps(moved_kernel, x, out, 1.0, N=4, at=at)) == ["rsqrt fp32 [0.0] inf []"]
    assert not steps(moved_kernel, x, out, 1.0, N=4, at=5)
    assert told(steps(moved_kernel, x, out, 0.0, N=4, at=8))[0] == "mulf fp32 [inf, 0.0] nan [1]"
    assert steps(moved_kernel, x, out, 1.0, N=4, at=9)[0].name == "gather"
    assert told(steps(moved_kernel, x[:2].repeat(2), out, INF, N=4, at=8)) == []  # nothing is known of scale
