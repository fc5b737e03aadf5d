"""days/README.md names all 35 days, and links exactly those that are built."""

from __future__ import annotations

import re

import pytest

from grader import catalog

SYLLABUS = (catalog.ROOT / "days" / "README.md").read_text(encoding="utf-8")
ROWS = {
    int(row[0]): row
    for row in re.findall(r"^\| (\d\d) \| (.+?) \| (.+?) \| (.+?) \|$", SYLLABUS, re.MULTILINE)
}
BUILT = {day.number: day for day in catalog.days()}


def test_every_day_has_one_row_in_order() -> None:
    numbers = [int(number) for number in re.findall(r"^\| (\d\d) \|", SYLLABUS, re.MULTILINE)]
    assert numbers == list(range(1, catalog.DAYS + 1))


def test_weeks_have_their_names_and_seven_days_each() -> None:
    weeks = re.split(r"^## ", SYLLABUS, flags=re.MULTILINE)[1:]
    assert [week.splitlines()[0] for week in weeks] == [
        f"Week {number} · {title}" for number, title in enumerate(catalog.WEEKS, 1)
    ]
    assert [len(re.findall(r"^\| \d\d \|", week, re.MULTILINE)) for week in weeks] == [7] * 5


@pytest.mark.parametrize("number", range(1, catalog.DAYS + 1))
def test_a_built_day_is_linked_by_its_title_and_no_other_is(number: int) -> None:
    topic = ROWS[number][1]
    if number in BUILT:
        day = BUILT[number]
        assert topic == f"[{day.title}]({day.stem}/README.md)"
    else:
        assert "](" not in topic


@pytest.mark.parametrize("day", catalog.days(), ids=lambda day: day.stem)
def test_a_built_day_says_what_its_skeleton_asks_for(day: catalog.Day) -> None:
    entry = re.match(r"`(\w+)", ROWS[day.number][2])
    assert entry
    assert f"def {entry[1]}(" in day.skeleton.read_text(encoding="utf-8")
