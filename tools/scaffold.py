"""`track dev new`: the files of a new extra or day, such that they run and its tests name what is left."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from string import Template

from grader.course import catalog
from grader.course.catalog import Day
from grader.errors import TrackError, UnknownDay
from tools.scaffold_templates import FILES

SLUG = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
IMPORTED = ("torch", "triton", "tl")  # by every kernel.py, where the slug becomes a function


def plan(slug: str, after: int | None, day: str | None) -> Day:
    """What is to be made.

    Args:
        after: the day that an extra hangs on.
        day: the number of a day, or `next`.

    Raises:
        TrackError: the slug cannot be one, or is taken; or it is not clear what is to be made.
    """
    again = f"track dev new {slug}"
    if after is not None and day is not None:
        raise TrackError("An extra hangs on a day, a day does not.", f"{again} --after {after}")
    if after is None and day is None:
        raise TrackError(
            f'After which day does "{slug}" come?', f"{again} --after N   (for a new day: --day)"
        )
    option = "--day" if after is None else f"--after {after}"
    _check(slug, option)
    if day is not None:
        return Day(_number(day, again), slug)
    catalog.find(str(after))
    return Day(None, slug)


def _check(slug: str, option: str) -> None:
    if not SLUG.fullmatch(slug):
        problem = f'"{slug}" is no slug: small letters, digits and single underscores, a letter first.'
    elif keyword.iskeyword(slug) or slug in IMPORTED:
        problem = f'"{slug}" has a meaning in every kernel.py, so no function can be called so.'
    elif slug.startswith("day"):
        problem = f'"{slug}" reads like the number of a day.'
    else:
        taken = _meant(slug)
        if taken is None:
            return
        lies = f"days/{taken.place}/"
        problem = f'"{slug}" already means {taken.kind} {taken.key}, in {lies}.'
    raise TrackError(problem, f"track dev new {_other(slug)} {option}")


def _meant(slug: str) -> Day | None:
    """The day or extra that `track start SLUG` starts today."""
    try:
        return catalog.find(slug)
    except UnknownDay:
        return None


def _other(slug: str) -> str:
    """A slug like this one that can be had."""
    plain = re.sub(r"[^a-z0-9]+", "_", slug.lower()).strip("_")
    plain = re.sub(r"^(\d\w*?)_(.+)", r"\2_\1", plain)
    plain = re.sub(r"^(day)?[_\d]*", "", plain) or "extra"
    return plain if plain != slug and not (keyword.iskeyword(plain) or _meant(plain)) else f"{plain}_kernel"


def _number(day: str, again: str) -> int:
    """The first number that is free: the days have no gap."""
    numbers = {one.number for one in catalog.days()}
    free = next(number for number in range(1, len(numbers) + 2) if number not in numbers)
    if day not in ("next", str(free)):
        taken = day.isdecimal() and int(day) in numbers
        problem = f"There is a day {int(day)} already" if taken else f'The next day cannot be "{day}"'
        raise TrackError(f"{problem}: the next is day {free}.", f"{again} --day {free}")
    return free


def make(day: Day, after: int | None) -> list[Path]:
    """Writes all files and returns them.

    Raises:
        TrackError: one of them is there already; nothing was written.
    """
    title = day.slug.replace("_", " ").capitalize()
    who = "Extra" if day.number is None else f"Day {day.label}"
    names = {"slug": day.slug, "title": title, "place": day.place, "who": who}
    names |= {"heading": f"{who} · {title}", "after": "" if after is None else f"\n*After day {after}.*\n"}
    texts = {
        catalog.ROOT / Template(place).substitute(names): Template(text).substitute(names)
        for place, text in FILES.items()
    }
    for path in texts:
        if path.exists():
            raise TrackError(f"There is a {path.relative_to(catalog.ROOT)} already.", "Choose another slug.")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(texts)
