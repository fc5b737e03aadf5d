"""The first run of `./track`: a `.venv` in the clone with the pinned versions. Standard library only.

Every step may be repeated, so one path resumes an interrupted run, repairs a moved clone and follows a pull
that changed the pins. The stamp that lets later runs skip all this is written last.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.course.setup.install_steps import Command, SetupFailed, Steps, say
from grader.course.setup.nvidia import has_nvidia_gpu

# Room for PyTorch, Triton and the rest, and for what pip unpacks meanwhile.
GIGABYTES = {"cpu": 2.5, "cuda": 12.0}
IMPORTS = "torch, triton, numpy, click, rich, grader.cli.commands"


class Damaged(SetupFailed):
    """Everything is installed and still does not import: an earlier run was interrupted at a bad moment."""


@dataclass(frozen=True)
class Clone:
    """The folder that holds `track` and pyproject.toml."""

    root: Path

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.venv / "bin" / "python"

    @property
    def log(self) -> Path:
        return self.venv / "setup.log"

    def stamp(self, extra: str) -> Path:
        return self.venv / f"ready{extra}"

    def ready(self, extra: str) -> bool:
        """Whether another run finished the work while this one waited for the lock."""
        stamp, project = self.stamp(extra), self.root / "pyproject.toml"
        try:
            fresh = stamp.stat().st_mtime >= project.stat().st_mtime
            return fresh and self.python.exists() and stamp.read_text(encoding="utf-8") == f"{self.root}\n"
        except OSError:
            return False

    def answers(self, code: str) -> bool:
        """Whether the venv's Python runs this to the end."""
        if not self.python.exists():
            return False
        command = [str(self.python), "-I", "-c", code]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def pip(self, *arguments: str) -> Command:
        quiet = ("--no-input", "--disable-pip-version-check", "--progress-bar=off")
        return [self.python, "-I", "-m", "pip", "install", *quiet, *arguments]

    def pins(self, extra: str) -> list[str]:
        """The requirements of one extra; read by pattern because Python 3.10 has no TOML parser."""
        text = (self.root / "pyproject.toml").read_text(encoding="utf-8")
        block = re.search(rf"^{extra} = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
        return re.findall(r'^ +"([^"]+)",(?: +#.*)?$', block[1], re.MULTILINE) if block else []


def main() -> None:
    """Sets up the clone in `sys.argv[1]`, with the extra named in `sys.argv[2]` if any."""
    clone, extra = Clone(Path(sys.argv[1])), sys.argv[2]
    try:
        with _locked(clone.root) as lock:
            if not clone.ready(extra):
                _set_up(clone, extra, lock)
    except KeyboardInterrupt:
        say("Stopped. The next ./track goes on from here.")
        sys.exit(130)
    except SetupFailed as problem:
        say(f"track: {problem}\n  All that was printed: {clone.log}\n  The next ./track goes on from here.")
        sys.exit(3)
    except OSError as problem:
        say(f"track: cannot write {problem.filename or clone.venv}: {problem.strerror}.")
        say("  The clone has to lie where you may write, with a few gigabytes free.")
        sys.exit(3)


@contextlib.contextmanager
def _locked(root: Path) -> Iterator[int]:
    """Holds the clone for one set-up at a time; the kernel lets go of it however the holder ends."""
    handle = os.open(root, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another ./track is setting this clone up; waiting for it.")
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            pass  # some network file systems lock no folders; two first runs at once are rare
        yield handle
    finally:
        os.close(handle)


def _set_up(clone: Clone, extra: str, lock: int) -> None:
    resumed = clone.answers("import pip")
    if not resumed:
        say(f"Setting up Triton Track in {clone.venv} (once, a few minutes)")
    try:
        _install(clone, extra, lock)
    except Damaged:
        if not resumed:
            raise
        say("What an earlier run left is damaged; building it anew.")
        shutil.rmtree(clone.venv)
        _install(clone, extra, lock)


def _install(clone: Clone, extra: str, lock: int) -> None:
    fresh = not clone.answers("import pip")
    if fresh:
        shutil.rmtree(clone.venv, ignore_errors=True)
    clone.venv.mkdir(exist_ok=True)
    with clone.log.open("a", encoding="utf-8") as log:
        steps = Steps(log, lock)
        _environment(clone, steps, fresh)
        _torch(clone, steps)
        pins = clone.pins("pinned") + (clone.pins(extra) if extra else [])
        steps.run(f"{_spoken(_pin(clone, 'triton'))} and the rest", clone.pip(*pins))
        # Without network, so that a moved clone is repaired offline too.
        course = clone.pip("--no-build-isolation", "--no-deps", "--editable", str(clone.root))
        steps.run("the course itself", course)
        if not steps.tries("everything imports", [clone.python, "-I", "-c", f"import {IMPORTS}"]):
            raise Damaged("what was installed does not import")
    for stamp in {clone.stamp(""), clone.stamp(extra)}:
        stamp.write_text(f"{clone.root}\n", encoding="utf-8")


def _environment(clone: Clone, steps: Steps, fresh: bool) -> None:
    if fresh:
        # The real file, python3.11 and not python3: an upgrade of the system then mixes no two versions.
        python = Path(sys.executable).resolve()
        steps.run(f"Python {sys.version.split()[0]} environment", [python, "-m", "venv", clone.venv])
    else:
        # After a move the activate scripts name the old place; this rewrites them and nothing else.
        command: Command = [clone.python, "-m", "venv", "--without-pip", clone.venv]
        steps.run("the environment of an earlier run", command)


def _torch(clone: Clone, steps: Steps) -> None:
    """PyTorch alone and first: it decides whether gigabytes of CUDA come along."""
    pin = _pin(clone, "torch")
    name, version = _spoken(pin), pin.partition("==")[2]
    same = f"import importlib.metadata as m; assert m.version('torch').partition('+')[0] == '{version}'"
    if clone.answers(same):
        return
    if has_nvidia_gpu():
        _need(clone, "cuda")
        steps.run(f"{name} with CUDA for this GPU (several gigabytes)", clone.pip(pin))
        return
    _need(clone, "cpu")
    title = f"{name}, CPU build (no NVIDIA GPU here)"
    if steps.tries(title, clone.pip(f"{pin}+cpu")):
        return
    uv: Command = [clone.python, "-I", "-m", "uv", "pip", "install", "--python", clone.python]
    found = steps.tries("uv, which knows where PyTorch keeps its CPU builds", clone.pip("uv"))
    if found and steps.tries(title, [*uv, "--torch-backend", "cpu", pin]):
        return
    say("  !!  no CPU build of PyTorch was found; the usual one brings several gigabytes of CUDA along")
    _need(clone, "cuda")
    steps.run(name, clone.pip(pin))


def _need(clone: Clone, build: str) -> None:
    free = shutil.disk_usage(clone.root).free / 1e9
    if free < GIGABYTES[build]:
        raise SetupFailed(f"only {free:.1f} GB are free here, and about {GIGABYTES[build]:.0f} GB are needed")


def _pin(clone: Clone, name: str) -> str:
    return next(pin for pin in clone.pins("pinned") if pin.startswith(f"{name}=="))


def _spoken(pin: str) -> str:
    name, _, version = pin.partition("==")
    return f"{'PyTorch' if name == 'torch' else name.capitalize()} {version}"
