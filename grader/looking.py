"""`track inspect` and `track show`: what a kernel does, seen from inside."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader import workspace
from grader.catalog import Day
from grader.errors import BadSubmission
from grader.meter import gpus
from grader.screens import Terminal, inside
from grader.shell import Words, as_json, emit, examples, the_day
from grader.standing import chosen

a_file = click.option("--file", type=click.Path(path_type=Path), help="Look at this file.")
CODE = ("ptx", "sass", "ttgir")


@click.command(epilog=examples("track inspect", "track inspect 7 --gpu a100", "track inspect 13 --ptx"))
@the_day
@click.option("--gpu", default=gpus.USUAL, metavar="NAME", help=f"One of {', '.join(gpus.GPUS)}.")
@click.option("--ptx", "code", flag_value="ptx", help="Print the PTX, your lines between.")
@click.option("--sass", "code", flag_value="sass", help="Print the machine code, your lines between.")
@click.option("--ttgir", "code", flag_value="ttgir", help="Print Triton's own code for the GPU.")
@a_file
@as_json
def inspect(day: Words, gpu: str, code: str | None, file: Path | None, as_json: bool) -> None:
    """See what your kernel moves and compiles to; needs no GPU.

    Bytes and sectors line by line, registers, shared memory, occupancy, and a predicted time.
    """
    from grader.insight import ask

    wanted, key = chosen(day), gpus.key(gpu)
    path = _path(wanted, file)
    parts = ask(wanted, path, "inspect", gpu=key, machine=code is None, code=code or "")
    if as_json:
        return emit(day=wanted.number, gpu=key, evidence="predicted", parts=parts)
    terminal = Terminal(sys.stdout)
    if code:
        inside.code(terminal, Terminal(sys.stderr), wanted, path, parts)
    else:
        inside.table(terminal, wanted, path, gpus.GPUS[key], parts)


@click.command(epilog=examples("track show", "track show 7", "track show 5 --out tiles.html"))
@the_day
@click.option("--out", type=click.Path(path_type=Path), help="Write the page there.")
@a_file
@as_json
def show(day: Words, out: Path | None, file: Path | None, as_json: bool) -> None:
    """Draw which elements each program reads and writes.

    Writes one page that opens in any browser, offline.
    """
    from grader.insight import ask
    from grader.picture import page

    wanted = chosen(day)
    path = _path(wanted, file)
    parts = ask(wanted, path, "show")
    target = out or _place(wanted, file)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page(wanted, path, parts), encoding="utf-8")
    if as_json:
        return emit(day=wanted.number, page=str(target), parts=parts)
    inside.shown(Terminal(sys.stdout), wanted, target, parts)


def _path(day: Day, file: Path | None) -> Path:
    path = file or workspace.submission(workspace.require(), day)
    if not path.is_file():
        raise BadSubmission(f"There is no file {path}.", "track start")
    return path


def _place(day: Day, file: Path | None) -> Path:
    """Into the workspace, but beside nothing of the learner's for a file that is nobody's day."""
    name = f"{day.stem}.html"
    return Path(name) if file else workspace.require().root / ".track" / "show" / name
