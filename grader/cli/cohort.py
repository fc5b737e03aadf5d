"""`track cohort`: what a class or a contest handed in, graded on Ray."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.screens import Terminal
from grader.cli.screens.terminal import counted, examples, near
from grader.cli.shell_integration import SEED, as_json, emit
from grader.errors import CannotGrade, pasted

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


# Each command imports what it needs: `track status` has no use for SQL or Ray.


in_db = click.option(
    "--db",
    type=click.Path(path_type=Path),
    default=Path("cohort.db"),
    show_default=True,
    help="The database.",
)


@click.group(epilog=examples("track cohort grade homework/", "track cohort pages report"))
def cohort() -> None:
    """Grade what a class or a contest handed in.

    On as many machines as there are. Verdicts go to a database. Started again it grades only what is missing.
    """


@cohort.command(
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


@cohort.command(
    epilog=examples(
        "track cohort grade homework/",
        "track cohort grade week2.zip --days 8-14",
        "track cohort grade - < a.jsonl",
    )
)
@handed_in
@in_db
@click.option(
    "--ray",
    "address",
    default="local",
    show_default=True,
    metavar="local|auto|ADDRESS",
    help="Start a Ray on this machine, or use the cluster that is there.",
)
@click.option("--gpus", is_flag=True, help="Grade on GPUs, one grading on each; speed is measured.")
@click.option("--strict/--no-strict", default=True, help="Confine the code as far as each machine allows.")
@click.option("--explain", is_flag=True, help="Look for an edit that mends each wrong file.")
@click.option("--seed", type=SEED, metavar="N", help="Draw the same inputs for all.")
def grade(
    submissions: str, layout: str | None, match: str | None, days: str | None, db: Path, address: str,
    gpus: bool, strict: bool, explain: bool, seed: int | None,
) -> None:  # fmt: skip
    """Grade SUBMISSIONS: what a learning platform hands out, a folder or zip for each learner, or JSON lines.

    A learner's folder holds day13.py and the like, or a my-track as it stands. A line is
    {"id": "ann", "day": 13, "source": "..."}; - reads them from stdin.
    What is not graded and looks like work is named, and the rest is graded. Exit code 0: everything has a
    verdict. `track cohort collect` shows beforehand what is graded.
    """
    import sqlite3

    from grader.cli.grade import EXPLAIN
    from grader.cli.screens import cohort_collected, cohort_tables
    from grader.grading.cohort import ray_backend
    from grader.grading.cohort.grading_queue import Feed
    from grader.grading.cohort.store import Store, reading

    found = read(submissions, layout, match, days)
    if found.layout != "lines":
        click.echo(cohort_collected.layout(found), err=True)
    try:
        with ray_backend.cluster(address) as ray, cohort_tables.Progress(Terminal(sys.stderr)) as live:
            options = {"seed": seed, "explain": EXPLAIN * explain}
            private = _private(Path(submissions), db)
            graders = ray_backend.Graders(ray, "gpu" if gpus else "cpu", options, private)
            with Store(db, graders.conditions(strict)) as store:
                tally = Feed(store, graders, live).all(found.items)
    except KeyboardInterrupt:
        raise click.Abort("The verdicts so far are kept; the same command goes on from there.") from None
    except sqlite3.OperationalError as error:
        fix = "Mend that, and the same command goes on from there."
        raise CannotGrade(f"{db} cannot be written: {error}.", fix) from error
    except sqlite3.DatabaseError as error:
        fix = "track cohort grade SUBMISSIONS --db FILE"
        raise CannotGrade(f"{db} cannot be read: {error}.", fix) from error
    with reading(db) as kept:
        cohort_tables.graded(Terminal(sys.stdout), tally, kept, db)
    raise click.exceptions.Exit(1 if tally.troubles else 0)


def _private(submissions: Path, db: Path) -> tuple[str, ...]:
    """What no code that is graded may read: what was handed in, verdicts, and the folders of both."""
    from grader.grading.cohort.store import files_of

    source = submissions.resolve()
    around = (source.parent,) if source.is_file() else ()
    return tuple(str(path) for path in (source, *around, *files_of(db)))


@cohort.command(epilog=examples("track cohort status", "track cohort status --json"))
@in_db
@as_json
def status(db: Path, as_json: bool) -> None:
    """Show what has a verdict and what not, day by day; also while a run goes on."""
    from grader.cli.screens import cohort_tables
    from grader.grading.cohort import report, store

    with store.reading(db) as kept:
        if as_json:
            days = [asdict(one) | {"stopped": one.stopped} for one in report.by_day(kept)]
            return emit(days=days, troubles=[asdict(one) for one in store.troubles(kept)])
        cohort_tables.status(Terminal(sys.stdout), kept, db)


@cohort.command(epilog=examples("track cohort export results.csv", "track cohort export results.jsonl"))
@click.argument("file", type=click.Path(path_type=Path))
@in_db
def export(file: Path, db: Path) -> None:
    """Write every submission with its verdict into FILE: .csv, or .jsonl with whole verdicts."""
    from grader.grading.cohort import export as exporting
    from grader.grading.cohort import store

    with store.reading(db) as kept:
        number = exporting.export(kept, file)
    click.echo(f"{near(file)}: {counted(number, 'row')}")
