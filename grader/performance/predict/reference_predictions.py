"""What is kept of our own solutions: `ours.json`. No torch is imported here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

OURS = Path(__file__).with_name("ours.json")
SLOWER = 3.0  # times our own solution's predicted time that are allowed, where the day's bar allows no more


@dataclass(frozen=True)
class Ours:
    """What is kept of our own solution on one bar.

    Attributes:
        us: predicted on the usual GPU.
        slack: how many times slower a kernel may be and still pass the bar, measured on that GPU.
        flops: operations of its products; 0 where the day counts none.
        profile: what compare_with_solution.py compares of it.
    """

    us: float
    slack: float = 1.0
    flops: float = 0.0
    profile: dict[str, Any] = field(default_factory=dict)

    @property
    def times(self) -> float:
        """How many times slower than ours a kernel may be predicted."""
        return max(SLOWER, self.slack)


@cache
def known() -> dict[str, Ours]:
    """What is known of our own solutions, by the bar's name."""
    text = OURS.read_text(encoding="utf-8") if OURS.exists() else "{}"
    return {name: Ours(**kept) for name, kept in json.loads(text).items()}


def bar_name(stem: str, entry: str, case: str, part: str) -> str:
    """`day13_fused_softmax/softmax/rows=16384-cols=8192-fp16/forward`: how a speed bar is called here."""
    return f"{stem}/{entry}/{case}/{part}"


def ours(name: str) -> Ours | None:
    """What is known of our own solution on this bar; `track dev predicted --write` keeps it."""
    return known().get(name)
