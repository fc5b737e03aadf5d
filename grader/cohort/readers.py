"""The three forms in which a cohort hands in: a folder, a zip, JSON lines."""

from __future__ import annotations

import json
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from grader.cohort.handed import Submission, Trouble, Unfit, named, small_enough, the_day, the_id, whose
from grader.engine.precheck import LARGEST
from grader.errors import BadSubmission

Item = Submission | Trouble
LONGEST_LINE = 8_000_000  # bytes: LARGEST of source, most of it escaped
NO_DAY = "nothing in it is named as a day: day13.py, or day13_fused_softmax/kernel.py"
# What zipfile raises on an archive that is torn, encrypted, or packed in a way it does not know.
BROKEN = (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError, ValueError)


def read(place: str) -> Iterator[Item]:
    """All that `place` holds: a folder with a folder or zip for each learner, a zip of such, a file of JSON
    lines, or `-`, JSON lines on stdin.

    Raises:
        BadSubmission: it is none of these; raised before anything is yielded.
    """
    path = Path(place)
    if place == "-":
        return _lines(sys.stdin.buffer, 0)
    if path.is_dir():
        if any(_is_a_day(child) for child in path.iterdir()):
            raise BadSubmission(
                f"{place} holds days, as one learner's folder does.", "Name the one above it."
            )
        return _folder(path)
    try:
        file = path.open("rb")
    except OSError as error:
        raise BadSubmission(
            f"{place} cannot be read: {error.strerror}.", "track cohort grade --help"
        ) from error
    if path.suffix == ".zip":
        file.close()
        return _zip(path, None)
    return _lines(file, path.stat().st_size)


def _is_a_day(path: Path) -> bool:
    try:
        return path.is_dir() and named((path.name, "kernel.py")) is not None
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


def _folder(root: Path) -> Iterator[Item]:
    """A folder or zip for each learner, by name; what is hidden is skipped."""
    children = sorted(child for child in root.iterdir() if not child.name.startswith("."))
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
        return _tree(child, the_id(child.name))
    if child.suffix == ".zip":
        return _zip(child, the_id(child.stem))
    if child.suffix == ".py":
        raise Unfit("it lies in no learner's folder")
    return iter(())


def _tree(root: Path, owner: str) -> Iterator[Item]:
    found = False
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        for name in sorted(files):
            path = Path(folder, name)
            parts = path.relative_to(root).parts
            try:
                if place := named(parts):
                    found = True
                    yield Submission(owner, place[1], _plain(path))
            except (Unfit, OSError) as problem:
                found = True
                yield Trouble("/".join((root.name, *parts)), str(problem))
    if not found:
        yield Trouble(root.name, NO_DAY)


def _plain(path: Path) -> bytes:
    """The bytes of a plain file: never of a link, which could lead to somebody else's.

    Raises:
        Unfit: it is none, or too large.
        OSError: it cannot be read.
    """
    if path.is_symlink() or not path.is_file():
        raise Unfit("it is no plain file, and links are not followed")
    small_enough(path.stat().st_size)
    with path.open("rb") as file:
        return file.read(LARGEST)


def _zip(path: Path, owner: str | None) -> Iterator[Item]:
    """Nothing of a zip is unpacked: its files are read where they lie.

    Args:
        owner: whose it is; of a whole cohort's None, and folders say whose.
    """
    found = False
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            for place, entry in enumerate(entries, 1):
                if item := _entry(archive, entry, path, owner):
                    found = True
                    yield replace(item, share=place / len(entries)) if isinstance(item, Submission) else item
    except BROKEN as error:
        found = True
        yield Trouble(path.name, f"the zip cannot be read: {error}")
    if not found:
        yield Trouble(path.name, NO_DAY)


def _entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, owner: str | None) -> Item | None:
    parts = entry.filename.replace("\\", "/").split("/")
    if any(part.startswith(".") and part != ".." for part in parts) or "__MACOSX" in parts:
        return None
    try:
        if ".." in parts or parts[0] == "" or parts[0].endswith(":"):
            raise Unfit("its name leads out of the zip")
        if parts[-1].endswith(".zip"):
            raise Unfit("it is a zip within a zip: unpack it")
        place = named(parts)
        if place is None:
            return None
        small_enough(entry.file_size)
        with archive.open(entry) as file:
            source = file.read(LARGEST + 1)  # what the zip says of its size may be a lie
        small_enough(len(source))
        return Submission(owner or whose(parts, place[0], path.stem), place[1], source)
    except (Unfit, *BROKEN) as problem:
        return Trouble(f"{path.name}/{entry.filename}", str(problem))
