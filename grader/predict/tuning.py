"""Which config an autotuner would choose on a GPU: the one that is predicted to be the quickest."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from triton.runtime.autotuner import Autotuner

from grader.datasheets import Gpu
from grader.meter.execute import Meter
from grader.predict.roofline import quick


@contextlib.contextmanager
def tuned(meter: Meter, gpu: Gpu) -> Iterator[None]:
    """While the block runs, autotuners choose by prediction; what they kept of a paused call is noted."""
    tuner: Any = Autotuner
    stock, stock_run = tuner._bench, tuner.run
    elsewhere: dict[int, int] = {}  # choices of each autotuner that other problems have made

    def run(self: Any, *args: Any, **meta: Any) -> Any:
        before = len(meter.launches)
        result = stock_run(self, *args, **meta)
        if meter.paused:
            elsewhere[id(self)] = len(self.cache)
        for launch in meter.launches[before:]:
            launch.kept = len(self.cache) == elsewhere.get(id(self)) and len(self.configs) > 1
        return result

    def bench(self: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
        before, few, paused = len(meter.launches), meter.few, meter.paused
        meter.few, meter.paused = 2, False
        try:
            self.fn.run(*args, **{**meta, **config.all_kwargs()})
        finally:
            meter.few, meter.paused = few, paused
        tried = meter.launches[before:]
        del meter.launches[before:]
        return [sum(quick(launch, gpu) for launch in tried)] * 3

    tuner._bench, tuner.run = bench, run
    try:
        yield
    finally:
        tuner._bench, tuner.run = stock, stock_run
