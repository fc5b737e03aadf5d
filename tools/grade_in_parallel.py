"""Many gradings at once, each by a warm parent of its own; several GPUs are taken in turn."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Set
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from grader.course.setup import nvidia
from grader.grading.warm_client import Warm
from grader.request import Device

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(
    work: Callable[[Item, Warm], Result], items: Iterable[Item], device: Device, jobs: int
) -> Iterator[Result]:
    """What `work` makes of each item, in their order, so many at once."""
    with contextlib.ExitStack() as stack:
        free: SimpleQueue[Warm] = SimpleQueue()
        gpus = itertools.cycle(visible(device))
        for at, gpu in zip(range(jobs), gpus, strict=False):
            with on_cores(_share(at, jobs)):
                free.put(stack.enter_context(Warm(device, gpu)))
        pool = stack.enter_context(ThreadPoolExecutor(jobs))

        def worked(item: Item) -> Result:
            warm = free.get()
            try:
                return work(item, warm)
            finally:
                free.put(warm)

        yield from pool.map(worked, items)


def _share(at: int, jobs: int) -> Set[int]:
    """The cores of one of so many: beside others a grading that compiles on all cores slows every one."""
    cores = sorted(os.sched_getaffinity(0))
    return {core for number, core in enumerate(cores) if number % jobs == at % len(cores)}


@contextlib.contextmanager
def on_cores(cores: Set[int]) -> Iterator[None]:
    """What this thread starts meanwhile runs on these cores alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def visible(device: Device) -> list[str]:
    """The GPUs that kernels may use here, each as CUDA_VISIBLE_DEVICES names it; on a CPU none."""
    if device == "cpu":
        return [""]
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    return chosen.split(",") if chosen else [str(at) for at in range(len(nvidia.gpus()))] or ["0"]
