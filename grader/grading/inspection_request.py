"""A look inside a learner's kernels: asks a judge that counts, compiles and traces instead of grading."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any, Literal

from grader.course.catalog import Day
from grader.course.setup.doctor import unfit
from grader.errors import BadSubmission, CannotGrade, TrackError
from grader.grading.grade import CALL_TIMEOUT, read
from grader.grading.judge_events import give_up
from grader.grading.precheck import Refusal, precheck
from grader.grading.warm_client import Warm
from grader.request import Request
from grader.wire import Closed, Malformed, TimedOut

PATIENCE = 120.0  # seconds for the whole answer
SEED = 4021  # nothing that is shown depends on values


def ask(
    day: Day,
    path: Path,
    do: Literal["inspect", "show"],
    *,
    source: bytes | None = None,
    warm: Warm | None = None,
    given: str = "",
    **options: Any,
) -> list[dict[str, Any]]:
    """What a judge answers to `inspect` or `show` (see judge/inspection/inspect.py).

    Args:
        source: the file's bytes, where they were read already.
        given: ` --file PATH` where the file lies in no workspace: the next command needs it again, and hints
            and resets are not about it.
        options: `only`, `gpu` and `code`, as Request has them.

    Raises:
        BadSubmission: the file cannot be read, or is not started.
        TrackError: there is nothing to be seen in it, and why.
        CannotGrade: this machine cannot look, or we failed.
    """
    source = read(path) if source is None else source
    refusal = precheck(day, source)
    if refusal is not None:
        raise BadSubmission(_told(refusal, source), _fix(refusal, day, bool(given)))
    problem = unfit()
    if problem is not None:
        raise CannotGrade(f"Nothing can be looked at here: {problem.what}.", problem.fix)
    timeout = CALL_TIMEOUT["cpu"]
    files = day.hidden_tests, path.resolve(), day.provided
    request = Request(do, *files, source, "cpu", SEED, timeout, **options)
    with contextlib.ExitStack() as stack:
        parent = warm or stack.enter_context(Warm("cpu"))
        return _answer(parent, request, f" {day.key}{given}")


def _told(refusal: Refusal, source: bytes) -> str:
    """The fact, and the line that it is about."""
    if refusal.status == "unstarted":
        return f"{refusal.reason.rstrip('.')}: fill in a TODO first."
    lines = source.decode("utf-8-sig", "replace").splitlines()
    text = lines[refusal.line - 1].strip() if 0 < refusal.line <= len(lines) else ""
    return f"{refusal.reason.rstrip('.')} (line {refusal.line}: {text})" if text else refusal.reason


def _fix(refusal: Refusal, day: Day, loose: bool) -> str:
    """The command that the diagnosis names, or else its sentence."""
    if refusal.status == "unstarted":
        return f"track hint {day.key}"
    command = re.search(r"`(track [^`]*)`", refusal.diagnosis)
    if command:
        return "Write your kernel into it and look again." if loose else command[1]
    return refusal.diagnosis.replace("grade again", "look again")


def _answer(parent: Warm, request: Request, which: str) -> list[dict[str, Any]]:
    try:
        event, _ = parent.judge(request).receive(PATIENCE)
    except (Closed, TimedOut, Malformed) as error:
        parent.stop()
        raise CannotGrade(f"The judge stopped: {parent.last_words()}", "track doctor") from error
    if event["event"] == "refused":
        raise TrackError(event["text"], event["fix"] + which)
    if event["event"] == "broken":
        give_up(event, "track grade" + which, request.hidden_tests.parent)
    return list(event["parts"])
