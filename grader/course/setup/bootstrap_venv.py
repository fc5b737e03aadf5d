"""The first run of `./track`: a `.venv` in the clone with the pinned versions. Standard library only.

The stamp that lets later runs skip all this is written last. An environment without one is begun anew, from
what pip keeps of its downloads; one that has it is mended after a move of the clone, or a pull of other pins.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from grader.course.setup.nvidia import has_nvidia_gpu

# Room for PyTorch, Triton and the rest, and for what pip unpacks meanwhile.
GIGABYTES = {"cpu": 2.5, "cuda": 12.0}
IMPORTS = "torch, triton, numpy, click, rich, grader.cli.commands"
# Settings by which pip would install elsewhere than into the venv, or Python find modules outside it.
ELSEWHERE = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")

Command = list[str | Path]


class SetupFailed(Exception):
    """A step failed; the message is for the person, the log has pip's own words."""


@dataclass(frozen=True)
class Steps:
    """Runs the steps of one set-up: a line on the screen for each, and all that they print into a log.

    Attributes:
        lock: a descriptor that the children inherit, so that killing this process alone lets no other run in
            while pip still writes.
    """

    log: IO[str]
    lock: int

    def tries(self, title: str, command: Command) -> bool:
        """Whether the command succeeds."""
        begun, words = time.monotonic(), [str(part) for part in command]
        print(f"\n$ {' '.join(words)}", file=self.log, flush=True)
        print(f"  {title} ...", end=" ", file=sys.stderr, flush=True)
        around = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
        child = subprocess.run(
            words,
            env={**around, "PIP_USER": "0"},
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            pass_fds=(self.lock,),
            check=False,
        )
        good = child.returncode == 0
        say(f"{time.monotonic() - begun:.0f} s" if good else "no")
        return good

    def run(self, title: str, command: Command) -> None:
        """Like `tries`, for a step that must succeed.

        Raises:
            SetupFailed: it did not; the message has the last line of the log that speaks of an error.
        """
        if self.tries(title, command):
            return
        log = Path(self.log.name).read_text(encoding="utf-8", errors="replace")
        lines = [line.strip() for line in log.rpartition("\n$ ")[2].splitlines()[1:] if line.strip()]
        errors = [line for line in lines if "error" in line.lower()]
        raise SetupFailed(f"{title} failed: {(errors or lines or ['no output'])[-1]}")


def say(text: str) -> None:
    """To stderr, because stdout belongs to the command that follows, `--json` perhaps."""
    print(text, file=sys.stderr, flush=True)


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
        say("\nStopped. The next ./track does it anew; what pip fetched is not fetched again.")
        sys.exit(130)
    except SetupFailed as problem:
        say(f"track: {problem}\n  All that was printed: {clone.log}\n  Then ./track once more.")
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
    finished = clone.stamp("").exists() and clone.answers("import pip")
    if not finished:
        say(f"Setting up Triton Track in {clone.venv} (once, a few minutes)")
        shutil.rmtree(clone.venv, ignore_errors=True)
    clone.venv.mkdir(exist_ok=True)
    with clone.log.open("a", encoding="utf-8") as log:
        steps = Steps(log, lock)
        # The real file, python3.11 and not python3: an upgrade of the system then mixes no two versions.
        fresh: Command = [Path(sys.executable).resolve(), "-m", "venv", clone.venv]
        # After a move the activate scripts name the old place; this rewrites them and nothing else.
        mended: Command = [clone.python, "-m", "venv", "--without-pip", clone.venv]
        steps.run(f"the environment of Python {sys.version.split()[0]}", mended if finished else fresh)
        _torch(clone, steps)
        pins = clone.pins("pinned") + (clone.pins(extra) if extra else [])
        steps.run("Triton and the rest", clone.pip(*pins))
        # Without network, so that a moved clone is mended offline too.
        course = clone.pip("--no-build-isolation", "--no-deps", "--editable", str(clone.root))
        steps.run("the course itself", course)
        if not steps.tries("everything imports", [clone.python, "-I", "-c", f"import {IMPORTS}"]):
            clone.stamp("").unlink(missing_ok=True)
            raise SetupFailed("what was installed does not import; the next ./track installs it anew")
    for stamp in {clone.stamp(""), clone.stamp(extra)}:
        stamp.write_text(f"{clone.root}\n", encoding="utf-8")


def _torch(clone: Clone, steps: Steps) -> None:
    """PyTorch alone and first: it decides whether gigabytes of CUDA come along."""
    pin = next(pin for pin in clone.pins("pinned") if pin.startswith("torch=="))
    name, version = pin.replace("torch==", "PyTorch "), pin.partition("==")[2]
    same = f"import importlib.metadata as m; assert m.version('torch').partition('+')[0] == '{version}'"
    if clone.answers(same):
        return
    if not has_nvidia_gpu():
        _need(clone, "cpu")
        title = f"{name}, CPU build (no NVIDIA GPU here)"
        if steps.tries(title, clone.pip(f"{pin}+cpu")):
            return
        uv: Command = [clone.python, "-I", "-m", "uv", "pip", "install", "--python", clone.python]
        found = steps.tries("uv, which knows where PyTorch keeps its CPU builds", clone.pip("uv"))
        if found and steps.tries(title, [*uv, "--torch-backend", "cpu", pin]):
            return
    _need(clone, "cuda")
    steps.run(f"{name} with CUDA (several gigabytes)", clone.pip(pin))


def _need(clone: Clone, build: str) -> None:
    free = shutil.disk_usage(clone.root).free / 1e9
    if free < GIGABYTES[build]:
        raise SetupFailed(f"only {free:.1f} GB are free here, and about {GIGABYTES[build]:.0f} GB are needed")
