"""All that was handed in, an entry for each file: of a folder or a zip, and of the zips within either."""

from __future__ import annotations

import io
import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import IO

from grader.grading.cohort.submission import Unfit, small_enough
from grader.grading.precheck import LARGEST

Parts = tuple[str, ...]
DEEPEST = 3  # zips within one another, below what was named
MOST_BYTES = 500_000_000  # of a zip within another
PACKED = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".rar", ".7z")  # beside .zip
CACHES = ("__pycache__", "__MACOSX", "Thumbs.db", "desktop.ini", "site-packages", "node_modules")
LINK = "it is a link, and links are not followed"
LOCKED = 1  # the flag of a file that is encrypted
# What zipfile raises on an archive that is torn, encrypted, or packed in a way it does not know.
BROKEN = (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError, ValueError)


@dataclass(frozen=True)
class Entry:
    """A file; or a folder, whose own files are entries too.

    Attributes:
        parts: its path, in which zips are folders.
        kind: `file`, `folder`, or `hidden`: a file or a folder with all it holds that nobody calls work.
        size: in bytes, as a zip says it.
        time: when it was last changed; None where nobody knows.
        came: the same of the outermost zip in which it was handed in; None where there is none.
        problem: why it cannot be read; "" where it can.
    """

    parts: Parts
    kind: str = "file"
    size: int = 0
    time: datetime | None = None
    came: datetime | None = None
    problem: str = ""
    opened: Callable[[], IO[bytes]] = io.BytesIO

    @property
    def path(self) -> str:
        return "/".join(self.parts)

    @property
    def handed_in(self) -> datetime | None:
        return self.came or self.time

    @property
    def listed(self) -> bool:
        """Whether it is graded or not: a folder that can be read is neither."""
        return self.kind != "folder" or bool(self.problem)

    def named(self, *endings: str) -> bool:
        return self.kind == "file" and self.parts[-1].lower().endswith(endings)

    def read(self) -> bytes:
        """At most LARGEST bytes.

        Raises:
            Unfit: it has more, or cannot be read.
        """
        if self.problem:
            raise Unfit(self.problem)
        small_enough(self.size)
        try:
            with self.opened() as file:
                source = file.read(LARGEST + 1)  # a zip may lie about its size, and a file have grown
        except BROKEN as error:
            raise Unfit(_said(error)) from None
        small_enough(len(source))
        return source


def entries(place: Path) -> Iterator[Entry]:
    """All that a folder or a zip holds."""
    whole = Entry((), opened=lambda: place.open("rb", buffering=0))
    try:
        for entry in _folder(place) if place.is_dir() else _zip(whole):
            yield from _unpacked(entry, 1)
    except (*BROKEN, Unfit) as error:
        torn = isinstance(error, zipfile.BadZipFile)
        yield Entry((place.name,), problem="it is no whole zip: download it again" if torn else _said(error))


def _folder(root: Path) -> Iterator[Entry]:
    folders = [root]
    while folders:
        folder = folders.pop()
        inside = folder.relative_to(root).parts
        try:
            children = [(path, path.lstat()) for path in folder.iterdir()]
        except OSError as error:
            yield Entry(inside or (root.name,), "folder", problem=_said(error))
            continue
        for path, there in children:
            entry = Entry((*inside, path.name), "hidden" if _hidden(path.name) else "file")
            if stat.S_ISDIR(there.st_mode) and entry.kind == "file":
                folders.append(path)
                entry = replace(entry, kind="folder")
            time = _time(partial(datetime.fromtimestamp, there.st_mtime))
            problem = "" if stat.S_ISREG(there.st_mode) or entry.kind != "file" else "it is no plain file"
            problem = LINK if problem and stat.S_ISLNK(there.st_mode) else problem
            opened = partial(_on_disk, path)
            yield replace(entry, size=there.st_size, time=time, problem=problem, opened=opened)


def _on_disk(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb", buffering=0)


def _zip(archive: Entry) -> Iterator[Entry]:
    """What a zip holds, each hidden thing once."""
    hidden = set()
    for info in _opened(archive).infolist():
        names = _name(info).replace("\\", "/").rstrip("/").split("/")
        cut = next((place for place, name in enumerate(names, 1) if _hidden(name)), None)
        parts = (*archive.parts, *(name for name in names[:cut] if name not in ("", ".")))
        if cut and parts not in hidden:
            yield Entry(parts, "hidden")
            hidden.add(parts)
        elif ".." in names or not names[0] or names[0].endswith(":"):
            yield Entry((*archive.parts, *names), problem="its name leads out of the zip")
        elif not cut:
            yield Entry(parts, "folder") if info.is_dir() else _packed(archive, parts, info)


def _packed(archive: Entry, parts: Parts, info: zipfile.ZipInfo) -> Entry:
    time = _time(partial(datetime, *info.date_time))
    link, locked = stat.S_ISLNK(info.external_attr >> 16), info.flag_bits & LOCKED
    problem = LINK if link else "it asks for a password" if locked else ""
    return Entry(
        parts, "file", info.file_size, time, archive.handed_in, problem, lambda: _opened(archive).open(info)
    )


@lru_cache(maxsize=DEEPEST + 1)
def _opened(archive: Entry) -> zipfile.ZipFile:
    """A zip to be read; one within another is copied out."""
    file = archive.opened()
    if not isinstance(file, io.FileIO):
        with file as packed:
            file = tempfile.TemporaryFile()  # noqa: SIM115, closed when the cache lets it go
            shutil.copyfileobj(packed, file)
    return zipfile.ZipFile(file)


def _name(info: zipfile.ZipInfo) -> str:
    """Its name, also where a Mac wrote it in UTF-8 without saying so."""
    with suppress(UnicodeError):
        if not info.flag_bits & 0x800:
            return info.filename.encode("cp437").decode()
    return info.filename


def _unpacked(entry: Entry, depth: int) -> Iterator[Entry]:
    """An entry, or what it holds where it is a zip."""
    try:
        if entry.problem or not entry.named(".zip", *PACKED):
            yield entry
            return
        if not entry.named(".zip"):
            raise Unfit("it is packed, and not as a zip: unpack it")
        if depth > DEEPEST:
            raise Unfit(f"it is a zip within {DEEPEST} others: unpack it")
        if depth > 1 and entry.size > MOST_BYTES:
            raise Unfit(f"it is a zip of more than {MOST_BYTES:,} bytes within another: unpack it")
        for inner in _zip(entry):
            yield from _unpacked(inner, depth + 1)
    except (*BROKEN, Unfit) as error:
        yield replace(entry, problem=_said(error))


def _time(read: Callable[[], datetime]) -> datetime | None:
    """A time with this machine's zone; None for one that no calendar has."""
    with suppress(ValueError, OverflowError, OSError):
        return read().astimezone()
    return None


def _hidden(name: str) -> bool:
    return name in CACHES or (name.startswith(".") and name not in (".", ".."))


def _said(error: Exception) -> str:
    """In one line why something cannot be read."""
    told = getattr(error, "strerror", None) or error
    return str(error) if isinstance(error, Unfit) else f"it cannot be read: {told}"
