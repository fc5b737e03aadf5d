"""`track cohort collect`: what was handed in, found and sorted; and the options that say how to find it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from grader.cli.screens import Terminal
from grader.cli.screens.terminal import examples
from grader.cli.shell_integration import as_json, emit
from grader.errors import pasted

if TYPE_CHECKING:
    from grader.grading.cohort.submission_formats import HandIn

LAYOUTS = ("moodle", "canvas", "gradescope", "classroom", "plain")
Command = Callable[..., Any]


def handed_in(command: Command) -> Command:
    """The argument and the options that say what was handed in."""
    told = "A regular expression for paths: its named group learner says whose a file is; also day and time."
    layout = click.option(
        "--layout", type=click.Choice(LAYOUTS), help="How it is laid out. Else the names tell."
    )
    match = click.option("--match", metavar="REGEX", help=told)
    days = click.option("--days", metavar="8-14,20,rope", help="Grade these alone.")
    return click.argument("submissions")(layout(match(days(command))))


def read(submissions: str, layout: str | None, match: str | None, days: str | None) -> HandIn:
    """What was handed in, as these options say it.

    Raises:
        TrackError: one of them, or SUBMISSIONS, cannot be read.
    """
    from grader.grading.cohort import submission, submission_formats

    wanted = None if days is None else submission.chosen(days)
    return submission_formats.read(submissions, layout, match, wanted)


@click.command(
    epilog=examples(
        "track cohort collect homework/",
        "track cohort collect moodle.zip --days 13",
        "track cohort collect week2/ --match '(?P<learner>\\w+)_day(?P<day>\\d+)'",
    )
)
@handed_in
@as_json
def collect(submissions: str, layout: str | None, match: str | None, days: str | None, as_json: bool) -> None:
    """Show which files of SUBMISSIONS are graded, for whom and which day, and why the others are not.

    SUBMISSIONS is what Moodle, Canvas, Gradescope or GitHub Classroom hand out, a folder with a folder or
    zip for each learner, or a zip of any of these. Nothing is graded.
    Exit code 1: a file that is not graded looks like work.
    """
    from grader.cli.screens import cohort_collected
    from grader.grading.cohort.submission import Submission

    found = read(submissions, layout, match, days)
    graded, left = [], []
    for one in found.items:
        if isinstance(one, Submission):
            time = one.when and one.when.astimezone().isoformat(timespec="seconds")
            row = {"id": one.id, "day": one.day.key, "time": time, "size": len(one.source), "path": one.where}
            graded.append(row)
        else:
            left.append(one)
    if as_json:
        not_graded = [asdict(one) for one in left]
        emit(layout=found.layout, around=found.around, graded=graded, not_graded=not_graded)
    else:
        options = {"--layout": layout, "--match": match, "--days": days}
        given = [f" {name} {pasted(value)}" for name, value in options.items() if value is not None]
        again = f"track cohort grade {pasted(submissions)}{''.join(given)}"
        cohort_collected.show(Terminal(sys.stdout), found, graded, left, again)
    raise click.exceptions.Exit(1 if any(one.work for one in left) else 0)
