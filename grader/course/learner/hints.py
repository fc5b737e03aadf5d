"""A day's three hints, read from hints/<place>.md: a nudge, an approach, the crucial lines."""

from __future__ import annotations

import re

from grader.course.catalog import Day
from grader.errors import TrackError

TIERS = ("Nudge", "Approach", "Code")


def read(day: Day) -> tuple[str, ...]:
    """The text of each tier, in order.

    Raises:
        TrackError: the day has no hints, or not these three.
    """
    try:
        text = day.hints.read_text(encoding="utf-8")
    except OSError:
        raise TrackError(f"{day.name} has no hints yet.", f"track lesson {day.key}") from None
    parts = re.split(r"^## (Nudge|Approach|Code)[ \t]*$", text, flags=re.MULTILINE)
    found = dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))
    if tuple(found) != TIERS:
        raise TrackError(
            f"The hints of {day.kind} {day.key} are incomplete: {day.hints}", f"track lesson {day.key}"
        )
    return tuple(found.values())


def reveal(seen: int, again: bool) -> list[int]:
    """The tiers for someone who has `seen` so many: the next one, or all of them once there is no next one.

    Raises:
        TrackError: hints were to be read again and none was open.
    """
    if again and not seen:
        raise TrackError("No hint is open yet.", "track hint")
    if again or seen >= len(TIERS):
        return list(range(1, min(seen, len(TIERS)) + 1))
    return [seen + 1]
