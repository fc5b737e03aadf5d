"""`track bench`: the learner's kernel and ours beside torch, torch.compile and libraries, over sizes."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli import page_file
from grader.cli.command_context import again_with, chosen, given, standing
from grader.cli.screens import Terminal
from grader.cli.screens.terminal import examples, near
from grader.cli.shell_integration import Words, as_json, emit, the_day
from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner import workspace
from grader.errors import BadSubmission, CannotGrade, TrackError, pasted

if TYPE_CHECKING:
    from grader.cli.benchmark.client import Bench, Wish

KEPT = "bench.jsonl"  # in our corner of the workspace


@click.command(
    epilog=examples(
        "track bench 13", "track bench 13 --mine", "track bench 17 --sizes 1000,4096 --plot m.html"
    )
)
@the_day
@click.option("--all", "every", is_flag=True, help="Without DAY every day; with it all dtypes at all sizes.")
@click.option("--mine", is_flag=True, help="Time your kernel alone; the others' times are those kept.")
@click.option("--sizes", default="", metavar="N,N", help="These sizes, or cols=N,N; `bar`: the graded one.")
@click.option("--file", type=click.Path(path_type=Path), help="Time this file as yours.")
@click.option("--again", is_flag=True, help="Measure anew what was kept.")
@click.option("--out", type=click.Path(path_type=Path), help="Keep the results in this file.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw them on a page: a .html.")
@as_json
def bench(
    day: Words,
    every: bool,
    mine: bool,
    sizes: str,
    file: Path | None,
    again: bool,
    out: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Time your kernel and ours beside torch and libraries.

    Over sizes and dtypes, as shares of what this GPU could do at best. It is no grading. Stopped by Ctrl-C it
    keeps what it has, and goes on when you repeat it.
    """
    days = list(catalog.course()) if every and not day else [chosen(day, file)]
    if file and len(days) > 1:
        raise TrackError("One file is no kernel of every day.", f"track bench DAY --file {pasted(file)}")
    if file:
        given(file, f"track bench {days[0].key} --file")
    alone = mine and len(days) == 1
    files = {one: file or _mine(one, needed=alone) for one in days}
    from grader.grading.grade import choose_device

    if choose_device("auto") == "cpu":
        problem = "There is no GPU here: nothing can be measured. `track inspect` predicts."
        raise CannotGrade(problem, f"track inspect {days[0].key}{again_with(file)}")
    from grader.cli.benchmark.client import Wish

    yours = {str(one.key): {"yours": str(path.resolve())} if path else {} for one, path in files.items()}
    wish = Wish(yours, sizes, every and bool(day), "yours" if mine else "", again)
    redraw = f"track bench {days[0].key} --plot"
    page = page_file.target(plot, f"{days[0].stem}-bench.html", "track bench", redraw) if plot else None
    run = _measured(wish, out or workspace.create().hidden / KEPT)
    if page:
        from grader.cli.screens.report import plots

        drawn = plots(run.asked)
        if not drawn:
            problem = "There is nothing to plot: each dtype has one size alone."
            raise TrackError(problem, "track bench DAY --all")
        page_file.write(page, drawn.encode(), redraw)
    if as_json:
        return emit(
            evidence="measured", machine=asdict(run.machine), results=[asdict(one) for one in run.asked]
        )
    from grader.cli.screens import bench as screen

    following = f"track {'grade' if files[days[0]] else 'start'} {days[0].key}{again_with(file)}"
    screen.table(Terminal(sys.stdout), run.asked, run.machine, run.missing, run.file, following)


def _mine(day: Day, needed: bool = False) -> Path | None:
    """The learner's file of a day, if it can be timed.

    Raises:
        TrackError: there is none, and it is needed.
    """
    from grader.grading.precheck import precheck

    found = workspace.require() if needed else standing().workspace
    if needed and found:
        workspace.submission(found, day)
    path = found.kernel(day) if found else None
    if path is None or not path.is_file():
        return None
    refusal = precheck(day, path.read_bytes())
    if refusal is not None and needed:
        raise BadSubmission(f"{refusal.reason.rstrip('.')}.", f"track grade {day.key}")
    return None if refusal else path


def _measured(wish: Wish, kept: Path) -> Bench:
    """The bench, once it is through."""
    from grader.cli.benchmark.client import Bench
    from grader.cli.screens import bench as screen
    from grader.course.setup.doctor import unfit

    problem = unfit()
    if problem is not None:
        raise CannotGrade(f"Nothing can be timed here: {problem.what}.", problem.fix)
    live = screen.Live(Terminal(sys.stderr))
    run = Bench(wish, kept, live)
    try:
        with live:
            run.run()
    except KeyboardInterrupt:
        raise click.Abort(f"What was measured is kept in {near(kept)}; the same command goes on.") from None
    return run
