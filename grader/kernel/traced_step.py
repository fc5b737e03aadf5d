"""An operation of a kernel, and the numbers that it was given."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """An operation in a kernel that made a NaN or an Inf.

    Attributes:
        line: of the learner's file; 0 where none is known.
        name: TTIR's, `addf`, or libdevice's; `load`, `constant`, or `reduce` for a scan, too.
        dtype: Triton's, of the result.
        operands: of one lane; of a dot the two factors and what is added to, of a reduction its worst lanes.
        result: of that lane.
        behind: which steps made operands, by their places in a list.
        memory, offset: of a load, the tensor, and how many bytes from where its memory begins.
    """

    line: int = 0
    name: str = ""
    dtype: str = ""
    operands: list[float] = field(default_factory=list)
    result: float = 0.0
    behind: list[int] = field(default_factory=list)
    memory: str = ""
    offset: int = 0
