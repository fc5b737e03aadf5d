"""Figures as a person reads them: times, and the rows that say how fast a kernel is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.cli.screens.terminal import Part
from grader.verdict import SpeedResult


def speed_rows(speed: SpeedResult) -> list[tuple[Part, Part]]:
    """Yours, needed and torch in one unit, the share of copy, and where the figures come from."""
    if speed.evidence == "predicted":
        return _foretold(speed)
    low, high = speed.interval
    return [
        (
            "yours",
            f"{duration(speed.yours_us)}   {speed.ratio:.2f}× the needed speed ({low:.2f} to {high:.2f})",
        ),
        ("needed", f"{duration(speed.needed_us)}   {speed.bar}"),
        ("torch", f"{duration(speed.torch_us)}   yours is {speed.of_torch:.2f}× as fast"),
        ("copy", f"{duration(speed.copy_us)}   yours reaches {speed.of_copy:.0%} of it"),
        ("evidence", "measured on this GPU"),
    ]


def _foretold(speed: SpeedResult) -> list[tuple[Part, Part]]:
    """A prediction's rows: nothing was timed, so there is no torch and no interval."""
    return [
        ("yours", f"{duration(speed.yours_us)}, predicted for one {speed.gpu}"),
        ("too slow from", f"{duration(speed.needed_us)}   {speed.bar}"),
        ("copy", f"{duration(speed.copy_us)}   predicted, of as many bytes as the task must move"),
        ("evidence", "predicted from counts, not measured"),
    ]


def predicted(part: Mapping[str, Any]) -> str:
    """The predicted time of a bar, as `track inspect` has it: `78.1 µs`, `at least 78.1 µs`."""
    return ("at least " if part["at_least"] else "") + duration(part["us"])


def duration(us: float) -> str:
    """`78.1 µs`, `3,412 µs`: always microseconds, so that any two can be compared at a glance."""
    return f"{us:,.0f} µs" if us >= 1000 else f"{us:.4g} µs"
