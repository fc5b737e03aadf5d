"""Who is in a class: a CSV file with a row for each learner, as a school, Moodle or Canvas exports it."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from grader.errors import TrackError

# Columns by whose cells a learner is known; beside them, first and last names together.
KNOWN = (
    *("name", "full name", "student", "id", "id number", "user id", "username", "email", "email address"),
    *("github", "sis user id", "sis login id", "sid"),
)


@dataclass(frozen=True)
class Learner:
    """A row.

    Attributes:
        name: for people to read.
        names: what hand-ins of this learner may be called, without case, spaces and signs.
        cells: by the column's name in small letters.
    """

    name: str
    names: frozenset[str]
    cells: Mapping[str, str]

    @property
    def withdrawn(self) -> bool:
        return self.cells.get("withdrawn", "").casefold() not in ("", "no", "0", "false")


def read(path: Path) -> tuple[Learner, ...]:
    """The learners of a CSV file; commas, semicolons or tabs stand between cells.

    Raises:
        TrackError: it cannot be read, or none of its columns says who a learner is.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", "save it as CSV in UTF-8")
        raise TrackError(f"The roster {path} cannot be read: {why}.") from None
    head, *rows = csv.reader(lines or [""], delimiter=max(",;\t", key="".join(lines[:1]).count))
    columns = [name.strip().casefold() for name in head]
    if not {*KNOWN, "first name", "last name", "surname"} & set(columns):
        raise TrackError(f"The roster {path} has none of the columns {', '.join(KNOWN)}.")
    learners = (_learner(dict(zip(columns, map(str.strip, row), strict=False))) for row in rows)
    return tuple(one for one in learners if one.names and one.name != "Points Possible")  # a row of Canvas


def _learner(cells: dict[str, str]) -> Learner:
    first, last = cells.get("first name", ""), cells.get("last name") or cells.get("surname", "")
    known = [cells.get(column, "") for column in KNOWN]
    names = [*known[:3], f"{first} {last}".strip()]
    called = [*names, *known, *map(_swapped, names)]
    return Learner(next(filter(None, called), ""), frozenset(filter(None, map(squashed, called))), cells)


def _swapped(name: str) -> str:
    """`Lovelace, Ada` as `Ada Lovelace`, and the other way round."""
    last, comma, first = name.partition(", ")
    return f"{first} {last}" if comma else " ".join(name.rpartition(" ")[::-2])


def squashed(text: str) -> str:
    """`Lovelace, Ada` and `lovelaceada` alike: letters and digits alone."""
    return "".join(letter for letter in normalize("NFC", text).casefold() if letter.isalnum())


def find(id: str, learners: Sequence[Learner] | None) -> Learner:
    """The learner whom an id means; without a roster, one who is called so.

    Moodle and Canvas put a number behind a name, as in `Ada Lovelace_12345`.

    Raises:
        TrackError: nobody is meant, or more than one.
    """
    if learners is None:
        return Learner(id, frozenset({squashed(id)}), {})
    name, _, number = id.partition("_")
    found = [one for one in learners if squashed(id) in one.names]
    found = found or [one for one in learners if squashed(name) in one.names]
    found = [one for one in found if number and number in one.names] or found
    last = id.rpartition("_")[2]  # in Canvas a number of the learner's own, which its gradebook has
    found = found or [one for one in learners if "student" in one.cells and one.cells.get("id") == last]
    if len(found) > 1:
        problem = f'"{id}" could be {" or ".join(one.name for one in found)}.'
        raise TrackError(f"{problem} A column `id` in the roster tells them apart.")
    if not found:
        raise TrackError(f'Nobody on the roster is called "{id}".')
    return found[0]
