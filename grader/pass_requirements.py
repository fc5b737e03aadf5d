"""What a verdict weighs: which demands fail a file, and which are told with a pass.

A *requirement* fails a file. A *limit* is told, kept in the journal, and fails nothing. A day that teaches
the matter asks for it by `Challenge(requires=("int32_overflow",))`, `track grade --limits` for all of them.
A new requirement needs an argument in its commit: who meets it in practice, which files of `tests/right/` it
refuses, and the line of the lesson that promises it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Demand:
    """One kind of thing that is asked of a kernel.

    Attributes:
        required: whether it fails a file where no challenge says otherwise.
        words: what the demand is about, as a limit begins on the screen.
    """

    required: bool
    words: str


DEMANDS = {
    # Values on every size, dtype and layout that "Your task" promises; bounds, races, the kernel's own work.
    "values": Demand(True, "values"),
    "memory": Demand(True, "memory"),
    "speed": Demand(True, "speed"),
    "int32_overflow": Demand(False, "beyond 2³¹ elements"),
    "grid_axes": Demand(False, "beyond 65,535 programs on axis 1 or 2"),
    "huge_sizes": Demand(False, "beyond 16 GB of tensors"),
    "extreme_inputs": Demand(False, "NaN, Inf or values that no model has"),
    "degenerate_sizes": Demand(False, "sizes that the lesson does not name"),
    "upstream_copies": Demand(False, "an upstream gradient that does not lie in one piece"),
    "rounding_margin": Demand(False, "rounding, by a hair"),
    "memory_margin": Demand(False, "memory, by a hair"),
}
HUGE = 16 << 30  # bytes of tensors: more than a T4 has
HAIR = 2.0  # times its gate that a result may be off, where every other one is well inside
WELL_INSIDE = 0.75  # of its gate
MARGIN, MARGIN_BYTES = 0.05, 1 << 20  # beyond a memory bar: of it, or bytes, whichever is more
