"""Figures as a person reads them: times, and the rows with bars that say how fast a kernel is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.cli.screens.terminal import Part
from grader.verdict import SpeedResult

WIDTH = 12  # columns of the longest bar


def speed_rows(speed: SpeedResult) -> list[list[Part]]:
    """Yours, ours or torch, the copy and what is needed: time, bar, remark; where they come from."""
    low, high = speed.interval
    found = "measured on this GPU"
    rows = [
        ("yours", speed.yours_us, f"{speed.ratio:.2f}× the needed speed ({low:.2f} to {high:.2f})"),
        ("torch", speed.torch_us, f"yours is {speed.of_torch:.2f}× as fast"),
        ("copy", speed.copy_us, f"yours reaches {speed.of_copy:.0%} of it"),
        ("needed", speed.needed_us, speed.bar),
    ]
    if speed.evidence == "predicted":
        found = f"predicted for one {speed.gpu} from counts, not measured"
        rows = [("yours", speed.yours_us, ""), ("ours", speed.ours_us, "")]
        rows += [("copy", speed.copy_us, "moves as many bytes as the task must")]
        rows += [("too slow from", speed.needed_us, speed.bar)]
    scale = WIDTH / max(us for _, us, _ in rows)
    drawn = [(name, us, "█" * max(round(us * scale), 1), words) for name, us, words in rows if us]
    bars: list[list[Part]] = [[name, duration(us), (bar, "cyan"), words] for name, us, bar, words in drawn]
    return [*bars, ["evidence", found]]


def predicted(part: Mapping[str, Any]) -> str:
    """The predicted time of a bar, as `track inspect` has it: `78.1 µs`, `at least 78.1 µs`."""
    return ("at least " if part["at_least"] else "") + duration(part["us"])


def duration(us: float) -> str:
    """`78.1 µs`, `3,412 µs`: always microseconds, so that any two can be compared at a glance."""
    return f"{us:,.0f} µs" if us >= 1000 else f"{us:.4g} µs"
