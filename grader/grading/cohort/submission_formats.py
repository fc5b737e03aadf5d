"""The three forms in which a cohort hands in: a folder, a zip, JSON lines."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from grader.errors import BadSubmission
from grader.grading.cohort import zips
from grader.grading.cohort.submission import (
    PACKED,
    Item,
    Other,
    Submission,
    Trouble,
    Unfit,
    complete,
    instead,
    named,
    small_enough,
    the_day,
    the_id,
)
from grader.grading.precheck import LARGEST

LONGEST_LINE = 8_000_000  # bytes: LARGEST of source, most of it escaped
DEEPEST = 20  # folders within a learner's, below which nobody looks
HELP = "track cohort grade --help"


def read(place: str) -> Iterator[Item]:
    """All that `place` holds: a folder with a folder or zip for each learner, a zip of such, a file of JSON
    lines, or `-`, JSON lines on stdin.

    Raises:
        BadSubmission: it is none of these; raised before anything is yielded.
    """
    path = Path(place)
    if place == "-":
        if sys.stdin is None:
            raise BadSubmission("There is no stdin to read.", HELP)
        return _lines(sys.stdin.buffer, 0)
    try:
        if path.is_dir():
            return _folder(_children(path))
        file = path.open("rb")
    except OSError as error:
        raise BadSubmission(f"{place} cannot be read: {error.strerror}.", HELP) from error
    if path.suffix.lower() == ".zip":
        file.close()
        return zips.read(path, None)
    if path.suffix.lower() in (".py", ".ipynb", *PACKED):
        file.close()
        raise BadSubmission(f"{place} is neither a folder, nor a zip, nor JSON lines.", HELP)
    return _lines(file, path.stat().st_size)


def _children(root: Path) -> list[Path]:
    """What lies in a folder, by name; what is hidden is skipped.

    Raises:
        BadSubmission: it is one learner's.
    """
    children = sorted(child for child in root.iterdir() if not child.name.startswith("."))
    folders = [child for child in children if child.is_dir()]
    if folders and all(map(_is_a_day, folders)):
        raise BadSubmission(f"{root} holds days, as one learner's folder does.", "Name the one above it.")
    return children


def _is_a_day(folder: Path) -> bool:
    try:
        return named((folder.name, "kernel.py")) is not None
    except Unfit:
        return True


def _lines(file: BinaryIO, size: int) -> Iterator[Item]:
    """A submission a line: `{"id": "ann", "day": 13, "source": "import torch\\n…"}`.

    Args:
        size: of the file in bytes, 0 where nobody knows.
    """
    with file:
        for number, line in enumerate(_whole_lines(file), 1):
            try:
                if line is None:
                    raise Unfit(f"it has more than {LONGEST_LINE:,} bytes")
                if line.strip():
                    yield replace(_record(line), share=file.tell() / size if size else None)
            except Unfit as unfit:
                yield Trouble(f"line {number}", str(unfit))


def _whole_lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Its lines; None for one that is too long to be held."""
    while line := file.readline(LONGEST_LINE):
        if line.endswith(b"\n") or len(line) < LONGEST_LINE:
            yield line
            continue
        while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


def _record(line: bytes) -> Submission:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise Unfit("it is no JSON") from None
    if not isinstance(record, dict) or not {"id", "day", "source"} <= record.keys():
        raise Unfit('it is no {"id": …, "day": …, "source": …}')
    day, source = record["day"], record["source"]
    if isinstance(day, bool) or not isinstance(day, (int, str)) or not isinstance(source, str):
        raise Unfit("day is a number or a name, and source a text")
    try:
        text = source.encode()
    except UnicodeEncodeError:
        raise Unfit("source holds half of a character (a lone surrogate)") from None
    small_enough(len(text))
    return Submission(the_id(record["id"]), the_day(str(day)), text)


def _folder(children: list[Path]) -> Iterator[Item]:
    """A folder or zip for each learner."""
    for place, child in enumerate(children, 1):
        try:
            items = _learner(child)
        except Unfit as unfit:
            items = iter([Trouble(child.name, str(unfit))])
        for item in items:
            yield replace(item, share=place / len(children)) if isinstance(item, Submission) else item


def _learner(child: Path) -> Iterator[Item]:
    """What one learner handed in."""
    if child.is_symlink():
        raise Unfit("it is a link, and links are not followed")
    if child.is_dir():
        if _is_a_day(child):
            raise Unfit("it is named as a day and lies in no learner's folder")
        return complete(_tree(child, the_id(child.name)), child.name)
    suffix = child.suffix.lower()
    if suffix == ".zip":
        return zips.read(child, the_id(child.stem))
    if suffix in PACKED:
        raise Unfit("it is packed, and not as a zip: unpack it")
    if suffix == ".py" or instead((child.name,)):
        raise Unfit("it lies in no learner's folder")
    return iter(())


def _tree(root: Path, owner: str) -> Iterator[Item | Other]:
    closed: list[OSError] = []
    for folder, folders, files in os.walk(root, onerror=closed.append):
        inside = Path(folder).relative_to(root).parts
        kept = (name for name in folders if not name.startswith((".", "__pycache__")))
        folders[:] = sorted(kept) if len(inside) < DEEPEST else []
        for name in sorted(files):
            parts = (*inside, name)
            where = "/".join((root.name, *parts))
            try:
                if place := named(parts):
                    yield Submission(owner, place[1], _plain(Path(folder, name)))
                elif name.lower().endswith((".zip", *PACKED)):
                    raise Unfit("it is packed within a folder: unpack it")
                elif other := instead(parts):
                    yield Other(owner, other[1], where)
            except Unfit as unfit:
                yield Trouble(where, str(unfit))
            except OSError as error:
                yield Trouble(where, f"it cannot be read: {error.strerror}")
    for refused in closed:
        where = "/".join((root.name, *Path(refused.filename).relative_to(root).parts))
        yield Trouble(where, f"it cannot be read: {refused.strerror}")


def _plain(path: Path) -> bytes:
    """The bytes of a plain file: never of a link, which could lead to somebody else's.

    Raises:
        Unfit: it is none, or too large.
        OSError: it cannot be read.
    """
    there = path.lstat()
    if not stat.S_ISREG(there.st_mode):
        raise Unfit("it is no plain file, and links are not followed")
    small_enough(there.st_size)
    with path.open("rb") as file:
        source = file.read(LARGEST + 1)  # it may have grown
    small_enough(len(source))
    return source
