"""`track report`: the learner's progress as one page."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.cli import page_file
from grader.cli.bench import KEPT
from grader.cli.benchmark import results
from grader.cli.benchmark.results import Result
from grader.cli.command_context import standing
from grader.cli.screens import Terminal, day_pages
from grader.cli.screens.report import page
from grader.cli.screens.terminal import examples
from grader.cli.shell_integration import as_json, emit
from grader.course.learner import workspace

PAGE = "report.html"


@click.command(epilog=examples("track report", "track report --open", "track report --out ~/progress.html"))
@click.option("--out", type=click.Path(path_type=Path), help="Write the page here.")
@click.option("--open", "opened", is_flag=True, help="Open it in a browser.")
@as_json
def report(out: Path | None, opened: bool, as_json: bool) -> None:
    """Write your progress as one page that opens offline.

    The days, your speeds beside what is asked for, and what `track bench` measured.
    """
    found, here = workspace.require(), standing()
    again = "track report --out"
    target = page_file.target(out or found.hidden / PAGE, PAGE, "track report", again)
    bench = _benched(found.hidden / KEPT)
    text = page(here.progress, bench)
    page_file.write(target, text.encode(), again)
    if as_json:
        return emit(page=str(target.resolve()))
    day_pages.reported(Terminal(sys.stdout), target, bool(bench), here.next)
    if opened:
        page_file.launch(target)


def _benched(path: Path) -> list[Result]:
    """What a bench measured on the GPU that was last at work."""
    kept = results.read(path)
    return kept.newest(list(kept.machines)[-1]) if kept.machines else []
