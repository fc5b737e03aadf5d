"""`track dev`: what developers of the course run. Needs a clone; `./track dev …` installs the tools first."""

from __future__ import annotations

import os
import subprocess
import sys

import click

from grader import catalog
from grader.errors import CannotGrade

# Where the person who runs the tests works, and how they call the program, is no business of the tests.
PERSONAL = ("TRACK_COMMAND", "TRACK_HOME")

rest = click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
passing_on = {"ignore_unknown_options": True}


@click.group()
def dev() -> None:
    """Test, lint and measure the course itself."""
    if not (catalog.ROOT / "tests").is_dir():
        raise CannotGrade("This is an installed copy, without the tests.", "In a clone: ./track dev test")


@dev.command(context_settings=passing_on)
@rest
def test(arguments: tuple[str, ...]) -> None:
    """Run the project's tests, on every core. ARGUMENTS go to pytest."""
    raise click.exceptions.Exit(_python("pytest", "-n", "auto", "--dist", "loadgroup", *arguments))


@dev.command()
def lint() -> None:
    """Check style by ruff and types by mypy, as pyproject.toml has it."""
    found = [_python("ruff", "check", "."), _python("mypy")]
    raise click.exceptions.Exit(max(found))


@dev.command()
def bench() -> None:
    """Measure the course's own figures against their targets."""
    from grader import bench as figures

    raise click.exceptions.Exit(figures.run())


def _python(module: str, *arguments: str) -> int:
    environment = {name: value for name, value in os.environ.items() if name not in PERSONAL}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=catalog.ROOT, env=environment, check=False).returncode
