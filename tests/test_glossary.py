"""A word of the glossary stands in bold in the lesson that explains it, and in no lesson before.

Extras are by the way: a word of one stands in no day at all, and in none that comes after an earlier day.
"""

from __future__ import annotations

import re
from functools import cache

from grader.course import catalog
from grader.course.catalog import Day

PAGE = (catalog.ROOT / "days" / "GLOSSARY.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^\*\*(.+?)\*\* \((?:day (?=\d\d\))|extra (?=[a-z]))(\w+)\)", PAGE, re.MULTILINE)
WORDS = [word for word, _ in ENTRIES]


@cache
def lesson(key: str) -> str:
    """A day's lesson without its code and drawings, and without the titles of what it cites."""
    text, _, _ = catalog.find(key).lesson.read_text(encoding="utf-8").partition("## Where it is from")
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def whole(word: str) -> re.Pattern[str]:
    """A word and its plurals. One with capitals is looked for as it is written: SM, and not sm."""
    ends = f"{re.escape(word[:-2])}(?:is|es)" if word.endswith("is") else f"{re.escape(word)}(?:e?s)?"
    return re.compile(rf"(?<!\w){ends}(?!\w)", re.IGNORECASE if word.islower() else 0)


def bold(text: str) -> str:
    """What stands in bold, and nothing else."""
    return "\n".join(re.findall(r"\*\*(.+?)\*\*", text, re.DOTALL))


def test_the_page_is_in_alphabetical_order_and_names_a_word_once() -> None:
    assert sorted(set(WORDS), key=str.lower) == WORDS


def test_every_entry_names_its_day() -> None:
    assert len(ENTRIES) == len(re.findall(r"^\*\*", PAGE, re.MULTILINE)), "**word** (day 01): what it means"


def test_an_entry_is_two_lines_at_most() -> None:
    long = [entry for entry in PAGE.strip().split("\n\n")[2:] if entry.count("\n") > 1]
    assert not long, f"the glossary is read at a glance: {long}"


def test_a_word_stands_in_bold_on_the_day_that_explains_it() -> None:
    missing = [(word, day) for word, day in ENTRIES if not whole(word).search(bold(lesson(day)))]
    assert not missing


def test_no_lesson_uses_a_word_before_it_is_explained() -> None:
    texts = {day: re.sub(r"`[^`]*`", "", lesson(str(day.key))) for day in catalog.course()}
    before = {day: sooner(catalog.find(day)) for day in {day for _, day in ENTRIES}}
    early = [
        f"{day} explains {word!r}: {one.stem}: …{texts[one][max(0, use.start() - 40) : use.end() + 20]}…"
        for word, day in ENTRIES
        for one in before[day]
        for use in whole(word).finditer(texts[one])
    ]
    assert not early, "\n".join(early)


def sooner(one: Day) -> list[Day]:
    """What may be read before: the days and extras in front of a day; every day, and such extras."""
    return [
        other
        for other in catalog.course()
        if other.anchor < one.anchor or (one.number is None and other.number is not None)
    ]


def test_the_first_lesson_names_the_glossary() -> None:
    assert "`./track lesson --words`" in lesson("1")
