"""Where the learner stands when a command begins, and the note it leaves behind."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from grader.cli.screens import Terminal, day_pages, progress
from grader.cli.screens.terminal import Next, near
from grader.course import catalog
from grader.course.catalog import Day, Key
from grader.course.entry_functions import readers
from grader.course.learner import hints, journal, workspace
from grader.course.learner.journal import Journal, Progress
from grader.course.learner.workspace import CannotWrite, Workspace
from grader.errors import BadSubmission, TrackError, UnknownDay, pasted


@dataclass(frozen=True)
class Standing:
    """The workspace at hand and what its journal tells; all empty before the first `start`."""

    workspace: Workspace | None
    journal: Journal
    progress: dict[Key, Progress]
    current: Day | None

    def of(self, day: Day) -> Progress:
        return self.progress.get(day.key, progress.NEW)

    @property
    def next(self) -> Next:
        return progress.following(self.progress, self.current)

    def passed(self, day: Day) -> Next | None:
        """What follows a day that is done; None while it is not, or its last grading did not pass."""
        passed = self.of(day).done and self.of(day).last in ("", "passed")
        return progress.following(self.progress, day) if passed else None

    def untold(self, day: Day) -> str:
        """What the last grading left to the hint; empty where it left nothing, or other hints are to come."""
        last = self.of(day).hints == len(hints.TIERS)
        return journal.untold(self.journal.records, day.key, last_hint=last)

    def after_reading(self, day: Day) -> Next:
        """What follows its lesson: start it, grade it, or go on."""
        if self.of(day).state == "new":
            return f"track start {day.key}", ""
        return self.passed(day) or (f"track grade {day.key}", day.begin)

    def report(self) -> dict[str, Any]:
        """The document that `status --json` prints."""
        packs = catalog.packs().items()
        extras = [self._told(extra) | {"pack": pack} for pack, members in packs for extra in members]
        return {
            "schema": journal.SCHEMA,
            "workspace": str(self.workspace.root) if self.workspace else None,
            "current": self.current.key if self.current else None,
            "next": self.next[0],
            "skipped_lines": self.journal.skipped,
            "days": [self._told(day) for day in catalog.days()],
            **({"extras": extras} if extras else {}),
        }

    def _told(self, day: Day) -> dict[str, Any]:
        stands = {"after": day.anchor} if day.number is None else {"week": day.week}
        names = {"day": day.key, "stem": day.stem, "title": day.title, **stands}
        return names | {"state": self.of(day).state} | asdict(self.of(day))


def standing() -> Standing:
    found = workspace.find()
    read = journal.read(found.journal) if found else Journal()
    return Standing(found, read, journal.fold(read.records), workspace.current(found, read.records))


def chosen(
    words: tuple[str, ...], file: Path | None = None, find: Callable[[str], Day] = catalog.find
) -> Day:
    """The day that was typed, else the current one.

    Args:
        file: what `--file` names, if anything: that needs no workspace, but a day.
        find: the day of some words; `tasks.find` where a task of one's own will do.

    Raises:
        UnknownDay: no day is called so; the fix is the command that was typed, with a day that there is.
    """
    if words:
        try:
            return find(" ".join(words))
        except UnknownDay as unknown:
            here = _standing_at(Path(" ".join(words)))
            if here:
                return here
            if os.path.isfile(words[-1]):  # of any words: pathlib's raises where they are too long
                raise _which(Path(words[-1]), words[:-1]) from None
            typed = click.get_current_context().command_path
            raise UnknownDay(unknown.problem, unknown.fix.replace("track start", typed)) from None
    current = (_standing_at(file) if file else None) or standing().current
    if file and current is None:
        raise _which(file)
    workspace.require()
    if current is None:
        raise TrackError("No day is started yet.", "track start 1")
    return current


def _standing_at(path: Path) -> Day | None:
    """The day whose folder or kernel.py in the workspace this is."""
    found = standing().workspace
    with contextlib.suppress(OSError, ValueError):  # words that no path can have
        place = path.resolve()
        own = (day for day in catalog.course() if found and place in (found.folder(day), found.kernel(day)))
        return next(own, None)
    return None


def _which(file: Path, words: tuple[str, ...] = ()) -> TrackError:
    """A file where a day belongs, or behind it in `words`: the day may show in its functions."""
    context = click.get_current_context()
    with contextlib.suppress(OSError):
        words = words or tuple(str(day.key) for day in readers(file.read_bytes())[:1])
    given = "--file" in (name for option in context.command.params for name in option.opts)
    again = " ".join([context.command_path, *(words or ("DAY",))])
    return TrackError(f"Which day is {file} for?", f"{again} --file {pasted(file)}" if given else again)


def upcoming(here: Standing) -> Day:
    """The day at hand until it is done, then the next one."""
    if here.current and not here.of(here.current).done:
        return here.current
    command = progress.following(here.progress, here.current)[0].split()
    return catalog.find(command[2]) if command[2:] else catalog.days()[0]


def note(found: Workspace, event: journal.Event, day: Day, **facts: Any) -> bool:
    """Writes one thing down, and says whether it could. Where not, the command still did its work."""
    try:
        with workspace.writing(found.journal):
            journal.append(found.journal, event, day.key, **facts)
    except CannotWrite as problem:
        day_pages.unrecorded(Terminal(sys.stderr), problem)
        return False
    return True


def open_hint(found: Workspace, day: Day, again: bool = False) -> dict[int, str]:
    """The hints to show now, by tier, and remembers them: one more, or with `again` those already open."""
    tiers, seen = hints.read(day), standing().of(day).hints
    shown = hints.reveal(seen, again)
    if max(shown) > seen:
        note(found, "hint", day, tier=max(shown))
    return {tier: tiers[tier - 1] for tier in shown}


def given(file: Path | None, again: str) -> Path:
    """The file that `--file` names.

    Args:
        again: the command that was typed, as far as the path.

    Raises:
        BadSubmission: there is none, or it is a folder.
    """
    if file is None:
        raise BadSubmission("Which file is meant?", f"{again} FILE")
    if file.is_dir():
        within = file / "kernel.py"
        meant = pasted(within) if within.is_file() else "FILE"
        raise BadSubmission(f"{file} is a folder.", f"{again} {meant}")
    if not file.is_file():
        raise BadSubmission(f"There is no file {file}.", f"{again} FILE")
    return file


def again_with(file: Path | None) -> str:
    """What a command needs so that it takes the same file again."""
    return f" --file {pasted(near(file))}" if file else ""
