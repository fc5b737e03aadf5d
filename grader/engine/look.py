"""A look inside a learner's kernels: asks a judge that counts, compiles and traces instead of grading."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

from grader.catalog import Day
from grader.engine.precheck import Refusal, precheck
from grader.engine.warm import Warm, new_log
from grader.errors import BadSubmission, CannotGrade, TrackError
from grader.setup.doctor import unfit
from grader.wire import Closed, Malformed, TimedOut

PATIENCE = 120.0  # seconds for the whole answer
SEED = 4021  # nothing that is shown depends on values


def ask(
    day: Day, path: Path, do: str, *, warm: Warm | None = None, given: str = "", **options: Any
) -> list[dict[str, Any]]:
    """What a judge answers to `inspect` or `show` (see judge/look/inspect.py).

    Args:
        given: ` --file PATH` where the file lies in no workspace: the next command needs it again, and hints
            and resets are not about it.

    Raises:
        BadSubmission: the file cannot be read, or is not started.
        TrackError: there is nothing to be seen in it, and why.
        CannotGrade: this machine cannot look, or we failed.
    """
    _readable(day, path, do, given)
    problem = unfit("cpu")
    if problem is not None:
        raise CannotGrade(f"Nothing can be looked at here: {problem.what}.", problem.fix)
    request = {
        "do": do, "hidden_tests": str(day.hidden_tests), "path": str(path.resolve()), "device": "cpu",
        "seed": SEED, "only": None, "call_timeout": 20.0, **options,
    }  # fmt: skip
    with contextlib.ExitStack() as stack:
        parent = warm or stack.enter_context(Warm("cpu"))
        return _answer(parent, request, f" {day.number}{given}")


def _readable(day: Day, path: Path, do: str, given: str) -> None:
    try:
        source = path.read_bytes()
    except OSError as error:
        problem = f"{path} cannot be read: {error.strerror}."
        raise BadSubmission(problem, f"track {do} {day.number} --file FILE") from error
    finding = precheck(day, source)
    if finding is not None:
        raise BadSubmission(_told(finding, source), _fix(finding, day, bool(given)))


def _told(finding: Refusal, source: bytes) -> str:
    """The fact, and the line that it is about."""
    if finding.status == "unstarted":
        return f"{finding.reason.rstrip('.')}: fill in a TODO first."
    lines = source.decode("utf-8-sig", "replace").splitlines()
    text = lines[finding.line - 1].strip() if 0 < finding.line <= len(lines) else ""
    return f"{finding.reason.rstrip('.')} (line {finding.line}: {text})" if text else finding.reason


def _fix(finding: Refusal, day: Day, loose: bool) -> str:
    """The command that the diagnosis names, or else its sentence."""
    if finding.status == "unstarted":
        return f"track hint {day.number}"
    command = re.search(r"`(track [^`]*)`", finding.diagnosis)
    if command:
        return "Write your kernel into it and look again." if loose else command[1]
    return finding.diagnosis.replace("grade again", "look again")


def _answer(parent: Warm, request: dict[str, Any], which: str) -> list[dict[str, Any]]:
    try:
        event, _ = parent.judge(request).receive(PATIENCE)
    except (Closed, TimedOut, Malformed) as error:
        parent.stop()
        raise CannotGrade(f"The judge stopped: {parent.last_words()}", "track doctor") from error
    if event["event"] == "refused":
        raise TrackError(event["text"], event["fix"] + which)
    if event["event"] == "broken":
        log = new_log("track-crash-")
        log.write_text(event["text"])
        last = event["text"].strip().splitlines()[-1]
        raise CannotGrade(f"The grader itself failed ({last}). Details are in {log}.", "track doctor")
    return list(event["parts"])
