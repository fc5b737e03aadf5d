"""What follows from a launch's accesses: addresses beside all tensors, races, what nobody reads or writes.

Nearly every access of all programs lies in one tensor: that is seen at a glance. Of one that does not, each
program's lanes are looked at by themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.kernel import execution_position
from grader.kernel.access import Touch, accesses
from grader.kernel.batch import Batch
from grader.kernel.bounds import Bounds
from grader.kernel.number_formats import Array
from grader.kernel.races import MANY
from grader.kernel.tensor_regions import Region


class Recorder:
    """Records the accesses of a launch.

    Args:
        bounds: what is known of the call's memory, and has been found in it.

    Attributes:
        every: whether it is told of those that no lane of takes part in, too.
    """

    every = False

    def __init__(self, bounds: Bounds) -> None:
        self.bounds, self.regions = bounds, bounds.regions

    def touched(self, batch: Batch, touch: Touch) -> Region | None:
        """Look at an access.

        Returns:
            The storage that all its lanes lie in; None if there are several.

        Raises:
            OutOfBounds: a lane lies in none.
        """
        lanes = (touch.address if touch.mask is None else touch.address[touch.mask]).reshape(-1)
        low, high = int(lanes.min()), int(lanes.max()) + touch.size
        home = next((one for one in self.regions if one.start <= low and high <= one.stop), None)
        if touch.kind == "atomic":  # by which programs may take turns
            counts = touch.element[0] == "i" and touch.size >= 4
            self.bounds.races.ordered |= counts or touch.op in ("cas", "exch")
        if home is None:
            self._one_by_one(batch, touch)
            return next((one for one in self.regions if one.low <= low and high <= one.high), None)
        bits = touch.bits
        if bits is not None:
            bits = bits.reshape(-1) if touch.mask is None else bits[touch.mask]
        self.bounds.record(home, touch, lanes, bits, _programs(batch, touch) if home.own else None)
        return home

    def _one_by_one(self, batch: Batch, touch: Touch) -> None:
        """Each program's lanes by themselves."""
        for access in accesses(batch, touch):
            home = self.bounds.home(access)
            if home is not None:
                bits = None if access.value is None else access.value[access.mask]
                lanes = access.lanes.astype(np.int64)
                self.bounds.record(home, touch, lanes, bits, execution_position.number() + 1)


def _programs(batch: Batch, touch: Touch) -> Array:
    """Of each active lane its program's number, from 1; MANY where all of the batch have it in common."""
    shape = touch.address.shape
    if shape[0] == 1 and batch.size > 1:
        lanes = int(np.prod(shape)) if touch.mask is None else int(touch.mask.sum())
        return np.full(lanes, MANY, np.int32)
    numbers = (batch.programs.astype(np.int32) + 1).reshape(-1, *(1,) * (len(shape) - 1))
    spread: Any = np.broadcast_to(numbers, shape)
    return spread.reshape(-1) if touch.mask is None else spread[touch.mask]
