"""`track dev`: what developers of the course run. Needs a clone; `./track dev …` installs the tools first."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import click

from grader.cli.screens import Terminal
from grader.cli.screens.terminal import examples
from grader.course import catalog
from grader.errors import CannotGrade, TrackError, pasted
from tools.downloaded_tools import cohort_home, fetch, fetch_cohort

# Where the person who runs the tests works, and how they call the program, is no business of the tests.
PERSONAL = ("TRACK_COMMAND", "TRACK_HOME")

# The ends of the range that pyproject.toml allows; the pinned one lies between.
TRITONS = "3.6.0", "3.9.0"

rest = click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
passing_on = {"ignore_unknown_options": True}


@click.group()
def dev() -> None:
    """Test, lint and measure the course itself."""


@dev.command(context_settings=passing_on)
@rest
def test(arguments: tuple[str, ...]) -> None:
    """Run the project's tests, on every core. ARGUMENTS go to pytest."""
    if not arguments:
        for version in TRITONS:
            _fetch(version)
        from tools import site as web

        if not web.fetched():
            click.echo("  !!  it could not be fetched; the site's tests are skipped", err=True)
        if not fetch_cohort():
            click.echo("  !!  it could not be fetched; its tests are skipped", err=True)
    raise click.exceptions.Exit(_python("pytest", "-n", "auto", "--dist", "loadgroup", *arguments))


@dev.command()
def lint() -> None:
    """Check style by ruff and types by mypy, as pyproject.toml has it."""
    found = [_python("ruff", "check", "."), _python("mypy")]
    raise click.exceptions.Exit(max(found))


@dev.command(epilog=examples("track dev bench", "track dev bench 1 16 35"))
@click.argument("days", nargs=-1)
@click.option("--cpu", "device", flag_value="cpu", help="On a machine with a GPU, without it.")
def bench(days: tuple[str, ...], device: str | None) -> None:
    """Measure the course's own figures against their targets; of DAYS, where the seconds of a grading go."""
    from tools import grader_benchmark, seconds

    raise click.exceptions.Exit(
        seconds.run(days, "cpu" if device else "auto") if days else grader_benchmark.run()
    )


@dev.command(epilog=examples("track dev new rope --after 15", "track dev new sparse_attention --day"))
@click.argument("slug", required=False)
@click.option(
    "--after", type=click.IntRange(min=1), metavar="N", help="Make an extra that comes after day N."
)
@click.option("--day", is_flag=False, flag_value="next", metavar="[N]", help="Make a day: the next one.")
def new(slug: str | None, after: int | None, day: str | None) -> None:
    """Make the files of an extra or a day; its tests name what is left.

    SLUG is what it is called in every tree, and what the learner types.
    """
    from tools import scaffold

    if slug is None and day and not day.isdecimal():
        slug, day = day, "next"  # `--day SLUG`: it is the name that was meant
    if slug is None:
        raise TrackError("What is it to be called?", "track dev new SLUG --after N")
    planned = scaffold.plan(slug, after, day)
    screen = Terminal(sys.stdout)
    made = scaffold.make(planned, after)
    screen.line((f"{planned.name} has its files:", "bold"))
    for path in made:
        screen.line(str(path.relative_to(catalog.ROOT)), indent=2)
    tests = "tests/test_course.py tests/test_syllabus.py tests/tools/test_solutions_table.py"
    screen.next(f'track dev test {tests} -k "{planned.place} or syllabus or table"', "names what is left")


@dev.command(context_settings=passing_on, add_help_option=False)
@rest
def proof(arguments: tuple[str, ...]) -> None:
    """Grade all that is planted: solutions, laggards, right files, mistakes."""
    raise click.exceptions.Exit(_python("tools.grade_planted", *arguments))


@dev.command(context_settings=passing_on, add_help_option=False)
@rest
def seeds(arguments: tuple[str, ...]) -> None:
    """Try solutions and right files with many seeds; none may fail."""
    raise click.exceptions.Exit(_python("tools.seeds", *arguments))


@dev.command(context_settings=passing_on, add_help_option=False)
@rest
def mutants(arguments: tuple[str, ...]) -> None:
    """Edit right files systematically, and grade each: which wrong ones pass?"""
    raise click.exceptions.Exit(_python("tools.mutation.score", *arguments))


@dev.command(context_settings=passing_on, add_help_option=False)
@rest
def faults(arguments: tuple[str, ...]) -> None:
    """Kill who takes part in a grading, at random; nothing may come of it."""
    raise click.exceptions.Exit(_python("tools.fault_injection.gradings", *arguments))


a_record = click.argument("file", type=click.Path(path_type=Path))


@dev.command(epilog=examples("track dev measured h200.jsonl", "track dev measured h200.jsonl 13 rope"))
@a_record
@click.argument("days", nargs=-1)
@click.option("--jobs", type=click.IntRange(min=1), default=1, help="Compile for so many days at once first.")
def measured(file: Path, days: tuple[str, ...], jobs: int) -> None:
    """Time every planted kernel and its peers on this machine's GPU, into FILE.

    Repeated, it goes on where it was stopped. `track dev predicted --measured FILE`, `table` and `bars` read
    the file on any machine.
    """
    from tools import measure, precompile

    screen = Terminal(sys.stdout)
    chosen = [catalog.find(one) for one in days] or list(catalog.course())
    if jobs > 1:
        precompile.ahead(chosen, jobs)
    for problem in measure.run(file, chosen):
        screen.line(("!! ", "red"), problem)
    screen.next(f"track dev bars {pasted(file)}", "holds the bars against it")


@dev.command(epilog=examples("track dev table", "track dev table h200.jsonl --extras --write"))
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--extras", is_flag=True, help="The page of the extras, solutions/extras/README.md.")
@click.option("--proof", type=click.Path(path_type=Path), help="What `track dev proof --json` wrote.")
@click.option("--write", is_flag=True, help="In place of the page that stands there.")
def table(file: Path | None, extras: bool, proof: Path | None, write: bool) -> None:
    """Say how good every solution is beside its peers, from what `track dev measured` wrote.

    Without FILE it is the one that is kept, tools/measured.jsonl.
    """
    from tools import extras_table, measure, solutions_table

    file = file or measure.KEPT
    place = extras_table.PAGE if extras else solutions_table.PAGE
    text = extras_table.page(file, proof) if extras else solutions_table.page(file)
    if not write:
        return click.echo(text)
    place.write_text(text, encoding="utf-8")
    Terminal(sys.stdout).line(f"Written: {place.relative_to(catalog.ROOT)}")


@dev.command(epilog=examples("track dev peers h200.jsonl --jobs 16", "track dev peers"))
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=4, help="Compile for so many shapes at once first."
)
@click.option("--write", is_flag=True, help="In place of the page that stands there.")
def peers(file: Path | None, jobs: int, write: bool) -> None:
    """Time products and attention in Triton, in Gluon and by libraries, on a Hopper GPU, into FILE.

    Without FILE nothing is timed: the page of what is kept in tools/peers.jsonl.
    """
    from tools import peers as shapes

    if file:
        shapes.run(file, jobs)
    text = shapes.page(file or shapes.KEPT)
    if not write:
        return click.echo(text)
    shapes.PAGE.write_text(text, encoding="utf-8")
    Terminal(sys.stdout).line(f"Written: {shapes.PAGE.relative_to(catalog.ROOT)}")


@dev.command(epilog=examples("track dev bars h200.jsonl", "track dev bars h200.jsonl 13"))
@a_record
@click.argument("days", nargs=-1)
def bars(file: Path, days: tuple[str, ...]) -> None:
    """Hold every speed bar against what `track dev measured` wrote, and say what would fit."""
    from tools import speed_bar_margins

    chosen = [catalog.find(one) for one in days] or list(catalog.course())
    raise click.exceptions.Exit(speed_bar_margins.report(Terminal(sys.stdout), file, chosen))


@dev.command(
    epilog=examples("track dev steady h200_gradings.jsonl", "track dev steady few.jsonl 13 --gradings 5")
)
@a_record
@click.argument("days", nargs=-1)
@click.option("--gradings", type=click.IntRange(min=1), default=20, show_default=True, help="Of each kernel.")
@click.option(
    "--within", type=float, default=math.inf, metavar="X", help="Those nearer to their bar than X times."
)
def steady(file: Path, days: tuple[str, ...], gradings: int, within: float) -> None:
    """Grade the speed of the kernels nearest to each bar again and again, on a GPU: is the verdict the same?

    Each is kept in FILE; repeated, it goes on where it was stopped.
    """
    from tools import steady

    chosen = [catalog.find(one) for one in days] or list(catalog.course())
    raise click.exceptions.Exit(steady.report(Terminal(sys.stdout), file, chosen, gradings, within))


@dev.command(context_settings=passing_on, add_help_option=False)
@rest
def drill(arguments: tuple[str, ...]) -> None:
    """Grade a cohort on Ray while what grades it is killed."""
    if not fetch_cohort():
        raise CannotGrade("Ray could not be fetched.", "track dev drill, with network")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(cohort_home()), str(catalog.ROOT)])
    raise click.exceptions.Exit(_python("tools.fault_injection.cohort", *arguments))


@dev.command(context_settings=passing_on, add_help_option=False)
@rest
def predicted(arguments: tuple[str, ...]) -> None:
    """Hold predicted times against such a file; keep our own."""
    raise click.exceptions.Exit(_python("tools.prediction_accuracy", *arguments))


@dev.command(epilog=examples("track dev site", "track dev site /tmp/site --draw 13 --draw rope"))
@click.argument("out", type=click.Path(path_type=Path), required=False)
@click.option(
    "--draw", "drawn", multiple=True, metavar="DAY", help="Draw this day's solution alone; also: none."
)
def site(out: Path | None, drawn: tuple[str, ...]) -> None:
    """Build the course's web site, into build/site or OUT; drawing every solution takes minutes."""
    from tools import site as web

    screen, target = Terminal(sys.stdout), out or catalog.ROOT / "build" / "site"
    days = [catalog.find(one) for one in drawn if one != "none"] if drawn else catalog.course()
    complaints = web.build(target.resolve(), days, lambda line: click.echo(f"  {line}", err=True))
    for complaint in complaints:
        screen.line(("!! ", "red"), complaint)
    screen.line(f"Built: {target}")
    screen.next(f"python -m http.server --directory {pasted(target)}", "shows it on http://localhost:8000")
    raise click.exceptions.Exit(1 if complaints else 0)


@dev.command(epilog=examples("track dev pictures", "track dev pictures --check"))
@click.option("--check", is_flag=True, help="Write nothing; fail if a file is not as it is drawn.")
def pictures(check: bool) -> None:
    """Draw the picture of each day, and keep its text in the lesson and the home page."""
    from tools.pictures import gallery

    stale = gallery.stale()
    for path, text in stale.items():
        Terminal(sys.stdout).line(f"{'Not as drawn' if check else 'Drawn'}: {path.relative_to(catalog.ROOT)}")
        if not check:
            path.write_text(text, encoding="utf-8")
    if check and stale:
        Terminal(sys.stdout).next("track dev pictures", "draws them anew")
        raise click.exceptions.Exit(1)
    Terminal(sys.stdout).line(f"All {len(gallery.DAYS)} pictures are as they are drawn.")


@dev.command()
def cast() -> None:
    """Record the terminal of README.md anew: two real gradings of day 13, drawn as SVG."""
    from tools import cast

    cast.record()


def home(version: str) -> Path:
    """Where this version of Triton lies, beside the one that is installed: a folder for PYTHONPATH."""
    return Path(sys.prefix) / "tritons" / version


def _fetch(version: str) -> None:
    """Install this version of Triton where only the tests that want it look; without network, do without."""
    if not fetch(home(version), f"Triton {version}", [f"triton=={version}"], "--no-deps"):
        click.echo("  !!  it could not be fetched; its tests are skipped", err=True)


def _python(module: str, *arguments: str) -> int:
    environment = {name: value for name, value in os.environ.items() if name not in PERSONAL}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=catalog.ROOT, env=environment, check=False).returncode
