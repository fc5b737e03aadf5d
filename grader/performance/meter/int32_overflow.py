"""Where an int32 of a running program passes 2³¹: the lines of the products and sums that turn negative.

The address that is found beside its tensor in the end may be made of several.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.kernel.batch import Batch
from grader.kernel.evaluator import Step
from grader.kernel.ttir import Operation

OPERATIONS: dict[str, Any] = {"arith.muli": np.multiply, "arith.addi": np.add}


def turns(operation: Operation) -> bool:
    """Whether what it makes may pass 2³¹ in int32."""
    return operation.name in OPERATIONS and operation.gives[-1].element == "i32"


def followed(step: Step, operation: Operation, line: int, lines: set[int]) -> Step:
    """A step that notes its line where a number passes 2³¹."""
    whole, (x, y), (out,) = OPERATIONS[operation.name], operation.ins, operation.outs

    def looked_at(batch: Batch) -> None:
        step(batch)
        if (whole(batch[x].astype(np.int64), batch[y].astype(np.int64)) != batch[out]).any():
            lines.add(line)

    return looked_at
