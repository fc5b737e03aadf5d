"""`track solution`, `diff`, `reset`, `restore`, `upgrade`: your kernel beside ours and beside what it was."""

from __future__ import annotations

import sys

import click

from grader.cli.command_context import chosen, note, standing
from grader.cli.screens import Terminal, day_pages
from grader.cli.screens.terminal import examples
from grader.cli.shell_integration import Words, as_json, emit, the_day
from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner import handout, trash, workspace
from grader.errors import TrackError


@click.command(epilog=examples("track solution", "track solution 13 --yes > solution.py"))
@the_day
@click.option("--yes", is_flag=True, help="Do not ask before showing it ahead of a pass.")
@click.option("--fast", is_flag=True, help="The tuned one, of a day that has two.")
def solution(day: Words, yes: bool, fast: bool) -> None:
    """Read our solution: freely after a pass, after one question before."""
    found, wanted = workspace.require(), chosen(day)
    wanted.required_solution()
    if fast and not wanted.fast_solution.is_file():
        problem = f"{wanted.name} has one solution: nothing of it was tuned apart."
        raise TrackError(problem, f"track solution {wanted.key}")
    made = standing().of(wanted)
    if not made.done and not made.solution:
        if not (yes or _agreed(wanted)):
            return Terminal(sys.stderr).next(f"track hint {wanted.key}", "the solution stays closed")
        note(found, "solution", wanted)
    day_pages.solution(Terminal(sys.stdout), Terminal(sys.stderr), wanted, fast)


def _agreed(day: Day) -> bool:
    if not sys.stdin.isatty():
        raise TrackError(f"{day.name} has not passed yet.", f"track solution {day.key} --yes")
    return click.confirm(f"{day.name} has not passed yet. Show the solution anyway?", err=True)


@click.command(epilog=examples("track diff", "track diff 13 --solution"))
@the_day
@click.option("--solution", "against", is_flag=True, help="Compare with our solution, after a pass.")
def diff(day: Words, against: bool) -> None:
    """Show what you changed since the skeleton."""
    found, wanted = workspace.require(), chosen(day)
    mine = workspace.submission(found, wanted)
    here = standing()
    made = here.of(wanted)
    if against and not (made.done or made.solution):
        raise TrackError(f"{wanted.name} has not passed yet.", f"track grade {wanted.key}")
    other = wanted.required_solution() if against else found.handed_out(wanted)
    day_pages.diff(Terminal(sys.stdout), Terminal(sys.stderr), wanted, other, mine, here.passed(wanted))


@click.command(epilog=examples("track reset", "track reset 13"))
@the_day
@as_json
def reset(day: Words, as_json: bool) -> None:
    """Start a day afresh; `restore` brings your work back.

    It moves to .track/trash/, nothing is deleted, and what has passed stays passed.
    """
    found, wanted = workspace.require(), chosen(day)
    put = trash.reset(found, wanted)
    note(found, "reset", wanted)
    if as_json:
        return emit(day=wanted.key, trash=str(put), kernel=str(found.kernel(wanted)))
    earlier = bool(trash.put_away(found, wanted))
    day_pages.was_reset(
        Terminal(sys.stdout), found, wanted, put, trash.worked_on(found, wanted, put), earlier
    )


@click.command(epilog=examples("track restore", "track restore 13"))
@the_day
@as_json
def restore(day: Words, as_json: bool) -> None:
    """Bring back the work that the last reset moved away.

    What stands there now moves to .track/trash/ in its place: a second restore swaps them again.
    """
    found, wanted = workspace.require(), chosen(day)
    put = trash.restore(found, wanted)
    note(found, "restored", wanted)
    if as_json:
        kernel = str(found.kernel(wanted))
        return emit(day=wanted.key, kernel=kernel, trash=str(put) if put else None)
    both = put is not None and trash.worked_on(found, wanted, put)
    day_pages.was_restored(Terminal(sys.stdout), found, wanted, put, both)


@click.command(epilog=examples("track upgrade", "track upgrade --yes", "track upgrade 13"))
@the_day
@click.option("--yes", is_flag=True, help="Do it.")
@as_json
def upgrade(day: Words, yes: bool, as_json: bool) -> None:
    """Say what a newer course would change in the days you started.

    Without --yes nothing changes. Your lines are never lost: a file that you changed stays as it is, and what
    the course changed in it is shown.
    """
    found = workspace.require()
    days = [chosen(day)] if day else catalog.course()
    news = {one: fates for one in days if (fates := handout.foretell(found, one))}
    if yes:
        for one in news:
            handout.start(found, one)
    if as_json:
        return emit(applied=yes, days={one.key: fates for one, fates in news.items()})
    out = Terminal(sys.stdout)
    if not news:
        of = days[0].name if day else "the days you started"
        out.line(f"The course has nothing newer for {of}.")
        return out.next(*standing().next)
    day_pages.upgrades(out, news, yes)
    for one, fates in news.items():
        for name in [name for name, fate in fates.items() if fate == "yours"]:
            file = handout.files(found, one)[name]
            day_pages.changed(out, one, name, file)
            if yes:
                file.accept()
    out.next(*(standing().next if yes else (" ".join(["track upgrade", *day, "--yes"]), "does that")))
