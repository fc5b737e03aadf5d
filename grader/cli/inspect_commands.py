"""`track inspect` and `track show`: what a kernel does, seen from inside."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import click

from grader import datasheets
from grader.cli import command_context, page_file
from grader.cli.command_context import again_with, chosen, standing
from grader.cli.screens import Terminal, compiler_listing, inspection
from grader.cli.screens.terminal import examples, near
from grader.cli.shell_integration import Words, as_json, emit, the_day
from grader.course import custom_tasks
from grader.course.catalog import Day
from grader.course.learner import workspace
from grader.errors import NoWorkspace, TrackError, pasted

a_file = click.option("--file", type=click.Path(path_type=Path), help="Look at this file.")


@click.command(epilog=examples("track inspect", "track inspect 7 --gpu a100", "track inspect 13 --ptx"))
@the_day
@click.option("--gpu", default=datasheets.USUAL, metavar="NAME", help=f"One of {', '.join(datasheets.GPUS)}.")
@click.option("--explain", is_flag=True, help="Say what the words of the table mean.")
@click.option("--ptx", is_flag=True, help="Print the PTX, your lines between.")
@click.option("--sass", is_flag=True, help="Print the machine code, your lines between.")
@click.option("--ttgir", is_flag=True, help="Print Triton's own code for the GPU, your lines between.")
@click.option("--ours", is_flag=True, help="Our solution below it, after a pass.")
@a_file
@as_json
def inspect(day: Words, gpu: str, file: Path | None, as_json: bool, **flags: bool) -> None:
    """See what your kernel moves and compiles to; needs no GPU.

    Bytes line by line, registers, shared memory, occupancy, and a predicted time.
    """
    from grader.grading.grade import read
    from grader.grading.inspection_request import ask

    wanted, given = chosen(day, file, custom_tasks.find), again_with(file)
    key, code = datasheets.key(gpu, f"track inspect {wanted.key}{given}"), _code(wanted, flags)
    path = _path(wanted, file, "inspect")
    source, ours = read(path), {}
    with _waiting("counting and compiling"):
        parts = ask(wanted, path, "inspect", source=source, given=given, gpu=key, code=code)
        if flags["ours"]:
            ours = {"ours": ask(wanted, wanted.solution, "inspect", gpu=key, code="")}
    if as_json:
        return emit(day=wanted.key, gpu=key, evidence="predicted", parts=parts, **ours)
    out, passed = Terminal(sys.stdout), None if file else standing().passed(wanted)
    chip = datasheets.GPUS[key]
    if code:
        _compiled(wanted, parts, code, given)
        return compiler_listing.code(out, Terminal(sys.stderr), wanted, _lines(source), parts, code, given)
    inspection.table(out, wanted.heading, _lines(source), chip, parts)
    if ours:
        out.line()
        inspection.table(out, "Our solution", _lines(read(wanted.solution)), chip, ours["ours"])
    inspection.what_follows(out, wanted, parts, given, flags["explain"], passed)


def _compiled(day: Day, parts: list[dict[str, Any]], code: str, given: str) -> None:
    if not any(launch["code"] for part in parts for launch in part["launches"]):
        problem = f"There is no {code.upper()} to print: no kernel was compiled."
        raise TrackError(problem, f"track inspect {day.key}{given}")


def _code(day: Day, flags: dict[str, bool]) -> str:
    """The one kind of code that was asked for, or nothing.

    Raises:
        TrackError: two screens are asked for at once, or our solution before a pass.
    """
    made = standing().of(day)
    if flags["ours"] and day.required_solution() and not (made.done or made.solution):
        raise TrackError(f"{day.name} has not passed yet.", f"track grade {day.key}")
    asked = [name for name in (*compiler_listing.KINDS, "ours", "explain") if flags[name]]
    codes = [name for name in asked if name in compiler_listing.KINDS]
    if (codes or flags["ours"]) and len(asked) > 1:
        problem = f"--{asked[0]} and --{asked[1]} are two screens: ask for one at a time."
        raise TrackError(problem, f"track inspect {day.key} --{asked[0]}")
    return codes[0] if codes else ""


@click.command(epilog=examples("track show", "track show 7 --open", "track show 5 -k m=1-n=1 --out t.html"))
@the_day
@click.option("-k", "only", metavar="CASE", help="Draw this case, as a failed grading names it.")
@click.option("--out", type=click.Path(path_type=Path), help="Write there: a .html, or into a folder.")
@click.option("--open", "opened", is_flag=True, help="Open it, too.")
@a_file
@as_json
def show(
    day: Words, only: str | None, out: Path | None, opened: bool, file: Path | None, as_json: bool
) -> None:
    """Draw which elements each program reads and writes.

    Writes one page that opens in any browser, offline. What a kernel makes of an image needs matplotlib.
    """
    from grader.cli.screens.access_page import page
    from grader.grading.grade import read
    from grader.grading.inspection_request import ask

    wanted = chosen(day, file, custom_tasks.find)
    path, given = _path(wanted, file, "show"), again_with(file)
    again = f"track show {wanted.key}{given} --out"
    target, source = _target(wanted, file, out, again), read(path)
    with _waiting("drawing"):
        parts = ask(wanted, path, "show", source=source, given=given, only=only)
    if not any(part["launches"] for part in parts):
        entries = " and ".join(f"{part['entry']}()" for part in parts)
        problem = f"There is nothing to draw: {entries} launches no Triton kernel."
        raise TrackError(problem, f"track grade {wanted.key}{given}")
    images = [part.pop("picture") for part in parts if "picture" in part]
    page_file.write(target, page(wanted, _lines(source), parts).encode(), again)
    also = _image(target, again, images[0]) if images else ""
    if as_json:
        return emit(day=wanted.key, page=str(target.resolve()), parts=parts)
    passed = None if file else standing().passed(wanted)
    inspection.shown(Terminal(sys.stdout), wanted, _lines(source), target, parts, given, passed, also)
    if opened:
        page_file.launch(target)


def _waiting(words: str) -> contextlib.AbstractContextManager[object]:
    """A sign of life for the seconds that it takes; nothing where nobody watches."""
    terminal = Terminal(sys.stderr)
    return terminal.console.status(words) if terminal.live else contextlib.nullcontext()


def _lines(source: bytes) -> list[str]:
    """The file as it was looked at: its author may have saved it since."""
    return source.decode("utf-8-sig", "replace").splitlines()


def _path(day: Day, file: Path | None, do: str) -> Path:
    if file is None and day.kind != "task":
        found = standing().workspace
        if found is None:
            raise NoWorkspace("No day was started here or in a folder above.", f"track start {day.key}")
        return workspace.submission(found, day)
    return command_context.given(file, f"track {do} {pasted(day.key)} --file")


def _target(day: Day, file: Path | None, out: Path | None, again: str) -> Path:
    """Where the page goes: into our corner of the workspace, unless another place is asked for."""
    name = f"{day.stem}.html"
    if out is None and file is None:
        return workspace.require().hidden / "show" / name
    return page_file.target(out or Path(name), name, "track show", again)


def _image(page: Path, again: str, images: list[Any]) -> str:
    """Draws beside the page what the kernel makes of an image; says where, or why there is none."""
    from grader.cli.screens.image_plot import SIGNATURE, draw

    target = page.with_name(f"{page.stem}-image{'.gif' if len(images) == 1 else '.png'}")
    if target.is_file() and SIGNATURE.encode() not in target.read_bytes():
        return f"{near(target)} is not from `track show`, so it stays as it is."
    try:
        page_file.write(target, draw(images), again)
    except TrackError as error:
        return f"{error} Fix: {error.fix}"
    return f"What this kernel draws: {near(target)}"
