"""Whatever is typed: a day is found, or one line says why not."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import example, given
from hypothesis import strategies as st

from grader.course import catalog
from grader.course.catalog import Day
from grader.errors import UnknownDay
from tests.fuzz.conftest import Types

NAMES = [name for day in catalog.course() for name in (day.slug, day.stem, str(day.key))]
# Near a name, so that most are not refused by their first letter.
NEARLY = st.tuples(st.sampled_from(NAMES), st.text(max_size=3)).map("".join)
DAYS = st.one_of(st.text(), st.sampled_from(NAMES), NEARLY)
COMMANDS = ("lesson", "diff", "hint", "solution", "status", "list", "reset", "restore", "upgrade", "grade")


@given(DAYS)
@example("0" * 5000)
@example("٣")
@example("day\x00")
def test_a_day_is_found_or_unknown(text: str) -> None:
    with suppress(UnknownDay):
        assert isinstance(catalog.find(text), Day)


OPTIONS = ("", "--json", "--yes", "--again", "--all", "--strict", "--words", "--seed 1e9", "-k")


@given(st.sampled_from(COMMANDS), DAYS, st.sampled_from(OPTIONS))
@example("lesson", "\x00", "")
@example("lesson", "a" * 5000, "")
def test_a_command_with_any_words_ends_in_a_sentence(
    types: Types, command: str, text: str, option: str
) -> None:
    assert types(command, *option.split(), "--", *text.split()).strip()
