"""What this GPU reaches, measured: the rate of a copy, the rates of products, and its clocks."""

from __future__ import annotations

import statistics
from datetime import datetime, timezone

import torch

from grader.challenge.case import SHORT
from grader.cli.benchmark.results import Machine
from grader.course.setup import nvidia
from grader.performance.timing.stopwatch import Stopwatch, copying

EIGHT = torch.float8_e4m3fn
SIDES = {torch.float16: 8192, torch.bfloat16: 8192, torch.float32: 4096, torch.int8: 8192, EIGHT: 8192}
ROUNDS = 7
COPIED = 2 << 30  # bytes of a copy, read plus written


def measure(versions: dict[str, str]) -> Machine:
    """The machine, in about four seconds."""
    rates = {SHORT[dtype]: _product(dtype, side) for dtype, side in SIDES.items()}
    tflops = {dtype: rate for dtype, rate in rates.items() if rate}
    clock, most, watts, driver = nvidia.clocks(torch.cuda.current_device())
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return Machine(torch.cuda.get_device_name(), _copy(), tflops, clock, most, watts, driver, versions, now)


def _copy() -> float:
    """10⁹ bytes a second of a plain copy, read plus written."""
    copy, source = copying(float(COPIED))
    return COPIED / _us(Stopwatch(copy, [source], [])) / 1e3


def _product(dtype: torch.dtype, side: int) -> float:
    """10¹² operations a second of one side³ product; fp32 in fp32, as the days ask for it.

    0 where torch has no such product on this GPU.
    """
    spread = 32 if dtype == torch.int8 else 1
    a, b = ((torch.randn(side, side, device="cuda") * spread).to(dtype) for _ in range(2))
    try:
        return 2 * side**3 / _us(Stopwatch(_multiply, [a, b], [])) / 1e6
    except RuntimeError:
        return 0.0


def _us(watch: Stopwatch) -> float:
    watch.warm_up()
    return statistics.median(us for _ in range(ROUNDS) for us in watch.round(3, [1, 2, 3]))


def _multiply(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A product of such operands; those of 8 bits have b's columns in one piece, as the units want them."""
    if a.dtype == torch.int8:
        return torch._int_mm(a, b.t())
    if a.dtype == EIGHT:
        one = torch.ones((), device=a.device)
        return torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16)
    return a @ b
