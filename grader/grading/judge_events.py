"""The events of a judge, read to the verdict that they come to."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NoReturn

from grader.course import catalog
from grader.errors import CannotGrade, TrackError
from grader.grading.warm_client import Warm, new_log
from grader.request import Request
from grader.verdict import Check, Verdict, decisive
from grader.wire import Closed, Malformed, TimedOut

SILENCE = {"cpu": 130.0, "gpu": 240.0}  # seconds without any event, then the command line ends the grading

OnEvent = Callable[[dict[str, Any]], None]


def follow(parent: Warm, request: Request, base: Verdict, on_event: OnEvent, again: str) -> Verdict:
    """Read the judge's events to their end.

    Args:
        base: what is known of the verdict before.
        again: the command that grades all of it.

    Raises:
        TrackError: the judge refused to grade, and why.
        CannotGrade: it stopped, we failed, or the grading was abandoned.
    """
    checks: list[Check] = []
    running, planned, begin = "", list[str](), time.monotonic()
    try:
        events = parent.judge(request)
        while True:
            event, _ = events.receive(SILENCE[request.device])
            if event["event"] == "finished":
                return _finish(base, checks, event)
            if event["event"] in ("refused", "broken"):
                give_up(event, again, request.hidden_tests.parent)
            planned = event["checks"] if event["event"] == "planned" else planned
            if event["event"] == "checked":
                checks.append(Check(**event["check"]))
            running = event["check"] if event["event"] == "started" else ""
            on_event(event)
    except KeyboardInterrupt:
        parent.stop()
        raise
    except (Closed, TimedOut, Malformed) as error:
        if parent.abandoned:
            parent.end_judges()
            raise CannotGrade("The grading was abandoned.", again) from error
        late = isinstance(error, Closed) and 0 < request.limit <= time.monotonic() - begin
        if not late:
            parent.stop()
            if not running:
                raise CannotGrade(f"The judge stopped: {parent.last_words()}", "track doctor") from error
        limit = f"The whole grading may take {request.limit:g} s, and was stopped"
        base = replace(base, status="timeout" if late or isinstance(error, TimedOut) else "crashed")
        return _cut_short(base, limit if late else "The grading stopped", running, checks, planned)


def _cut_short(base: Verdict, said: str, running: str, checks: list[Check], planned: list[str]) -> Verdict:
    """The verdict where `running` was the last check that began; what comes behind it is not reached."""
    late = base.status == "timeout"
    cause = {"reason": "it was not done in time" if late else "the grading did not survive this check"}
    if running:
        checks = [*checks, Check(running, "timeout" if late else "crashed", 0.0, cause)]
    rest = (Check(name, "not reached") for name in planned[len(checks) :])
    at = f" in {running}" if running else ""
    return replace(base, checks=(*checks, *rest), diagnosis=f"{said}{at}.")


def _finish(base: Verdict, checks: list[Check], event: dict[str, Any]) -> Verdict:
    """The verdict that the last event tells; it calls what it tells as a Verdict does."""
    failed = decisive(checks)
    if failed:
        cause = (event["seen"] or failed.cause) | ({"made": event["made"]} if event["made"] else {})
        checks = [replace(check, cause=cause) if check is failed else check for check in checks]
    told = {**base.to_json(), **event, "interpreted": bool(event["seen"])}
    return Verdict.from_json({**told, "checks": [asdict(check) for check in checks]})


def give_up(event: dict[str, Any], again: str, folder: Path | None = None) -> NoReturn:
    """No verdict can be had: the judge said why.

    Args:
        folder: of the hidden tests; where it is none of the course's, what fails there is its author's.
    """
    if event["event"] == "refused":
        raise TrackError(event["text"], again + event.get("flag", ""))
    log = new_log("track-crash-")
    log.write_text(event["text"])
    last = event["text"].strip().splitlines()[-1]
    if folder and str(folder) in event["text"] and not folder.is_relative_to(catalog.ROOT / "days"):
        at = re.findall(rf'File "{re.escape(str(folder))}/([^"]+)", line (\d+)', event["text"])
        where = f"{at[-1][0]}, line {at[-1][1]}: " if at else ""
        problem = f"The task itself failed ({where}{last}). Details are in {log}."
        raise CannotGrade(problem, f"Mend the task, then: {again}")
    if "CUDA" in event["text"] and "out of memory" in event["text"]:
        raise CannotGrade(
            "The GPU's memory ran out where the grader itself needed some: more than is free now "
            f"(nvidia-smi shows who holds it). Details are in {log}.",
            again + " --cpu",
        )
    raise CannotGrade(
        f"The grader itself failed ({last}). This is our bug; details are in {log}.", "track doctor"
    )
