"""`track python`: the course's own Python, for what a learner wants to try."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from grader import catalog
from grader.errors import BadSubmission
from grader.screens import Terminal
from grader.screens.terminal import examples


@click.command(
    "python",
    epilog=examples("track python try.py", "track python examples/train_copy.py --autocast"),
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option("--cpu", is_flag=True, help="Run kernels in the interpreter though there is a GPU.")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def python(file: Path, arguments: tuple[str, ...], cpu: bool) -> None:
    """Run a file with the course's Python, torch and Triton.

    Without a GPU its kernels run in Triton's interpreter, mended as for a grading. What is not found
    here is looked for in the course. `from mine import attention` brings a kernel of an earlier day, as in
    a grading.
    """
    from grader.engine.surroundings import import_path
    from grader.setup.nvidia import has_nvidia_gpu

    path = next((place for place in (file, catalog.ROOT / file) if place.is_file()), None)
    if path is None and file.is_dir():
        raise BadSubmission(f"{file} is a folder.", "track python FILE")
    if path is None:
        raise BadSubmission(f"There is no file {file}.", "track python --help")
    ours = {"PYTHONPATH": import_path()}
    if cpu or not has_nvidia_gpu():
        ours |= {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    if not cpu and len(ours) > 1:
        Terminal(sys.stderr).line(("no NVIDIA GPU: kernels run in Triton's interpreter", "dim"))
    command = [sys.executable, "-m", "grader.cli.script", str(path.resolve()), *arguments]
    os.execve(sys.executable, command, {**os.environ, **ours})
