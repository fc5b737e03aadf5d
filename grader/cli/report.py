"""`track report`: the learner's progress as one page."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from grader.cli.bench import KEPT
from grader.cli.benchmark import results
from grader.cli.benchmark.results import Result
from grader.cli.command_context import required, standing
from grader.cli.screens import Terminal, day_pages
from grader.cli.screens.report import Report, page
from grader.cli.screens.terminal import examples
from grader.cli.shell_integration import as_json, emit
from grader.course.learner.history import best_speeds, daily
from grader.course.learner.workspace import writing
from grader.errors import TrackError, pasted

PAGE = "report.html"
SIGN = b'content="track report"'


@click.command(epilog=examples("track report", "track report --open", "track report --out ~/progress.html"))
@click.option("--out", type=click.Path(path_type=Path), help="Write the page here.")
@click.option("--open", "opened", is_flag=True, help="Open it in a browser.")
@as_json
def report(out: Path | None, opened: bool, as_json: bool) -> None:
    """Write your progress as one page that opens offline.

    The days, your best speeds beside what is asked for, your gradings over time, and what `track bench`
    measured.
    """
    found, here = required(), standing()
    target = _target(out or found.hidden / PAGE)
    records = here.journal.records
    bench = _benched(found.hidden / KEPT)
    text = page(Report(here.progress, best_speeds(records), daily(records), bench))
    partial = target.with_name(f".{os.getpid()}-{target.name}")
    with writing(target, f"track report --out ~/{pasted(target.name)}"):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_text(text, encoding="utf-8")
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    if as_json:
        return emit(page=str(target.resolve()))
    day_pages.reported(Terminal(sys.stdout), target, bool(bench), here.next)
    if opened and click.launch(str(target.resolve())):
        raise TrackError(f"Nothing here opens {target.name}.", "Open the link above in a browser.")


def _target(out: Path) -> Path:
    """Where the page goes; into a folder by a name of its own.

    Raises:
        TrackError: what stands there is the learner's.
    """
    target = out / PAGE if out.is_dir() else out
    if target.is_file() and SIGN not in target.read_bytes():
        other = target.with_stem(f"{target.stem}-progress")
        raise TrackError(
            f"{target} is not from `track report`, so it stays as it is.",
            f"track report --out {pasted(other)}",
        )
    return target


def _benched(path: Path) -> list[Result]:
    """What a bench measured on the GPU that was last at work."""
    kept = results.read(path)
    return kept.newest(list(kept.machines)[-1]) if kept.machines else []
