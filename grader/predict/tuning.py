"""Which config an autotuner would choose on a GPU: the one that is predicted to be the quickest."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

from triton.runtime.autotuner import Autotuner

from grader.datasheets import Gpu
from grader.meter.execute import Meter
from grader.predict.roofline import quick


@contextlib.contextmanager
def tuned(meter: Meter, gpu: Gpu, but: Sequence[dict[str, Any]] = ()) -> Iterator[None]:
    """While the block runs, autotuners choose by prediction; what they kept of a paused call is noted.

    Args:
        but: configs, as their keywords, that are not to be chosen where there are others.
    """
    tuner: Any = Autotuner
    stock, stock_run = tuner._bench, tuner.run
    elsewhere: dict[int, int] = {}  # choices of each autotuner that other problems have made

    def run(self: Any, *args: Any, **meta: Any) -> Any:
        before = len(meter.launches)
        result = stock_run(self, *args, **meta)
        if meter.paused:
            elsewhere[id(self)] = len(self.cache)
        for launch in meter.launches[before:]:
            launch.config = self.best_config.all_kwargs() if len(self.configs) > 1 else {}
            launch.kept = len(self.cache) == elsewhere.get(id(self)) and len(self.configs) > 1
        return result

    def bench(self: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
        if config.all_kwargs() in but:
            return [math.inf] * 3
        before, few, paused = len(meter.launches), meter.few, meter.paused
        meter.few, meter.paused = 2, False
        try:
            given = {**meta, **config.all_kwargs()}
            if config.pre_hook:  # it may set the blocks of a descriptor
                config.pre_hook({**self.nargs, **given})
            self.fn.run(*args, **given)
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
