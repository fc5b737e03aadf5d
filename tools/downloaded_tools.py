"""Tools that are fetched when they are first wanted, each into a folder beside what is installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from grader.course import catalog
from grader.course.setup.bootstrap_venv import Clone


def fetch(place: Path, what: str, requirements: Sequence[str], *more: str) -> bool:
    """Installs into `place`, a folder for PYTHONPATH, unless it is there; whether it is.

    Args:
        more: options of pip.
    """
    if place.exists():
        return True
    click.echo(f"Fetching {what} (once)", err=True)
    partial = place.with_name(f"{place.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    quiet = ["install", "--quiet", "--no-input", "--disable-pip-version-check", *more]
    command = [sys.executable, "-m", "pip", *quiet, "--target", str(partial), *requirements]
    if subprocess.run(command, check=False).returncode:
        return False
    partial.rename(place)
    return True


def cohort_home() -> Path:
    """Where Ray and what goes with it lie: a folder for PYTHONPATH."""
    return Path(sys.prefix) / "cohort" / Clone(catalog.ROOT).pins("cohort")[0]


def fetch_cohort() -> bool:
    """Whether Ray is there, or could be fetched."""
    return fetch(cohort_home(), "Ray", Clone(catalog.ROOT).pins("cohort"))
