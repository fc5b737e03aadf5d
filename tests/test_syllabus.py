"""days/README.md names all days in their weeks, and links exactly those that are built; extras below."""

from __future__ import annotations

import re

import pytest

from grader.course import catalog
from grader.course.catalog import A_WEEK, Day

SYLLABUS = (catalog.ROOT / "days" / "README.md").read_text(encoding="utf-8")
CORE, _, EXTRAS = SYLLABUS.partition("\n## Extras\n")
ROWS = re.findall(r"^\| (\d\d) \| (.+?) \| (.+?) \| (.+?) \|$", CORE, re.MULTILINE)
COUNT = len(catalog.days())


def test_every_day_has_one_row_in_order() -> None:
    told, built = [number for number, *_ in ROWS], [day.label for day in catalog.days()]
    assert told == built, f"days/README.md has rows for days {told}; there are {built}"


def test_weeks_have_their_names_and_seven_days_each() -> None:
    weeks = [week.splitlines() for week in re.split(r"^## ", CORE, flags=re.MULTILINE)[1:]]
    assert list(catalog.weeks()) == list(range(1, len(weeks) + 1)), "weeks are headed ## Week N · TITLE"
    rows = [sum(bool(re.match(r"\| \d\d \|", line)) for line in week) for week in weeks]
    whole, rest = divmod(COUNT, A_WEEK)
    assert rows == [A_WEEK] * whole + [rest] * bool(rest), f"a week has {A_WEEK} days, the last one the rest"


@pytest.mark.parametrize("day", catalog.course(), ids=lambda day: day.place)
def test_a_day_or_extra_has_its_row(day: Day) -> None:
    topic = f"[{day.title}]({day.place}/README.md)"
    begins, table = (
        (f"| {day.label} | {topic}", CORE) if day.number else (f"| {topic} | {day.anchor}", EXTRAS)
    )
    row = next((line for line in table.splitlines() if line.startswith(f"{begins} | ")), "")
    head = f"## Week {day.week}" if day.number else "## Extras"
    wanted = f"{begins} | `{day.slug}(…)`, what you write | what you learn |"
    assert row, f"days/README.md has no such row under {head}:\n{wanted}"
    entry = re.match(r"`(\w+)", row.split(" | ")[2])
    assert entry, f"its third column begins with `the function`: {row}"
    skeleton = day.skeleton.read_text(encoding="utf-8")
    assert f"def {entry[1]}(" in skeleton, f"there is no {entry[1]}() in days/{day.place}/kernel.py"


def test_an_extra_stands_in_a_pack() -> None:
    loose = [extra.slug for extra in catalog.packs().get("", ())]
    assert not loose, f"in days/README.md these stand below no ### pack of ## Extras: {', '.join(loose)}"


def test_nothing_else_is_linked() -> None:
    linked = set(re.findall(r"\]\((.+?)/README\.md\)", SYLLABUS))
    amiss = sorted(linked ^ {day.place for day in catalog.course()})
    assert not amiss, f"linked in days/README.md and not there, or there and not linked: {amiss}"


@pytest.mark.parametrize("file", ["README.md", "days/README.md", "pyproject.toml"])
def test_the_number_of_days_that_is_told_is_true(file: str) -> None:
    told = re.findall(r"\b(\d+) days\b", (catalog.ROOT / file).read_text(encoding="utf-8"))
    assert told, "it is told nowhere"
    assert set(told) == {str(COUNT)}, f"{file} speaks of {', '.join(told)} days; there are {COUNT}"
