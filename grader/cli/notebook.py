"""`track notebook`: a day as a notebook."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from grader.cli.command_context import chosen
from grader.cli.screens import Terminal
from grader.cli.screens import day_as_notebook as page
from grader.cli.screens.terminal import counted, examples, near, typed
from grader.cli.shell_integration import Words, as_json, emit, the_day
from grader.course import catalog
from grader.course.learner.workspace import writing
from grader.errors import TrackError, pasted


@click.command(epilog=examples("track notebook 13", "track notebook --all notebooks"))
@the_day
@click.option("--out", type=click.Path(path_type=Path), help="Write there.")
@click.option("--all", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Every day and extra.")
@as_json
def notebook(day: Words, out: Path | None, folder: Path | None, as_json: bool) -> None:
    """Write a day as a notebook: for Jupyter, VS Code or Colab.

    A notebook that stands there already stays as it is.
    """
    if folder and (day or out):
        raise TrackError("--all writes every day into a folder.", f"track notebook --all {pasted(folder)}")
    if folder and folder.is_file():
        raise TrackError(f"{folder} is a file.", "track notebook --all notebooks")
    written = []
    if folder:
        with writing(folder, "track notebook --all ~/notebooks"):
            folder.mkdir(parents=True, exist_ok=True)
        targets = {one: folder / f"{one.stem}.ipynb" for one in catalog.course()}
        kept = [path for path in targets.values() if path.exists()]
    else:
        wanted = chosen(day)
        targets, kept = {wanted: out or Path(f"{wanted.stem}.ipynb")}, []
    for one, path in targets.items():
        if path not in kept:
            page.write(one, path)
            written.append(path)
    if as_json:
        return emit(written=[str(path) for path in written], kept=[str(path) for path in kept])
    screen = Terminal(sys.stdout)
    screen.line(f"{counted(len(written), 'notebook')} written" if folder else f"Written: {near(written[0])}")
    if kept:
        screen.line(f"{counted(len(kept), 'notebook')} already there: left as they are.")
    made = written[0] if written else kept[0]
    if typed("track") == "%track":
        return screen.line("Open it in the list of files.")
    screen.next(f"{_jupyter()} lab {pasted(near(made))}", "or open it in VS Code")


def _jupyter() -> str:
    """Jupyter where there is one, else the command that installs it beside the course."""
    if shutil.which("jupyter-lab"):
        return "jupyter"
    from grader.course.setup.doctor import PIP

    beside = Path(sys.executable).with_name("jupyter")
    there = beside.with_name("jupyter-lab").exists()
    return pasted(beside) if there else f"{PIP} jupyterlab && {pasted(beside)}"
