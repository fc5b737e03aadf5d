"""Autotuners where nothing can be timed: the call's seed says which config is the fastest.

So over many calls every config gives a result that is compared. The first tuning runs them all, as a GPU
does: one that raises shows, and so do sums that pile up. Later ones run none, for what they write would hide
what the chosen config leaves out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton.runtime.autotuner import Autotuner

from grader.kernel import program_order


def install() -> None:
    """Have the autotuners of this process choose so from now on."""
    tuner: Any = Autotuner
    stock = tuner._bench

    def bench(self: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
        time = 0.0 if self.cache else stock(self, *args, config=config, **meta)[0]
        return [time + program_order.lot(str(config))] * 3

    tuner.do_bench = property(lambda self: _once, lambda self, value: None)
    tuner._bench = bench


def _once(call: Callable[[], None], quantiles: Any = None) -> list[float]:
    call()
    return [0.0, 0.0, 0.0]
