"""Grade one file on one day: start the judge, and return the verdict that its events come to."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from grader.course.catalog import Day
from grader.course.learner.earlier_kernels import taken
from grader.course.setup.doctor import unfit
from grader.course.setup.nvidia import has_nvidia_gpu
from grader.errors import BadSubmission, CannotGrade, pasted
from grader.grading.confinement import confinement
from grader.grading.environment import first_gpu
from grader.grading.judge_events import OnEvent, follow
from grader.grading.precheck import LARGEST, Refusal, precheck
from grader.grading.warm_client import Warm
from grader.request import Device, Request
from grader.verdict import Check, Verdict

CALL_TIMEOUT = {"cpu": 20.0, "gpu": 60.0}  # seconds one call of the learner's function may take

# Seconds that a whole grading may take: several times what the longest of the course takes on a busy machine.
# Claims are held against torch for as long as that takes.
LIMIT = {"cpu": 900.0, "gpu": 1800.0}


def grade(
    day: Day,
    path: Path,
    *,
    device: Literal["auto", "cpu", "gpu"] = "auto",
    seed: int | None = None,
    only: str | None = None,
    on_event: OnEvent = lambda event: None,
    warm: Warm | None = None,
    call_timeout: float | None = None,
    timeout: float | None = None,
    fail_fast: bool = False,
    cases: bool = True,
    speed: bool = True,
    claims: bool = False,
    limits: bool = False,
    explain: float = 0.0,
    given: str = "",
    strict: bool = False,
    private: Sequence[str] = (),
) -> Verdict:
    """Grade `path` on `day`.

    Args:
        device: `gpu` compiles and times, `cpu` evaluates; `auto` takes a GPU if there is one.
        seed: replays a grading; a fresh one when None.
        only: grade only the cases whose id contains it.
        on_event: told of every event as it happens (see judge/main.py); the first comes at once.
        warm: a warm parent to use; without one, one is started and stopped.
        call_timeout: seconds that one call of the learner's function may take.
        timeout: seconds that the whole grading may take, from when it has its judge on; LIMIT when None.
        fail_fast: end at the first check that fails; then nothing is looked for that explains it.
        cases: try the cases of correct and edges.
        speed: measure it, or predict it.
        claims: hold what is claimed of such kernels against torch.
        limits: make every limit a requirement.
        explain: of a file that fails, seconds to look for one edit that makes it right; 0 looks for none.
        strict: confine the learner's code as far as the machine allows; the verdict says how far.
        private: folders and files that it may not read then, beside those that no file may.
        given: ` --file PATH` where the file lies in no workspace, for the command that an error names.

    Raises:
        BadSubmission: the file cannot be read.
        CannotGrade: no verdict can be given here.
    """
    begin = time.monotonic()
    again = f"track grade {pasted(day.key)}{given}"
    source = read(path, f"track start {day.key}")
    where = warm.device if warm else choose_device(device, f"{again} --cpu")
    seed = random.SystemRandom().randrange(1, 10_000) if seed is None else seed
    sha256 = hashlib.sha256(source).hexdigest()
    base = Verdict(day.key, "failed", seed, where, versions(), sha256=sha256)  # before anything is known
    refusal = precheck(day, source, given)
    if refusal is not None:
        return _refused(base, refusal)
    problem = unfit()
    if problem is not None:
        raise CannotGrade(f"Nothing can be graded here: {problem.what}.", problem.fix)
    for one in taken(day.hidden_tests, path.resolve(), source):
        on_event({"event": "taken", "text": one.told})
    if not day.solution.is_file() and "Piece(" in _text(day.hidden_tests):
        on_event({"event": "taken", "text": "Without our solution, how far each piece is cannot be told."})
    on_event({"event": "note", "text": "loading torch and triton"})
    files = day.hidden_tests, path.resolve(), day.provided
    request = Request(
        "grade",
        *files,
        source,
        where,
        seed,
        call_timeout or CALL_TIMEOUT[where],
        limit=timeout or (0.0 if claims else LIMIT[where]),
        fail_fast=fail_fast,
        only=only,
        cases=cases,
        speed=speed,
        claims=claims,
        limits=limits,
        explain=explain,
        skeleton=_text(day.skeleton),
        solution=_text(day.solution),
    )
    with contextlib.ExitStack() as stack:
        if where == "gpu":
            stack.enter_context(queued(warm.gpu if warm else first_gpu(), alone=speed))
        parent = warm or stack.enter_context(Warm(where))
        if strict:
            parent.wait()  # whom the folder is told to at once, and who removes it should we be killed
            # Of a task each file by name: it is not to be read from a file beside it either.
            own = map(str, (day.folder, day.hidden_tests, day.solution))
            request = replace(request, **stack.enter_context(confinement(path.resolve(), [*private, *own])))
        verdict = follow(parent, request, base, on_event, again)
    return replace(verdict, seconds=round(time.monotonic() - begin, 3))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _refused(base: Verdict, refusal: Refusal) -> Verdict:
    """The verdict on a file of which nothing ran."""
    cause = {"reason": refusal.reason, "line": refusal.line, "column": refusal.column}
    checks = (Check("imports", "failed", 0.0, cause),)
    look_at = f"line {refusal.line}" if refusal.line else ""
    return replace(base, status=refusal.status, checks=checks, diagnosis=refusal.diagnosis, look_at=look_at)


def read(path: Path, fix: str = "track start") -> bytes:
    """The file's bytes, or of a file too large for a kernel enough to see that.

    Args:
        fix: what to type where there is none.

    Raises:
        BadSubmission: it is missing or unreadable.
    """
    try:
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except FileNotFoundError:
        raise BadSubmission(f"There is no file {path}.", fix) from None
    except OSError as error:
        raise BadSubmission(f"{path} cannot be read: {error.strerror}.", "track grade --file FILE") from error


def choose_device(device: str, without: str = "track grade --cpu") -> Device:
    """Where kernels run for `auto`, `cpu` or `gpu`.

    Args:
        without: the command that does without a GPU.

    Raises:
        CannotGrade: a GPU was asked for and there is none.
        ValueError: it is none of these.
    """
    if device not in ("auto", "cpu", "gpu"):
        raise ValueError(f"a device is auto, cpu or gpu, and not {device!r}")
    hidden = device == "cpu" or os.environ.get("CUDA_VISIBLE_DEVICES") == ""
    present = not hidden and has_nvidia_gpu()
    if device == "gpu" and not present:
        raise CannotGrade("There is no NVIDIA GPU here.", without)
    return "gpu" if present else "cpu"


def versions() -> dict[str, str]:
    """Versions of what a verdict depends on."""
    found = {}
    for name, package in (("track", "triton-track"), ("triton", "triton"), ("torch", "torch")):
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            from grader.version import __version__

            found[name] = __version__ if name == "track" else "not installed"
    return found


@contextlib.contextmanager
def queued(gpu: str, *, alone: bool) -> Iterator[None]:
    """Wait for the GPU: whoever measures has it `alone`, and gradings of values share it."""
    name = "".join(letter if letter.isalnum() else "_" for letter in gpu)
    path = Path(tempfile.gettempdir()) / f"triton-track-{os.getuid()}-gpu-{name}.lock"
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
