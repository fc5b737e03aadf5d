"""A look inside a learner's kernels: asks a judge that counts, compiles and traces instead of grading."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from grader.catalog import Day
from grader.errors import BadSubmission, CannotGrade, TrackError
from grader.machine import unfit
from grader.precheck import precheck
from grader.warm import Warm, new_log
from grader.wire import Closed, Malformed, TimedOut

PATIENCE = 120.0  # seconds for the whole answer
SEED = 4021  # nothing that is shown depends on values


def ask(day: Day, path: Path, do: str, *, warm: Warm | None = None, **options: Any) -> list[dict[str, Any]]:
    """What a judge answers to `inspect` or `show` (see judge/inside.py).

    Raises:
        BadSubmission: the file cannot be read, or is not started.
        TrackError: there is nothing to be seen in it, and why.
        CannotGrade: this machine cannot look, or we failed.
    """
    try:
        finding = precheck(day, path.read_bytes())
    except OSError as error:
        raise BadSubmission(f"{path} cannot be read: {error.strerror}.", f"track {do} --file FILE") from error
    if finding is not None:
        raise BadSubmission(finding.diagnosis, f"track grade {day.number}")
    problem = unfit("cpu")
    if problem is not None:
        raise CannotGrade(f"Nothing can be looked at here: {problem.what}.", problem.fix)
    request = {
        "do": do, "hidden_tests": str(day.hidden_tests), "path": str(path.resolve()), "device": "cpu",
        "seed": SEED, "only": None, "call_timeout": 20.0, **options,
    }  # fmt: skip
    with contextlib.ExitStack() as stack:
        parent = warm or stack.enter_context(Warm("cpu"))
        return _answer(parent, request, day)


def _answer(parent: Warm, request: dict[str, Any], day: Day) -> list[dict[str, Any]]:
    try:
        event, _ = parent.judge(request).receive(PATIENCE)
    except (Closed, TimedOut, Malformed) as error:
        parent.stop()
        raise CannotGrade(f"The judge stopped: {parent.last_words()}", "track doctor") from error
    if event["event"] == "refused":
        raise TrackError(event["text"], f"{event['fix']} {day.number}")
    if event["event"] == "broken":
        log = new_log("track-crash-")
        log.write_text(event["text"])
        last = event["text"].strip().splitlines()[-1]
        raise CannotGrade(f"The grader itself failed ({last}). Details are in {log}.", "track doctor")
    return list(event["parts"])
