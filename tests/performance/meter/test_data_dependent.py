"""Which loops go on for as long as numbers in memory say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import triton.language as tl

from grader.performance.meter.data_dependent import data_dependent, queued


def chain(next_ptr: Any, at: Any) -> None:
    while at >= 0:
        at = tl.load(next_ptr + at)


def locked(lock_ptr: Any) -> None:
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass


def counted(x_ptr: Any, n: Any) -> None:
    at = 0
    while at < n:
        x = tl.load(x_ptr + at)
        tl.store(x_ptr + at, x + 1)
        at += 1


def listed(x_ptr: Any, n: Any) -> None:
    for at in range(n):
        tl.store(x_ptr + at, tl.load(x_ptr + at) + 1)


def of_its_length(lengths_ptr: Any, x_ptr: Any) -> None:
    length = tl.load(lengths_ptr)
    for at in range(0, length, 4):
        tl.store(x_ptr + at, 1)


def planned(plan_ptr: Any, x_ptr: Any) -> None:
    begin = tl.load(plan_ptr)
    if begin < tl.load(plan_ptr + 1):
        tl.store(x_ptr + begin, 1)


def taking(next_ptr: Any, x_ptr: Any, n: Any) -> None:
    at = tl.atomic_add(next_ptr, 1)
    while at < n:
        tl.store(x_ptr + at, 1)
        at = tl.atomic_add(next_ptr, 1)


def waiting(arrived_ptr: Any, x_ptr: Any, n: Any) -> None:
    arrived = tl.atomic_add(arrived_ptr, 0)
    while arrived < n:
        arrived = tl.atomic_add(arrived_ptr, 0)
    tl.store(x_ptr, 1)


@pytest.mark.parametrize("unstored", [False, True])
def test_a_choice_by_what_lies_in_memory_is_not_known_where_not_all_of_it_was_stored(unstored: bool) -> None:
    assert data_dependent(planned, unstored) is unstored


def test_a_queue_is_a_loop_over_what_an_atomic_operation_gave() -> None:
    assert queued(taking)
    assert not data_dependent(taking, unstored=False), "it ends where the queue does, which is known"
    assert not any(map(queued, (chain, locked, waiting, counted, listed, planned, len)))


@pytest.mark.parametrize(("kernel", "expected"), [(chain, True), (counted, False), (listed, False)])
def test_a_loop_is_led_where_it_asks_for_what_it_loads(kernel: Callable[..., Any], expected: bool) -> None:
    assert data_dependent(kernel, unstored=False) is expected


@pytest.mark.parametrize("unstored", [False, True])
def test_a_length_that_lies_in_memory_leads_where_not_all_of_it_was_stored(unstored: bool) -> None:
    assert data_dependent(of_its_length, unstored) is unstored
    assert not data_dependent(listed, unstored)


def test_a_lock_is_no_loop_over_data() -> None:
    assert not data_dependent(locked, unstored=True), "it ends at once where nobody holds the lock"


def test_nothing_is_said_of_a_kernel_without_source() -> None:
    assert not data_dependent(len, unstored=True)
