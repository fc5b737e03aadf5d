"""A zip, of a whole cohort or of one learner."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

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
    whose,
)
from grader.grading.precheck import LARGEST

LOCKED = 1  # the flag of a file that is encrypted
# What zipfile raises on an archive that is torn, encrypted, or packed in a way it does not know.
BROKEN = (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError, ValueError)


def read(path: Path, owner: str | None) -> Iterator[Item]:
    """Nothing of a zip is unpacked: its files are read where they lie.

    Args:
        owner: whose it is; of a whole cohort's None, and folders say whose.
    """
    return complete(_entries(path, owner), path.name)


def _entries(path: Path, owner: str | None) -> Iterator[Item | Other]:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            for place, entry in enumerate(entries, 1):
                if item := _entry(archive, entry, path, owner):
                    yield replace(item, share=place / len(entries)) if isinstance(item, Submission) else item
    except BROKEN as error:
        yield Trouble(path.name, f"the zip cannot be read: {error}")


def _entry(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, owner: str | None
) -> Item | Other | None:
    parts, where = entry.filename.replace("\\", "/").split("/"), f"{path.name}/{entry.filename}"
    if any(part.startswith(".") and part != ".." for part in parts) or "__MACOSX" in parts:
        return None
    try:
        if ".." in parts or parts[0] == "" or parts[0].endswith(":"):
            raise Unfit("its name leads out of the zip")
        if parts[-1].lower().endswith((".zip", *PACKED)):
            raise Unfit("it is packed within a zip: unpack it")
        place = named(parts)
        if place is None:
            other = instead(parts)
            return Other(owner or whose(parts, other[0], path.stem), other[1], where) if other else None
        return Submission(owner or whose(parts, place[0], path.stem), place[1], _bytes(archive, entry))
    except Unfit as unfit:
        return Trouble(where, str(unfit))
    except BROKEN as error:
        return Trouble(where, f"it cannot be read: {error}")


def _bytes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """What a zip holds under a name.

    Raises:
        Unfit: a link, locked, or too large.
    """
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise Unfit("it is a link, and links are not followed")
    if entry.flag_bits & LOCKED:
        raise Unfit("it asks for a password")
    small_enough(entry.file_size)
    with archive.open(entry) as file:
        source = file.read(LARGEST + 1)  # what the zip says of its size may be a lie
    small_enough(len(source))
    return source
