"""`track cohort`, for those who teach: what students get, and what they are given for it."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

import click

from grader.cli.cohort import cohort, in_db
from grader.cli.screens import Terminal
from grader.cli.screens.terminal import counted, examples, near
from grader.cli.shell_integration import as_json, emit
from grader.course import catalog
from grader.course.learner.workspace import writing
from grader.errors import CannotGrade, TrackError, pasted

__all__ = ["cohort"]
CLASS = Path("class.toml")

of_class = click.option(
    "--class",
    "file",
    type=click.Path(path_type=Path),
    default=CLASS,
    show_default=True,
    help="Roster, due dates, points.",
)


@cohort.command(epilog=examples("track cohort gradebook g.csv", "track cohort gradebook m.csv --for moodle"))
@click.argument("target", metavar="FILE.csv", type=click.Path(path_type=Path))
@in_db
@of_class
@click.option("--for", "form", type=click.Choice(["moodle", "canvas"]), help="Write what it imports.")
@click.option("--days", metavar="8-14,20,rope", help="Write these columns alone.")
def gradebook(
    target: Path, db: Path, file: Path, form: Literal["moodle", "canvas"] | None, days: str | None
) -> None:
    """Write the points of every learner and day into FILE.csv, as a class file says.

    Everybody on the roster has a row, but for who is withdrawn. Exit code 1: something was handed in by
    somebody who is not on the roster.
    """
    from grader.cli.screens import cohort_tables
    from grader.grading.cohort import class_file, store, submission
    from grader.grading.cohort import gradebook as books

    wanted = submission.chosen(days) if days else None
    klass = class_file.read(file)
    with store.reading(db) as kept:
        book = books.gradebook(kept, klass, datetime.now(timezone.utc), wanted)
    books.write(book, target, form)
    options = cohort_tables.of(db) + (f" --class {pasted(near(file))}" if file != CLASS else "")
    options += (f" --for {form}" if form else "") + (f" --days {pasted(days)}" if days else "")
    cohort_tables.gradebook(Terminal(sys.stdout), book, target, form, options, db)
    raise click.exceptions.Exit(1 if book.strangers else 0)


@cohort.command(epilog=examples("track cohort show ann 13", "track cohort show lovelace"))
@click.argument("who")
@click.argument("day", required=False)
@in_db
@as_json
def show(who: str, day: str | None, db: Path, as_json: bool) -> None:
    """Show a verdict as the learner's feedback has it.

    WHO is a learner, or a part of a name or number. Where that can be several, or without DAY, it lists what
    they handed in.
    """
    from grader.cli.screens import cohort_feedback, cohort_tables
    from grader.grading.cohort import store

    wanted = catalog.find(day) if day else None
    with store.reading(db) as kept:
        found = store.meant(kept, who, wanted)
        if not found:
            what = f"{wanted.kind} {wanted.key}" if wanted else "anything"
            raise TrackError(f'Nobody called "{who}" handed in {what}.', "track cohort export all.csv")
        verdict, source = store.verdict_of(kept, found[0].id, found[0].day)
    if len(found) > 1 and as_json:
        emit(found=[asdict(one) for one in found])
    elif len(found) > 1:
        cohort_tables.could_be(Terminal(sys.stdout), found, db)
    elif verdict is None:
        problem = f"What {found[0].id} handed in for day {found[0].day} has no verdict yet."
        raise CannotGrade(problem, "track cohort grade SUBMISSIONS")
    elif as_json:
        emit(**verdict.to_json())
    else:
        day_of = catalog.find(found[0].day)
        cohort_feedback.seen_by_the_learner(Terminal(sys.stdout), day_of, verdict, source)


@cohort.command(epilog=examples("track cohort pages report", "track cohort pages report --class autumn.toml"))
@click.argument("folder", type=click.Path(path_type=Path))
@in_db
@of_class
@click.option("--no-feedback", is_flag=True, help="Leave the learners' files out.")
def pages(folder: Path, db: Path, file: Path, no_feedback: bool) -> None:
    """Write the class page, the leaderboard, and each learner's feedback, into FOLDER.

    The class file gives a title, and says who is withdrawn; without one everybody is shown. feedback.zip has
    the folders as Moodle named them, so that Moodle takes it back as it is.
    """
    from grader.cli.screens import cohort_feedback, cohort_pages
    from grader.grading.cohort import class_file, likeness, store

    if folder.is_file():
        raise TrackError(f"{folder} is a file.", "track cohort pages report")
    klass = class_file.Class() if file == CLASS and not file.exists() else class_file.read(file)
    with store.reading(db) as kept, writing(folder, "track cohort pages report"):
        absent = store.hide_withdrawn(kept, klass.learners)
        folder.mkdir(parents=True, exist_ok=True)
        written = {} if no_feedback else cohort_feedback.write(kept, folder / "feedback")
        links = {key: path.relative_to(folder).as_posix() for key, path in written.items()}
        date, alike = f"{datetime.now():%d %B %Y}", likeness.alike(kept)
        shared = cohort_pages.Report(klass.title, date, absent, links, alike)
        for name, text in cohort_pages.every(kept, shared):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    told = f", and {counted(len(written), 'file')} in feedback/ and feedback.zip" if written else ""
    click.echo(f"{near(folder)}: class.html, leaderboard.html{told}")
    click.echo(f"  {(folder / 'class.html').resolve().as_uri()}")


@cohort.command(epilog=examples("track cohort handout students --days 1-7,13 --without-solutions"))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--days", metavar="1-7,13,rope", help="Hand out these alone.")
@click.option("--without-solutions", is_flag=True, help="Leave our kernels out; the tour keeps its own.")
def handout(folder: Path, days: str | None, without_solutions: bool) -> None:
    """Write what students get into FOLDER: a course that runs by `./track tour`, as this one does."""
    from grader.grading.cohort import student_edition, submission

    wanted = frozenset(catalog.course()) if days is None else submission.chosen(days)
    student_edition.write(folder, wanted, solutions=not without_solutions)
    kinds = Counter(day.kind for day in wanted)
    parts = [counted(number, kind) for kind, number in sorted(kinds.items())]
    kept = "without solutions" if without_solutions else "with solutions"
    out = Terminal(sys.stdout)
    out.line(f"{near(folder)}: {', '.join([*parts, kept])}")
    out.next(f"cd {pasted(near(folder))} && ./track tour", "tries it as a student would")


@cohort.command(epilog=examples("track cohort diff before.db cohort.db"))
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@as_json
def diff(before: Path, after: Path, as_json: bool) -> None:
    """Show which verdicts differ between two databases."""
    from grader.cli.screens import cohort_tables
    from grader.grading.cohort import report, store

    with store.reading(before), store.reading(after) as kept:
        found = report.changes(kept, before)
    if as_json:
        return emit(changes=found)
    cohort_tables.changed(Terminal(sys.stdout), found, after)
