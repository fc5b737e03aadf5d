"""A verdict as the documents that autograders of other systems read.

A pass earns all POINTS, and what does not pass its share by `Verdict.score()`: without a GPU no speed is
measured, and a learner's pass is whole all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grader.verdict import HARMLESS, Verdict

POINTS = 100
Group = tuple[str, bool | None, str]  # `correct`, whether all of it passed, or was not reached, and in words


def gradescope(verdict: Verdict) -> dict[str, Any]:
    """`results.json`: https://gradescope-autograders.readthedocs.io/en/latest/specs/. Its score counts, the
    tests have none. On the leaderboard: `score()`, and the time in µs where one is known.
    """
    tests = [
        {"name": name, "status": "passed" if passed else "failed", "output": said}
        for name, passed, said in _groups(verdict)
    ]
    board: list[dict[str, Any]] = [{"name": "Score", "value": round(verdict.score(), 3)}]
    if verdict.speed:
        took = {"name": f"µs ({verdict.speed.evidence})", "value": round(verdict.speed.yours_us, 1)}
        board.append({**took, "order": "asc"})
    facts = {"score": _points(verdict), "execution_time": round(verdict.seconds), "output": _told(verdict)}
    return {**facts, "tests": tests, "leaderboard": board}


def classroom(verdict: Verdict) -> dict[str, Any]:
    """What GitHub Classroom's reporter reads, in base64, of a step of its workflow: src/main.js and
    src/notify-classroom.js of https://github.com/classroom-resources/autograding-grading-reporter.
    """
    status, said = "pass" if verdict.status == "passed" else "fail", _told(verdict)
    test = {
        "name": f"track grade {verdict.day}",
        "status": status,
        "score": _points(verdict),
        "message": said,
    }
    return {"version": 1, "status": status, "max_score": POINTS, "tests": [test]}


def check50(verdict: Verdict) -> dict[str, Any]:
    """What `check50 -o json` prints: https://cs50.github.io/check50/json_specification.html"""
    results, before = list[dict[str, Any]](), None
    for name, passed, said in _groups(verdict):
        cause = (
            None
            if passed
            else {"rationale": said, "help": verdict.look_at or None if passed is False else None}
        )
        facts = {"name": name, "description": name, "passed": passed, "log": said.splitlines()}
        results.append({**facts, "cause": cause, "data": {}, "dependency": before})
        before = name
    return {"slug": str(verdict.day), "results": results, "version": verdict.versions["track"]}


FORMATS: dict[str, Callable[[Verdict], dict[str, Any]]]
FORMATS = {one.__name__: one for one in (gradescope, classroom, check50)}


def _points(verdict: Verdict) -> float:
    return float(POINTS) if verdict.status == "passed" else round(POINTS * verdict.score(), 1)


def _told(verdict: Verdict) -> str:
    """The diagnosis, where to look, and what replays it."""
    look = f"Look at: {verdict.look_at}" if verdict.look_at else ""
    again = f"track grade {verdict.day} --seed {verdict.seed} draws the same inputs again."
    return (
        "Passed." if verdict.status == "passed" else "\n".join(filter(None, [verdict.diagnosis, look, again]))
    )


def _groups(verdict: Verdict) -> list[Group]:
    """Those that were tried or could have been."""
    found = []
    for group in dict.fromkeys(check.group for check in verdict.checks):
        checks = [
            check for check in verdict.checks if check.group == group and check.outcome != "not measured"
        ]
        bad = next((check for check in checks if check.outcome not in HARMLESS), None)
        right = sum(check.outcome in ("passed", "limit") for check in checks)
        passed = bad is None if bad or right else None
        said = "passed" if passed and len(checks) == 1 else f"{right} of {len(checks)} passed"
        said = "not reached" if passed is None else said
        said += f"; {bad.name}: {bad.cause.get('reason', bad.outcome)}" if bad else ""
        if checks:
            found.append((group, passed, said))
    return found
