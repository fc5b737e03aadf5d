"""Copies of this clone, and environments made of what is installed here: no test downloads anything."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from grader.course import catalog

SITE = Path(sysconfig.get_path("purelib"))
UNWANTED = (".git", ".venv", ".scratch", ".whl", "my-track", "dist", "build", ".*_cache", "__pycache__")


def clone(target: Path) -> Path:
    """What `git clone` would give, at `target`."""
    shutil.copytree(catalog.ROOT, target, ignore=shutil.ignore_patterns(*UNWANTED))
    return target


def venv(target: Path, site: Path = SITE, wheel: Path | None = None) -> Path:
    """A new environment with `wheel` installed that sees the packages in `site`; returns its Python."""
    base = Path(sys.executable).resolve()
    subprocess.run([base, "-m", "venv", "--without-pip", target], check=True)
    python = target / "bin" / "python"
    if wheel:
        install(python, wheel)
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    Path(own.stdout.strip(), "here.pth").write_text(f"{site}\n")
    return python


def install(python: Path, *what: str | Path) -> None:
    """Installs into the environment of `python` by the pip of this one, without network."""
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--no-build-isolation", *what], check=True, env=plain())


def farm(target: Path, without: Iterable[str]) -> Path:
    """A site-packages folder that has all of ours but some packages."""
    target.mkdir()
    hidden = tuple(name.lower() for name in without)
    for entry in SITE.iterdir():
        if not entry.name.lower().startswith((*hidden, "triton_track", "_triton_track")):
            (target / entry.name).symlink_to(entry)
    return target


def pretend(site: Path, package: str, version: str, source: str = "") -> None:
    """Makes `package` look installed in `site` at `version`, with `source` as its module."""
    info = site / f"{package}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    if source:
        (site / package).mkdir()
        (site / package / "__init__.py").write_text(source)


def plain(**extra: str) -> dict[str, str]:
    """The surroundings of a command, without what this session or this person set for our own programs."""
    ours = ("PYTHONPATH", "VIRTUAL_ENV", "TRACK_", "PIP_", "PYTEST_", "TRITON_")
    return {**{name: value for name, value in os.environ.items() if not name.startswith(ours)}, **extra}
