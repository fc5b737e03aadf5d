"""`track python`: the course's own Python, for what a learner wants to try."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from grader import kernel
from grader.cli.screens import Terminal
from grader.cli.screens.terminal import examples
from grader.course import catalog
from grader.errors import BadSubmission


@click.command(
    "python",
    epilog=examples(
        "track python try.py",
        "track python --interpret try.py",
        "track python examples/train_copy.py --autocast",
    ),
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option("--cpu", is_flag=True, help="Run kernels on the CPU though there is a GPU.")
@click.option("--interpret", is_flag=True, help="Run kernels in Triton's interpreter, for a debugger.")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def python(file: Path, arguments: tuple[str, ...], cpu: bool, interpret: bool) -> None:
    """Run a file with the course's Python, torch and Triton.

    Without a GPU its kernels run as in a grading: compiled, and evaluated on the CPU. With --interpret
    they run line by line in Triton's interpreter, where print() and breakpoint() work inside of them, and
    bf16 may be wrong or fail. What is not found here is looked for in the course. `from mine import
    attention` brings a kernel of an earlier day, as in a grading.
    """
    from grader.course.setup.nvidia import has_nvidia_gpu
    from grader.grading.environment import import_path

    path = next((place for place in (file, catalog.ROOT / file) if place.is_file()), None)
    if path is None and file.is_dir():
        raise BadSubmission(f"{file} is a folder.", "track python FILE")
    if path is None:
        raise BadSubmission(f"There is no file {file}.", "track python --help")
    ours, said = {"PYTHONPATH": import_path()}, ""
    if interpret:
        ours |= {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
        said = "kernels run in Triton's interpreter, where bf16 may be wrong or fail"
    elif cpu or not has_nvidia_gpu():
        ours |= kernel.ENVIRONMENT
        said = "" if cpu else "no NVIDIA GPU: kernels are compiled, and evaluated on the CPU"
    if said:
        Terminal(sys.stderr).line((said, "dim"))
    command = [sys.executable, "-m", "grader.cli.run_file", str(path.resolve()), *arguments]
    os.execve(sys.executable, command, {**os.environ, **ours})
