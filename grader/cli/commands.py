"""The commands of `track`, each a few lines over the library."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from grader.cli import shell_integration
from grader.cli.bench import bench
from grader.cli.cohort_teaching import cohort
from grader.cli.command_context import chosen, note, open_hint, standing, upcoming
from grader.cli.grade import Device, grade, on_cpu, on_gpu
from grader.cli.hand_in import hand_in
from grader.cli.inspect_commands import inspect, show
from grader.cli.notebook import notebook
from grader.cli.python_command import python
from grader.cli.report import report
from grader.cli.screens import Terminal, day_pages, progress
from grader.cli.screens.terminal import examples, lasting
from grader.cli.shell_integration import Words, as_json, emit, the_day
from grader.cli.solution_commands import diff, reset, restore, solution, upgrade
from grader.course import catalog
from grader.course.learner import handout, workspace
from grader.verdict import EXIT_CANNOT_GRADE, EXIT_PASSED
from grader.version import __version__

COMPLETION = f"""\b
Tab completion (days complete by name, too):
  bash  eval "$(_TRACK_COMPLETE=bash_source {lasting()})"   in ~/.bashrc
  zsh   eval "$(_TRACK_COMPLETE=zsh_source {lasting()})"    in ~/.zshrc
  fish  _TRACK_COMPLETE=fish_source {lasting()} | source    in ~/.config/fish/config.fish
\b
Your work lies in my-track/, where you first typed start.
From elsewhere a clone's ./track finds the clone's.
Another place for it, before the first start: export TRACK_HOME=~/kernels
\b
Exit codes: 0 passed, 1 not yet, 2 usage, 3 could not grade, 130 stopped."""

HELP = f"Triton Track: {len(catalog.days())} days of GPU kernels, graded on this machine."
HELP += "\n\nWithout a command it says where you are and what comes next."

# A clone, or the package that was installed: which of several courses on a machine answers.
WHERE = str(catalog.PACKAGE.parent).replace("%", "%%")


@click.group(cls=shell_integration.Commands, invoke_without_command=True, epilog=COMPLETION, help=HELP)
@click.version_option(__version__, prog_name="track", message=f"%(prog)s, version %(version)s, from {WHERE}")
@click.pass_context
def track(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        here = standing()
        root = here.workspace.root if here.workspace else None
        newer = handout.outdated(here.workspace) if here.workspace else []
        progress.where(Terminal(sys.stdout), root, here.progress, here.current, newer)


@track.command("tour", epilog=examples("track tour"))
def play() -> None:
    """Watch one day being graded, from skeleton to pass.

    Works on a scratch copy: nothing of yours is touched.
    """
    from grader.cli import tour

    raise click.exceptions.Exit(tour.run(track))


@track.command(epilog=examples("track start 1", "track start day 13", "track start softmax"))
@the_day
@as_json
def start(day: Words, as_json: bool) -> None:
    """Get a day's lesson and skeleton, or resume it.

    DAY is 13, day13, "day 13" or a topic such as softmax; without it, the next one.
    Your work is never overwritten.
    """
    here = standing()
    wanted = catalog.find(" ".join(day)) if day else upcoming(here)
    found = workspace.create()
    resumed = found.kernel(wanted).exists() or here.of(wanted).started
    fates = handout.start(found, wanted)
    note(found, "started", wanted)
    if as_json:
        return emit(day=wanted.key, kernel=str(found.kernel(wanted)), resumed=resumed, files=fates)
    day_pages.started(Terminal(sys.stdout), found, wanted, fates, resumed)


@track.command(epilog=examples("track lesson", "track lesson 13 > softmax.md", "track lesson --words"))
@the_day
@click.option("--words", is_flag=True, help="Read the glossary instead: every word, and the day it is from.")
def lesson(day: Words, words: bool) -> None:
    """Read a day's lesson."""
    if words:
        return day_pages.glossary(Terminal(sys.stdout), standing().next)
    wanted = chosen(day)
    day_pages.lesson(Terminal(sys.stdout), wanted, standing().after_reading(wanted))


track.add_command(grade)


@track.command(epilog=examples("track watch", "track watch 13 --cpu"))
@the_day
@on_cpu
@on_gpu
def watch(day: Words, device: Device) -> None:
    """Grade again whenever you save.

    Keys: g grade, h hint, n next day, q quit.
    """
    from grader.cli import watch as watching

    raise click.exceptions.Exit(watching.run(workspace.require(), chosen(day), device or "auto"))


@track.command(epilog=examples("track hint", "track hint 13", "track hint 13 --again"))
@the_day
@click.option("--again", is_flag=True, help="Show the hints you already opened, and no new one.")
@as_json
def hint(day: Words, again: bool, as_json: bool) -> None:
    """Open one more hint: a nudge, an approach, then code.

    It also tells what the screen of the last grading keeps to itself: in a bug hunt the diagnosis, and with
    the last hint the edit that makes your kernel right, where one was found.
    """
    found, wanted = workspace.require(), chosen(day)
    opened, here = open_hint(found, wanted, again), standing()
    if as_json:
        untold = {"diagnosis": here.untold(wanted)} if here.untold(wanted) else {}
        hints = [{"tier": tier, "text": text} for tier, text in opened.items()]
        return emit(day=wanted.key, hints=hints, **untold)
    begun = found.kernel(wanted).is_file()
    then = here.passed(wanted) or (None if begun else (f"track start {wanted.key}", ""))
    day_pages.hint(Terminal(sys.stdout), wanted, opened, then, here.untold(wanted))


track.add_command(solution)
track.add_command(diff)


@track.command(epilog=examples("track status", "track status --all", "track status --json"))
@click.option("--all", "every", is_flag=True, help="Show every day, and the extras.")
@as_json
def status(every: bool, as_json: bool) -> None:
    """Show your progress: the week at hand day by day, the others in a line each."""
    here = standing()
    if as_json:
        return emit(**here.report())
    progress.status(Terminal(sys.stdout), here.progress, here.current, here.journal.skipped, every)


@track.command("list", epilog=examples("track list", "track list --extras", "track list --json"))
@click.option("--extras", "extras_alone", is_flag=True, help="List the extras alone, pack by pack.")
@as_json
def list_days(extras_alone: bool, as_json: bool) -> None:
    """List the days and the extras, and the names they answer to."""
    here = standing()
    if as_json:
        return emit(**here.report())
    progress.listing(Terminal(sys.stdout), here.progress, here.current, extras_alone)


track.add_command(reset)
track.add_command(restore)
track.add_command(upgrade)


@track.command(epilog=examples("track doctor", "track doctor --json"))
@as_json
def doctor(as_json: bool) -> None:
    """Check this machine: Python, torch, Triton, GPU, disk."""
    from grader.course.setup import doctor

    findings = doctor.doctor()
    fine = all(one.ok is not False for one in findings)
    if as_json:
        emit(ok=fine, findings=[asdict(one) for one in findings])
    else:
        day_pages.doctor(Terminal(sys.stdout), findings)
    raise click.exceptions.Exit(EXIT_PASSED if fine else EXIT_CANNOT_GRADE)


for command in (inspect, show, bench, report, python, notebook, hand_in, cohort):
    track.add_command(command)


def main() -> None:
    """The `track` command and `python -m grader`."""
    shell_integration.run(track)


if __name__ == "__main__":
    main()
