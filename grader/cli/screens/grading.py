"""A grading as it happens: one line a group of checks, written once the group is through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.cli.screens.terminal import Part, Terminal
from grader.course.catalog import Day
from grader.verdict import HARMLESS, Check, Verdict

GROUPS = ("imports", "correct", "edges", "compiles", "honest", "memory", "fast", "claims")
UNTRIED = ("not reached", "not measured")
COLUMN = max(map(len, GROUPS)) + 1


class Grading:
    """Shows one grading: hand it to `grade(..., on_event=grading)`, then call `finish`.

    Where someone watches, one more line says what runs now.
    """

    def __init__(self, terminal: Terminal, day: Day) -> None:
        self._terminal = terminal
        self._checks: list[Check] = []
        self._planned: list[str] = []
        self._running = ""
        self._written, self._untried = set[str](), list[str]()
        self._foretold = False
        self._status = terminal.console.status("", spinner="dots" if terminal.unicode else "line")
        terminal.line((day.heading, "bold"))

    def __enter__(self) -> Grading:
        if self._terminal.live:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def __call__(self, event: dict[str, Any]) -> None:
        """Takes one event; what it does not know it ignores, so that old screens outlive new events."""
        kind, text = event.get("event"), str(event.get("text", ""))
        if kind == "taken" or (kind == "note" and not self._terminal.live):
            self._terminal.line(text, indent=2)
        elif kind == "note":
            self._status.update(self._terminal.text(text))
        elif kind == "planned":
            self._planned = [str(name) for name in event.get("checks", ())]
        elif kind == "started":
            self._running = str(event.get("check", ""))
            self._write_known()
            self._status.update(self._terminal.text(self._now()))
        elif kind == "checked":
            self._checks.append(Check(**event["check"]))
            self._write_known()

    def finish(self, verdict: Verdict) -> None:
        """Writes the groups as the verdict has them: it also knows what was not reached."""
        self._status.stop()
        self._checks = list(verdict.checks)
        self._foretold = not verdict.on_gpu
        for group in GROUPS if verdict.status != "unstarted" else ():
            self._write(group)
        if self._untried:
            parts = line(self._terminal, "not reached", ", ".join(self._untried), "", "not reached")
            self._terminal.line(*parts, indent=2)

    def _write_known(self) -> None:
        now = self._running.partition("[")[0] or self._checks[-1].group
        for group in GROUPS[: GROUPS.index(now)] if now in GROUPS else ():
            self._write(group)

    def _write(self, group: str) -> None:
        checks = [check for check in self._checks if check.group == group]
        if {check.outcome for check in checks} == {"not reached"}:
            self._untried.append(group)
        elif checks and group not in self._written:
            self._terminal.line(*row(self._terminal, group, checks, self._foretold), indent=2)
            self._written.add(group)

    def _now(self) -> str:
        """`correct 2/12, 1 failed: n=4-fp32`: the case, how many there are and have failed."""
        group = self._running.partition("[")[0]
        outcomes = [check.outcome for check in self._checks if check.group == group]
        planned = sum(name.partition("[")[0] == group for name in self._planned)
        count = f" {min(len(outcomes) + 1, planned)}/{planned}" if planned > 1 else ""
        failed = sum(outcome not in HARMLESS for outcome in outcomes)
        trouble = f", {failed} failed" if failed else ""
        return f"{group}{count}{trouble}" + (f": {case(self._running)}" if case(self._running) else "")


def row(terminal: Terminal, group: str, checks: Sequence[Check], foretold: bool = False) -> list[Part]:
    """One group's line: mark, name, how many passed, and what there is to say about the rest.

    Args:
        foretold: the speed is a prediction, as it is without a GPU.
    """
    worst = next((c for c in checks if c.outcome not in HARMLESS), None)
    tried = [check for check in checks if check.outcome not in UNTRIED]
    passed = sum(check.outcome == "passed" for check in checks)
    count = f"{passed}/{len(checks)}" if tried and (len(checks) > 1 or "[" in checks[0].name) else ""
    badge = "predicted" if foretold and group == "fast" else ""
    walked = sum(check.outcome == "passed" and check.name.endswith("-walked]") for check in checks)
    badge = f"{walked} too large to run: addresses alone" if walked else badge
    limits = sum(check.outcome == "limit" for check in checks)
    beyond = f"{limits} beyond a limit" if limits else ""
    if worst:
        said = [badge if group == "fast" else "", case(worst.name)]
        return line(terminal, worst.outcome, group, count, " ".join(filter(None, said)))
    if not tried:
        return line(terminal, checks[0].outcome, group, "", _untried(checks))
    return line(terminal, "passed", group, count, "; ".join(filter(None, [_untried(checks), beyond, badge])))


def line(terminal: Terminal, outcome: str, group: str, count: str, detail: str) -> list[Part]:
    mark, style = terminal.mark(outcome)
    sign = mark.ljust(1 if terminal.unicode else len("TIMEOUT")) + "  "
    if detail:
        head = f"{group:<{COLUMN}}{count:<7}" if len(group) < COLUMN else f"{group}   "
        return [(sign, style), head, (detail, "dim")]
    return [(sign, style), f"{group:<{COLUMN}}{count}".rstrip()]


def _untried(checks: Sequence[Check]) -> str:
    untried = [check for check in checks if check.outcome in UNTRIED]
    if not untried:
        return ""
    reasons = {str(check.cause.get("reason") or check.outcome) for check in untried}
    number = f"{len(untried)} " if len(untried) < len(checks) else ""
    return number + "; ".join(sorted(reasons))


def case(name: str) -> str:
    """`rows=4-cols=8-fp32` of `correct[rows=4-cols=8-fp32]`."""
    return name.partition("[")[2].removesuffix("]")
