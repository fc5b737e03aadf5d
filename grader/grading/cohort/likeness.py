"""How alike two files of a day are, by their tokens: a hint to look, and no verdict.

Names, numbers and strings of a file's own are made alike, and what stands in the skeleton or in our solution
is taken out. Of what is left the runs of so many tokens are compared that few files have.
"""

from __future__ import annotations

import io
import keyword
import sqlite3
import tokenize
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

from grader.course import catalog
from grader.course.catalog import Day
from grader.grading.cohort.report import in_order

GRAM = 10  # tokens that are compared as one; what is shorter says nothing
COMMON = 10  # files that may have a gram; what more of them have is how one writes that day
LEAST, SHARE = 18, 0.6  # grams that two files share, and of the one with fewer
FILES = 5000  # of a day that are compared
LISTED = 200  # pairs in all
ENDS = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}  # a statement begins behind

Prints = dict[int, set[int]]  # of each gram the lines where it stands


@dataclass(frozen=True)
class Alike:
    """Two files of a day that are alike: whose, each with the lines that are, counted from 1.

    Attributes:
        ids: several on a side where their tokens are the same.
        share: of what the smaller file has of its own, 0 to 1.
    """

    day: Day
    ids: tuple[list[str], list[str]]
    share: float
    sources: tuple[bytes, bytes]
    lines: tuple[set[int], set[int]]


def alike(db: sqlite3.Connection) -> list[Alike]:
    """Pairs of files that share more than chance has it, the most alike first."""
    days = [catalog.find(day) for (day,) in db.execute("SELECT DISTINCT day FROM result")]
    found = [pair for day in days for pair in _of_day(db, day)]
    return sorted(found, key=lambda one: (-one.share, in_order(str(one.day.key)), one.ids))[:LISTED]


def _of_day(db: sqlite3.Connection, day: Day) -> Iterator[Alike]:
    files = _files(db, day)
    having = defaultdict[int, list[int]](list)
    for place, (*_, prints) in enumerate(files):
        for gram in prints:
            having[gram].append(place)
    rare = {gram: places for gram, places in having.items() if len(places) <= COMMON}
    own = [sum(gram in rare for gram in prints) for *_, prints in files]
    shared = Counter(pair for places in rare.values() for pair in combinations(places, 2))
    shared.update({(place, place): own[place] for place, (ids, *_) in enumerate(files) if len(ids) > 1})
    for (a, b), number in shared.items():
        if number >= LEAST and number >= SHARE * min(own[a], own[b]):
            (left, one, here), (right, other, there) = files[a], files[b]
            grams = [gram for gram in here.keys() & there.keys() if gram in rare]
            lines = {n for gram in grams for n in here[gram]}, {n for gram in grams for n in there[gram]}
            ids = (left, right) if a != b else (left[:1], left[1:])
            yield Alike(day, ids, number / min(own[a], own[b]), (one, other), lines)


def _files(db: sqlite3.Connection, day: Day) -> list[tuple[list[str], bytes, Prints]]:
    """The files of a day with what each has of its own; those with the same tokens are one."""
    given = (path.read_bytes() for path in (day.skeleton, day.solution) if path.is_file())
    known = {gram for source in given for gram in _grams(tokens(source))}
    query = """SELECT id, deflated FROM result JOIN source USING (sha256)
        WHERE day = ? AND status <> 'unstarted' ORDER BY id LIMIT ?"""
    files: dict[tuple[str, ...], tuple[list[str], bytes, Prints]] = {}
    for id, deflated in db.execute(query, (str(day.key), FILES)):
        source = zlib.decompress(deflated)
        read = tokens(source)
        own = {gram: lines for gram, lines in _grams(read).items() if gram not in known}
        files.setdefault(tuple(word for word, _ in read), ([], source, own))[0].append(id)
    return list(files.values())


def tokens(source: bytes) -> list[tuple[str, int]]:
    """Its tokens with their lines, as far as Python reads it; comments, layout and docstrings are none.

    What stands behind a dot stays: `tl.load` is no name of the file's own.
    """
    found: list[tuple[str, int]] = []
    begins = True  # a statement, which a docstring is alone
    with suppress(tokenize.TokenError, SyntaxError, ValueError):
        for one in tokenize.tokenize(io.BytesIO(source).readline):
            begins = begins or one.type in ENDS
            if one.type in (*ENDS, tokenize.COMMENT, tokenize.NL) or (one.type == tokenize.STRING and begins):
                continue
            begins, word = False, one.string
            if one.type in (tokenize.NUMBER, tokenize.STRING):
                word = tokenize.tok_name[one.type]
            elif word.isidentifier() and not keyword.iskeyword(word) and found[-1:] and found[-1][0] != ".":
                word = "name"
            found.append((word, one.start[0]))
    return found


def _grams(read: Sequence[tuple[str, int]]) -> Prints:
    """Each run of GRAM tokens as a number, and the lines where it stands."""
    found = defaultdict[int, set[int]](set)
    for place in range(len(read) - GRAM + 1):
        words, lines = zip(*read[place : place + GRAM], strict=True)
        found[zlib.crc32(repr(words).encode())] |= {*range(lines[0], lines[-1] + 1)}
    return found
