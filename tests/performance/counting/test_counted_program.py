"""What is counted of the programs of a launch, none of whose floats is computed."""

from __future__ import annotations

import inspect
from copy import copy
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from grader.kernel.launch import prepared
from grader.kernel.tensor_regions import OutOfBounds, regions_of
from grader.performance.counting.access_counter import Counter, Cut, Tally
from grader.performance.counting.counted_program import Counted
from tests.kernel.evaluated import line


def counted(
    kernel: Any, grid: tuple[int, int, int], *args: Any, limit: float = 1e9, **options: Any
) -> list[Tally]:
    """What each program of a launch did."""
    path = kernel.fn.__code__.co_filename
    counter, tallies = Counter(path), list[Tally]()
    known = inspect.signature(kernel.fn).parameters
    counter.launch(regions_of(dict(zip(known, args, strict=False)), {}), whole=True)
    ready = prepared(kernel, args, options, path)
    program = Counted(counter, ready.machine.program)
    for number in range(grid[0] * grid[1] * grid[2]):
        counter.begin(limit)
        program.one(ready, grid, counter, number)
        counter.tally.loops = copy(counter.loops)
        tallies.append(counter.tally)
    return tallies


@triton.jit
def known_kernel(x_ptr, y_ptr, STEPS: tl.constexpr, SIDE: tl.constexpr):
    rows, cols = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    tile = tl.program_id(0) * STEPS * SIDE * SIDE
    acc = tl.zeros((SIDE, SIDE), tl.float32)
    for step in tl.range(0, STEPS):
        x = tl.load(x_ptr + tile + step * SIDE * SIDE + rows * SIDE + cols, mask=rows < SIDE // 2, other=0.0)
        acc = tl.dot(x, x, acc)
    column = tl.arange(0, SIDE)
    tl.store(y_ptr + tl.program_id(0) * SIDE * 8 + column * 8, tl.exp(tl.sum(acc, axis=1)))
    tl.atomic_add(y_ptr, 1.0)


@pytest.mark.parametrize("steps", [2, 1000])
def test_all_turns_count_however_few_of_them_run(steps):
    x, y = torch.empty(3 * steps * 256), torch.empty(3 * 128)
    for tally in counted(known_kernel, (3, 1, 1), x, y, STEPS=steps, SIDE=16):
        load, store, atomic = (site for _, site in sorted(tally.sites.items(), key=lambda one: one[0][1]))
        assert (tally.dots, tally.flops, tally.steps) == (steps, steps * 2 * 16**3, steps)
        assert (load.kind, load.tensor, load.line) == ("load", "x_ptr", line(known_kernel, "tl.load"))
        assert (load.calls, load.lanes, load.masked) == (steps, 256 * steps, 128 * steps)
        assert (load.asked, load.sectors) == (512 * steps, 16 * steps)
        assert (store.kind, store.asked, store.sectors, store.step) == ("store", 64, 16, 32)
        assert (atomic.kind, atomic.asked) == ("atomic", 4)
        assert tally.loops.trips == {line(known_kernel, "tl.range"): steps}
        assert tally.dot_line == line(known_kernel, "tl.dot")


@triton.jit
def up_kernel(x_ptr, out_ptr, n, M: tl.constexpr):
    rows = tl.arange(0, M)
    total = tl.zeros((M,), tl.float32)
    at = 0
    while 2 * n - 1 >= 2 * at:
        total += tl.load(x_ptr + rows * n + at)
        at += tl.num_programs(0)
    tl.store(out_ptr + rows, total)


@triton.jit
def down_kernel(x_ptr, out_ptr, n, M: tl.constexpr, STEP: tl.constexpr):
    rows = tl.arange(0, M)
    total = tl.zeros((M,), tl.float32)
    left = n
    while left > 0:
        left -= STEP
        total += tl.load(x_ptr + rows * n + left)
    tl.store(out_ptr + rows, total)


@pytest.mark.parametrize(("kernel", "step"), [(up_kernel, {}), (down_kernel, {"STEP": 1})])
def test_a_while_that_counts_is_walked_as_a_for_is(kernel, step):
    x, out = torch.empty(64, 5000), torch.empty(64)
    (tally,) = counted(kernel, (1, 1, 1), x, out, 5000, limit=100, M=64, **step)
    load = next(site for site in tally.sites.values() if site.kind == "load")
    assert (load.calls, load.asked, load.sectors) == (5000, 5000 * 256, 5000 * 64)
    assert tally.loops.trips == {line(kernel, "while"): 5000}


def test_a_while_ends_long_before_its_number_wraps():
    x, out = torch.empty(64, 4096), torch.empty(64)
    (tally,) = counted(down_kernel, (1, 1, 1), x, out, 4096, limit=100, M=64, STEP=64)
    assert tally.loops.trips == {line(down_kernel, "while"): 64}


@triton.jit
def halves_kernel(n_ptr, out_ptr):
    n = tl.load(n_ptr)
    turns = 0
    while n > 1:
        n = n // 2
        turns += tl.atomic_add(out_ptr, 1) + 1
    tl.store(out_ptr + 1, turns)


def test_integers_are_those_in_memory():
    out = torch.zeros(2, dtype=torch.int32)
    counted(halves_kernel, (1, 1, 1), torch.tensor([37], dtype=torch.int32), out)
    assert out.tolist() == [5, 1 + 2 + 3 + 4 + 5]


@triton.jit
def tiles_kernel(x_ptr, n, BLOCK: tl.constexpr):
    for tile in range(tl.program_id(0), n, tl.num_programs(0)):
        offs = tile * BLOCK + tl.arange(0, BLOCK)
        tl.store(x_ptr + offs, tl.rand(3, offs))


def test_loops_over_every_so_many_th_tile_are_known():
    first, *_ = counted(tiles_kernel, (4, 1, 1), torch.empty(64 * 100), 100, BLOCK=64)
    assert first.loops.rounds == 25


def test_a_program_that_does_too_much_is_cut_and_one_that_strays_told():
    with pytest.raises(Cut):
        counted(known_kernel, (1, 1, 1), torch.empty(2560), torch.empty(128), limit=3, STEPS=10, SIDE=16)
    with pytest.raises(OutOfBounds, match="past the end of x_ptr"):
        counted(known_kernel, (1, 1, 1), torch.empty(256), torch.empty(128), STEPS=2, SIDE=16)
