"""`track grade`: one grading, shown and written down, or written as another system's document."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any, Literal

import click

from grader.cli import shell_integration
from grader.cli.autograder_formats import FORMATS
from grader.cli.command_context import chosen, given, note, standing
from grader.cli.screens import Terminal, result
from grader.cli.screens.grading import Grading
from grader.cli.screens.progress import following, gained
from grader.cli.screens.terminal import examples, near
from grader.cli.shell_integration import Words, as_json, as_text, the_day
from grader.course import custom_tasks
from grader.course.catalog import Day
from grader.course.learner import journal, workspace
from grader.course.learner.journal import Progress
from grader.course.learner.workspace import Workspace
from grader.errors import CannotGrade, TrackError, pasted
from grader.verdict import Verdict

Device = Literal["cpu", "gpu"] | None

on_cpu = click.option("--cpu", "device", flag_value="cpu", help="Grade on the CPU; needs no GPU.")
on_gpu = click.option("--gpu", "device", flag_value="gpu", help="Grade on the GPU, with speed.")
OUTPUT = click.Path(path_type=Path, dir_okay=False)
EXPLAIN = 4.0  # seconds that a learner waits for an edit that makes the file right
NO_CLAIM = (
    "No claim was held against torch: that takes a GPU, a kernel that passes, and an exercise that claims "
    "something, such as find_the_bug_flash."
)
SECONDS = click.FloatRange(min=0, min_open=True)
SECONDS.name = "number of seconds"  # as click calls it where a word was typed


@click.command(epilog=examples("track grade", "track grade 13 --cpu", "track grade 13 --file my.py --json"))
@the_day
@on_cpu
@on_gpu
@click.option("--seed", type=shell_integration.SEED, metavar="N", help="Draw the same inputs again.")
@click.option("-k", "only", metavar="CASE", help="Try one case, as a failed grading names it.")
@click.option("--file", type=click.Path(path_type=Path), help="Grade this file; nothing is recorded.")
@click.option("--strict", is_flag=True, help="Confine your code as far as this machine allows.")
@click.option("--limits", is_flag=True, help="Make every limit that a pass is told of a requirement.")
@click.option("--no-explain", is_flag=True, help="Look for no edit that makes your kernel right: faster.")
@click.option("--claims", is_flag=True, help="On a GPU, hold what is claimed of such kernels against torch.")
@click.option(
    "--timeout",
    "--limit",
    "timeout",
    type=SECONDS,
    metavar="SECONDS",
    help="End the grading after so long.",
)
@click.option("--fail-fast", is_flag=True, help="End at the first failure; explain nothing.")
@click.option("--format", type=click.Choice(list(FORMATS)), help="Print what that system reads.")
@click.option("--output", type=OUTPUT, help="Write it, or the JSON, here.")
@as_json
def grade(
    day: Words,
    device: Device,
    file: Path | None,
    no_explain: bool,
    format: str | None,
    output: Path | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Grade your kernel, and say what is wrong with it.

    Without DAY it grades the day you stand in, or last worked on. Of a day with many TODOs that is not right
    yet it says how far each piece is: that one is tried with our code around it, in a few cases.

    DAY may also be the folder of a task of your own: see examples/tasks/README.md.
    """
    if output and not os.access(output.parent, os.W_OK):
        raise TrackError(f"{output} cannot be written: is there such a folder?", "track grade --output FILE")
    wanted = chosen(day, file, custom_tasks.find)
    found = None if file or wanted.kind == "task" else workspace.require()
    again = f"track grade {pasted(wanted.key)} --file"
    path = workspace.submission(found, wanted) if found else given(file, again)
    watcher = sys.stderr if sys.stderr.isatty() else io.StringIO()
    screen = Terminal(watcher if (as_json or format) and not output else sys.stdout)
    asked |= {"device": device or "auto"}
    if not no_explain and not asked["fail_fast"]:
        asked["explain"] = EXPLAIN
    try:
        verdict, _ = graded(screen, wanted, path, found, **asked)
    except KeyboardInterrupt:
        raise click.Abort("Nothing was recorded, your file is untouched.") from None
    document = FORMATS[format](verdict) if format else verdict.to_json()
    if output:
        output.write_text(as_text(document) + "\n", encoding="utf-8")
    elif as_json or format:
        click.echo(as_text(document))
    raise click.exceptions.Exit(verdict.exit_code)


def graded(
    terminal: Terminal, day: Day, path: Path, found: Workspace | None, **asked: Any
) -> tuple[Verdict, bool]:
    """Grades, shows it on `terminal`, and writes it down: the verdict, and whether the journal has it.

    A Ctrl-C leaves the journal as it was.

    Args:
        found: where it is written down; None for a file that is nobody's day.
        asked: as grading.grade.grade has it.

    Raises:
        BadSubmission, CannotGrade: there is no verdict.
    """
    try:
        from grader.grading.grade import grade
    except ImportError as error:
        raise CannotGrade(f"Cannot grade: {error.name or error} is not installed.", "track doctor") from error
    given = "" if found else f" --file {pasted(near(path))}"
    with Grading(terminal, day) as live:
        verdict = grade(day, path, on_event=live, given=given, **asked)
        live.finish(verdict)
    only = asked.get("only")
    recorded = found is not None and note(found, "graded", day, **journal.summary(verdict, only))
    if asked.get("claims") and not verdict.claims:
        terminal.line(NO_CLAIM)
    passed, brought = None, list[str]()
    if found:
        here = standing()
        after = {**here.progress, day.key: Progress(on_cpu=True, on_gpu=True)}
        passed = following(after, day) if recorded else (f"track grade {day.key}", "once it can be recorded")
        brought = gained(here.progress, day, here.journal.records) if recorded else []
    told = {"only": only, "limits": asked.get("limits", False)}
    result.show(terminal, verdict, path, passed=passed, recorded=recorded, gained=brought, **told)
    return verdict, recorded
