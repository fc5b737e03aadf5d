"""What this GPU reaches, measured: the rate of a copy, the rates of products, and its clocks."""

from __future__ import annotations

import statistics
from datetime import datetime, timezone

import torch

from grader.bench.results import Machine
from grader.case import SHORT
from grader.setup import nvidia
from grader.timing.stopwatch import Stopwatch

SIDES = {torch.float16: 8192, torch.bfloat16: 8192, torch.float32: 4096}  # of square matrices
ROUNDS = 7


def measure(versions: dict[str, str]) -> Machine:
    """The machine, in about three seconds."""
    reached = nvidia.ceilings(refresh=True)
    tflops = {SHORT[dtype]: _product(dtype, side) for dtype, side in SIDES.items()}
    clock, most, watts, driver = nvidia.clocks(torch.cuda.current_device())
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return Machine(reached.gpu, reached.copy_gb_s, tflops, clock, most, watts, driver, versions, now)


def _product(dtype: torch.dtype, side: int) -> float:
    """10¹² operations a second of one side³ product; fp32 in fp32, as the days ask for it."""
    a, b = (torch.randn(side, side, dtype=dtype, device="cuda") for _ in range(2))
    watch = Stopwatch(torch.matmul, [a, b], [])
    watch.warm_up()
    us = statistics.median(us for _ in range(ROUNDS) for us in watch.round(3, [1, 2, 3]))
    return 2 * side**3 / us / 1e6
