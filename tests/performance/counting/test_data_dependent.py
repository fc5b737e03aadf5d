"""Which loops go on for as long as numbers in memory say."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from grader.kernel import frontend, ttir_parser
from grader.performance.counting.data_dependent import DataFlow


def flow(kernel: Any) -> DataFlow:
    """Of a kernel whose arguments are tensors, and numbers."""
    given = [torch.zeros(8, dtype=torch.int32) if "_ptr" in name else 7 for name in kernel.arg_names]
    return DataFlow(ttir_parser.program(frontend.compiled(kernel, tuple(given), {}).text))


@triton.jit
def chain(next_ptr, at):
    while at >= 0:
        at = tl.load(next_ptr + at)
    tl.store(next_ptr, at)


@triton.jit
def locked(lock_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass


@triton.jit
def counted(x_ptr, n):
    at = 0
    while at < n:
        x = tl.load(x_ptr + at)
        tl.store(x_ptr + at, x + 1)
        at += 1


@triton.jit
def listed(x_ptr, n):
    for at in range(n):
        tl.store(x_ptr + at, tl.load(x_ptr + at) + 1)


@triton.jit
def of_its_length(lengths_ptr, x_ptr):
    length = tl.load(lengths_ptr)
    for at in range(0, length, 4):
        tl.store(x_ptr + at, 1)


@triton.jit
def planned(plan_ptr, x_ptr):
    begin = tl.load(plan_ptr)
    if begin < tl.load(plan_ptr + 1):
        tl.store(x_ptr + begin, 1)


@triton.jit
def taking(next_ptr, x_ptr, n):
    at = tl.atomic_add(next_ptr, 1)
    while at < n:
        tl.store(x_ptr + at, 1)
        at = tl.atomic_add(next_ptr, 1)


@triton.jit
def waiting(arrived_ptr, x_ptr, n):
    arrived = tl.atomic_add(arrived_ptr, 0)
    while arrived < n:
        arrived = tl.atomic_add(arrived_ptr, 0)
    tl.store(x_ptr, 1)


@pytest.mark.parametrize("unstored", [False, True])
def test_a_choice_by_what_lies_in_memory_is_not_known_where_not_all_of_it_was_stored(unstored: bool) -> None:
    assert flow(planned).data_dependent(unstored) is unstored


def test_a_queue_is_a_loop_over_what_an_atomic_operation_gave() -> None:
    assert flow(taking).queued()
    assert not flow(taking).data_dependent(unstored=False), "it ends where the queue does, which is known"
    assert not any(flow(one).queued() for one in (chain, locked, waiting, counted, listed, planned))


@pytest.mark.parametrize(("kernel", "expected"), [(chain, True), (counted, False), (listed, False)])
def test_a_loop_is_led_where_it_asks_for_what_it_loads(kernel: Any, expected: bool) -> None:
    assert flow(kernel).data_dependent(unstored=False) is expected


@pytest.mark.parametrize("unstored", [False, True])
def test_a_length_that_lies_in_memory_leads_where_not_all_of_it_was_stored(unstored: bool) -> None:
    assert flow(of_its_length).data_dependent(unstored) is unstored
    assert not flow(listed).data_dependent(unstored)


def test_a_lock_is_no_loop_over_data() -> None:
    assert not flow(locked).data_dependent(unstored=True), "it ends at once where nobody holds the lock"
