"""Days and extras are found by their folders; no number of them stands in the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course import catalog
from grader.errors import UnknownDay
from tests.learner import day, forget, tiny_course

pytestmark = pytest.mark.usefixtures("grown")


@pytest.mark.parametrize("text", ["36", "day36", "day 36", "day36_squaring", "squaring", "Squar"])
def test_a_day_36_answers_as_any_other_day_does(text: str) -> None:
    assert catalog.find(text).stem == "day36_squaring"


@pytest.mark.parametrize("text", ["tripling", "Tripling", "extra tripling", "tripl"])
def test_an_extra_answers_to_its_slug(text: str) -> None:
    assert catalog.find(text).place == "extras/tripling"


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ("37", "There is no day 37: the last one is day 36.", "track list"),
        ("35", "Day 35 is not in this edition of the course.", "track list"),
        ("triplng", 'No day is called "triplng". Did you mean tripling?', "track start tripling"),
    ],
)
def test_what_does_not_exist_is_told_by_what_does(text: str, problem: str, fix: str) -> None:
    with pytest.raises(UnknownDay) as raised:
        catalog.find(text)
    assert (raised.value.problem, raised.value.fix) == (problem, fix)


def test_an_extra_takes_no_word_away_from_the_days(grown: Path) -> None:
    more = ("extras/doubling_back", "extras/halving", "extras/halving_again")
    tiny_course(grown, dict.fromkeys(more, "# Extra · More\n\n*After day 1.*\n"))
    forget()
    assert catalog.find("doubling").number == 2
    assert catalog.find("halving").slug == "halving"
    assert catalog.find("back").slug == "doubling_back"
    with pytest.raises(UnknownDay, match="could be any of halving or halving_again"):
        catalog.find("halvin")


def test_an_extra_has_no_number_but_a_day_that_it_hangs_on() -> None:
    extra = day("tripling")
    assert (extra.number, extra.key, extra.anchor, extra.week) == (None, "tripling", 2, 1)
    assert (extra.name, extra.heading, extra.title) == ("Extra tripling", "Extra · Tripling", "Tripling")
    assert extra not in catalog.days()
    assert catalog.course() == (*catalog.days(), extra)


def test_extras_stand_in_the_order_of_the_days_that_they_hang_on(grown: Path) -> None:
    tiny_course(grown, {"extras/zeroing": "# Extra · Zeroing\n\n*After day 1.*\n"})
    forget()
    assert [extra.slug for extra in catalog.extras()] == ["zeroing", "tripling"]


def test_what_follows_an_extra_is_what_follows_its_day() -> None:
    assert catalog.later(day("tripling")) == catalog.later(day(2)) == (day(8), day(36))
    assert catalog.later(None) == catalog.days()


def test_weeks_are_called_as_the_syllabus_calls_them() -> None:
    assert catalog.weeks() == {1: "Foundations", 2: "Basic operations"}
    assert day(36).week == 6


def test_extras_stand_in_the_packs_of_the_syllabus_and_those_without_a_row_behind_them(grown: Path) -> None:
    more = ("extras/zeroing", "extras/halving")
    tiny_course(grown, dict.fromkeys(more, "# Extra · More\n\n*After day 1.*\n"))
    forget()
    packs = {title: [extra.slug for extra in extras] for title, extras in catalog.packs().items()}
    assert packs == {"Multiples": ["tripling"], "": ["halving", "zeroing"]}


def test_a_pack_of_which_nothing_is_built_is_none(course: Path) -> None:
    for path in course.glob("days/extras/*/README.md"):
        path.unlink()
    forget()
    assert catalog.packs() == {}
