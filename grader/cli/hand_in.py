"""`track hand-in`: what a learner worked on, as one zip for the teacher."""

from __future__ import annotations

import sys
import zipfile

import click

from grader.cli.command_context import standing
from grader.cli.screens import Terminal
from grader.cli.screens.terminal import examples, near
from grader.course import catalog
from grader.course.learner import workspace
from grader.course.learner.workspace import writing
from grader.errors import TrackError

AGAIN = 'track hand-in --name "Ada Lovelace"'


@click.command("hand-in", epilog=examples("track hand-in", AGAIN))
@click.option("--name", help="Your name, as your teacher has it.")
def hand_in(name: str | None) -> None:
    """Pack the kernels you worked on into one zip with your name, to be handed in."""
    from grader.grading.cohort.submission import Unfit, the_id

    found, out = workspace.require(), Terminal(sys.stdout)
    started = [day for day in catalog.course() if found.kernel(day).is_file()]
    days = [day for day in started if found.kernel(day).read_bytes() != found.handed_out(day).read_bytes()]
    if not days:
        raise TrackError("No kernel.py is changed yet, so there is nothing to hand in.", "track start")
    if name is None and not sys.stdin.isatty():
        raise TrackError("Whose work is it?", AGAIN)
    try:
        name = the_id((name or click.prompt("Your name, as your teacher has it")).strip())
    except Unfit as unfit:
        raise TrackError(f"That cannot be a name: {unfit}.", AGAIN) from None
    target = found.root / f"{name}.zip"
    with writing(target), zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for day in days:
            archive.write(found.kernel(day), f"{name}/{day.stem}/kernel.py")
    here = standing()
    out.line((f"{near(target)}: {len(days)} kernel{'s' * (len(days) > 1)}", "bold"))
    out.table([(day.heading, "passed" if here.of(day).done else "not passed yet") for day in days])
    out.line("This is the file to hand in. It can be packed again after more work.")
    out.next(*here.next)
