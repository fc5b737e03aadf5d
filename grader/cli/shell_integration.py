"""Between the shell and the commands: suggestions, completion, exit codes, one line for whatever fails."""

from __future__ import annotations

import contextlib
import difflib
import errno
import importlib
import json
import math
import os
import re
import shlex
import signal
import sys
import tempfile
import traceback
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from grader.cli.screens import Terminal, day_pages
from grader.course import catalog
from grader.course.learner import workspace
from grader.errors import CannotGrade, TrackError
from grader.verdict import EXIT_CANNOT_GRADE, EXIT_USAGE, SCHEMA

EXIT_STOPPED = 130
# What a machine has run out of, where no command knows better what to say.
SPENT = {
    errno.EMFILE: ("Too many files are open at once for this shell's limit.", "ulimit -n 1024"),
    errno.ENFILE: ("Too many files are open on this machine.", "End what opens so many."),
    errno.ENOSPC: ("The disk is full.", "Free some space and repeat the command."),
    errno.EDQUOT: ("Your quota of the disk is used up.", "Free some space and repeat the command."),
    errno.ENOMEM: ("There is not enough memory.", "Close other programs and repeat the command."),
    errno.EAGAIN: ("No more processes can be started.", "Close other programs and repeat the command."),
}
# What those who come from elsewhere type: rustlings verifies, others check.
ELSEWHERE = {
    **dict.fromkeys(("test", "check", "verify", "run", "submit"), "grade"),
    **dict.fromkeys(("next", "begin"), "start"),
}
MOVING = {"reset", "restore", "upgrade"}  # files: to be typed, not to be guessed


class Commands(click.Group):
    """The commands in the order in which a learner meets them; `dev` is imported only when asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, "dev"]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name != "dev":
            return super().get_command(ctx, name)
        try:
            group: click.Group = importlib.import_module("tools.commands").dev
        except ModuleNotFoundError:
            return None
        return group

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name == "dev" and self.get_command(ctx, name) is None:
            raise CannotGrade("This is an installed copy, without the tests.", "In a clone: ./track dev test")
        if self.get_command(ctx, name) is None and not name.startswith("-") and not ctx.resilient_parsing:
            if name.isdecimal() or name.lower().startswith("day"):
                catalog.find(" ".join(args))  # which day there is none of says more
            raise TrackError(f'There is no command "{name}".', self._meant(args))
        return super().resolve_command(ctx, args)

    def _meant(self, args: list[str]) -> str:
        begun = [name for name in self.commands if name.startswith(args[0].lower())]
        likely = set(self.commands) - MOVING
        close = begun or difflib.get_close_matches(args[0].lower(), likely, n=1)
        meant = ELSEWHERE.get(args[0].lower()) or next(iter(close), "")
        if meant:
            return shlex.join(["track", meant, *args[1:]])
        with contextlib.suppress(TrackError):
            return f"track start {catalog.find(' '.join(args)).key}"
        if os.path.exists(args[0]):
            return shlex.join(["track", "grade", *args])
        return "track --help"


def complete_day(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Days by topic (`soft<Tab>`), by number and by folder name; extras by name."""
    found = []
    for day in catalog.course():
        name = next((n for n in (day.slug, str(day.key), day.stem) if n.startswith(incomplete.lower())), None)
        if name:
            found.append(CompletionItem(name, help=f"{day.kind} {day.key}: {day.title}"))
    return found


Words = tuple[str, ...]

SEED = click.IntRange(0, 2**31 - 1)
SEED.name = "whole number"  # as click calls it where a word was typed
the_day = click.argument("day", nargs=-1, shell_complete=complete_day)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document, no screen.")


def emit(**document: Any) -> None:
    """Prints the one JSON document of a `--json` run."""
    click.echo(as_text({"schema": SCHEMA, **document}))


def as_text(document: dict[str, Any]) -> str:
    """A JSON document; figures JSON has no word for become strings."""
    return json.dumps(_finite(document), indent=2)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def run(group: click.Group, args: list[str] | None = None) -> NoReturn:
    """Runs the command line and exits: 0 passed, 1 not yet, 2 usage, 3 could not grade, 130 stopped."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _ended)
    args = sys.argv[1:] if args is None else args
    try:
        code = group.main(args, prog_name="track", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt) as end:
        if isinstance(end.__cause__, EOFError):  # which click takes for a Ctrl-D, wherever it comes from
            code = _problem(_as_track_error(end.__cause__, ""), args)
        else:
            _stopped(args, str(end))
            code = EXIT_STOPPED
    except click.exceptions.NoArgsIsHelpError as help:
        click.echo(help.format_message(), err=True)
        code = EXIT_USAGE
    except Exception as error:
        code = _problem(_as_track_error(error, _typed(group, args)), args)
    sys.exit(code if isinstance(code, int) else 0)


def _ended(number: int, frame: object) -> NoReturn:
    """A kill leaves by the same door as the end, so the terminal and the child processes are put in order."""
    raise SystemExit(128 + number)


def _typed(group: click.Group, args: list[str]) -> str:
    """The command that was typed, without what follows it: `track cohort grade`."""
    typed, command = "track", group
    for name in args:
        found = command.get_command(click.Context(command), name)
        if found is None:
            break
        typed = f"{typed} {name}"
        if not isinstance(found, click.Group):
            break
        command = found
    return typed


def _as_track_error(error: Exception, typed: str) -> TrackError:
    if isinstance(error, TrackError):
        return error
    if isinstance(error, click.ClickException):
        return TrackError(error.format_message(), f"{typed} --help")
    if isinstance(error, FileNotFoundError) and "temporary directory" in str(error):  # tempfile's own words
        return CannotGrade("No temporary file can be written anywhere.", "Free some space, or set TMPDIR.")
    if isinstance(error, OSError) and error.errno in SPENT:
        return CannotGrade(*SPENT[error.errno])
    return Crash(error)


class Crash(TrackError):
    """A bug of ours: one line and a file with the rest."""

    exit_code = EXIT_CANNOT_GRADE

    def __init__(self, error: Exception) -> None:
        kind = re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:200]
        details = _log(error)
        fix = f"Please report it with {details}" if details else "Free some space and repeat the command."
        super().__init__(f"Triton Track itself failed: {kind}", fix)


def _log(error: Exception) -> Path | None:
    """Writes the traceback beside the journal, or where temporary files go; None where neither takes it."""
    name = f"crash-{datetime.now().strftime('%Y-%m-%d_%H-%M-%S')}-{os.getpid()}.log"
    text = " ".join(sys.argv) + "\n\n" + "".join(traceback.format_exception(error))
    with contextlib.suppress(Exception):
        found = workspace.find()
        path = (found.hidden / "logs" if found else Path(tempfile.gettempdir())) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
        return path
    return None


def _problem(error: TrackError, args: list[str]) -> int:
    if "--json" in args:
        emit(error={"problem": error.problem, "fix": error.fix})
    with contextlib.suppress(OSError, ValueError):
        day_pages.error(Terminal(sys.stderr), error)
    return error.exit_code if error.exit_code else EXIT_USAGE


def _stopped(args: list[str], kept: str) -> None:
    """Says that Ctrl-C ended a command, what it leaves behind if the command knows, and how to repeat it."""
    with contextlib.suppress(OSError, ValueError):
        screen = Terminal(sys.stderr)
        if kept:  # where it is empty, click has begun a line behind the terminal's ^C
            screen.line()
        screen.line(f"Stopped. {kept}".rstrip())
        screen.next(shlex.join(["track", *args]))
