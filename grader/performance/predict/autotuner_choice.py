"""Which config an autotuner would choose on a GPU: the one that is predicted to be the quickest."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from triton.runtime.autotuner import Autotuner

from grader.datasheets import Gpu
from grader.performance.counting.sampled_launch import Meter
from grader.performance.predict.roofline import quick

FEW = 2  # programs of each config that is tried
BEHIND = 1e6  # seconds: a config that was not counted whole comes behind all that were


@contextlib.contextmanager
def tuned(
    meter: Meter, gpu: Gpu, but: Sequence[dict[str, Any]] = (), lighter: Mapping[str, float] | None = None
) -> Iterator[None]:
    """While the block runs, autotuners choose by prediction.

    Args:
        but: configs, as their keywords, that are not to be chosen where there are others.
        lighter: by kernel, what a thread must hold less of than so many elements, where there is such a one.
    """
    tuner: Any = Autotuner
    stock, stock_run = tuner._bench, tuner.run
    # Autotuners whose configs were not all counted alike: which is quicker is a guess.
    unlike = set[int]()
    tried = {True: 0.0, False: 0.0}  # work of all configs of paused calls, and of the one that is counted

    def run(self: Any, *args: Any, **meta: Any) -> Any:
        before = len(meter.launches)
        result = stock_run(self, *args, **meta)
        for launch in meter.launches[before:]:
            launch.config = self.best_config.all_kwargs() if len(self.configs) > 1 else {}
            launch.guessed = id(self) in unlike
        return result

    def bench(self: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
        if config.all_kwargs() in but:
            return [math.inf] * 3
        before, paused = len(meter.launches), meter.paused
        with meter.trying(FEW, tried[paused]):
            given = {**meta, **config.all_kwargs()}
            if config.pre_hook:  # it may set the blocks of a descriptor
                config.pre_hook({**self.nargs, **given})
            self.fn.run(*args, **given)
            tried[paused] = meter.spent
        found = meter.launches[before:]
        del meter.launches[before:]
        if any(launch.each >= (lighter or {}).get(launch.kernel, math.inf) for launch in found):
            return [math.inf] * 3
        cut = any(launch.cut for launch in found)
        if cut and not paused:
            unlike.add(id(self))
        return [cut * BEHIND + sum(quick(launch, gpu) for launch in found)] * 3

    tuner._bench, tuner.run = bench, run
    try:
        yield
    finally:
        tuner._bench, tuner.run = stock, stock_run
