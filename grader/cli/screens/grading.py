"""A grading as it happens: one line a group of checks, redrawn on a terminal, written once when piped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.text import Text

from grader.cli.screens.terminal import Part, Terminal
from grader.course.catalog import Day
from grader.verdict import HARMLESS, Check, Verdict

GROUPS = ("imports", "correct", "edges", "compiles", "honest", "memory", "fast", "claims")
UNTRIED = ("not reached", "not measured")
COLUMN = max(map(len, GROUPS)) + 1


class Grading:
    """Shows one grading: hand it to `examine.grade(..., on_event=grading)`, then call `finish`."""

    def __init__(self, terminal: Terminal, day: Day) -> None:
        self._terminal = terminal
        self._checks: list[Check] = []
        self._planned: list[str] = []
        self._running = ""
        self._note = ""
        self._written, self._untried = set[str](), list[str]()
        self._foretold = False
        self._live = Live(
            console=terminal.console, get_renderable=self._picture, transient=True, refresh_per_second=10
        )
        terminal.line((day.heading, "bold"))

    def __enter__(self) -> Grading:
        if self._terminal.live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, event: dict[str, Any]) -> None:
        """Takes one event; what it does not know it ignores, so that old screens outlive new events."""
        kind = event.get("event")
        if kind == "note":
            self._note = str(event.get("text", ""))
        elif kind == "taken":
            self._terminal.line(str(event.get("text", "")), indent=2)
        elif kind == "planned":
            self._planned = [str(name) for name in event.get("checks", ())]
        elif kind == "started":
            self._running, self._note = str(event.get("check", "")), ""
        elif kind == "checked":
            self._checks.append(Check(**event["check"]))
        if not self._terminal.live:
            self._write_known(kind == "note")

    def finish(self, verdict: Verdict) -> None:
        """Writes the groups as the verdict has them: it also knows what was not reached."""
        self._live.stop()
        self._checks = list(verdict.checks)
        self._foretold = not verdict.on_gpu
        for group in GROUPS if verdict.status != "unstarted" else ():
            self._write(group)
        if self._untried:
            parts = line(self._terminal, "not reached", ", ".join(self._untried), "", "not reached")
            self._terminal.line(*parts, indent=2)

    def _write_known(self, noted: bool) -> None:
        if noted and self._note:
            self._terminal.line(self._note, indent=2)
        now = self._running.partition("[")[0] or (self._checks[-1].group if self._checks else "")
        for group in GROUPS[: GROUPS.index(now)] if now in GROUPS else ():
            self._write(group)

    def _write(self, group: str) -> None:
        checks = [check for check in self._checks if check.group == group]
        if {check.outcome for check in checks} == {"not reached"}:
            self._untried.append(group)
        elif checks and group not in self._written:
            self._terminal.line(*row(self._terminal, group, checks, self._foretold), indent=2)
            self._written.add(group)

    def _picture(self) -> Group:
        """The groups so far, the one that runs now with the case it tries, and the note."""
        lines: list[Text] = []
        running = self._running.partition("[")[0]
        for group in GROUPS:
            checks = [check for check in self._checks if check.group == group]
            planned = sum(name.partition("[")[0] == group for name in self._planned)
            if group == running:
                parts = self._now(group, checks, planned)
            elif checks:
                parts = row(self._terminal, group, checks)
            else:
                continue
            lines.append(self._terminal.text("  ", *parts))
        if self._note:
            lines.append(self._terminal.text("  ", self._terminal.mark("running"), f" {self._note}"))
        return Group(*lines)

    def _now(self, group: str, checks: Sequence[Check], planned: int) -> list[Part]:
        """The line of the group that runs: which case is tried, how many there are, how many have failed."""
        count = f"{min(len(checks) + 1, planned)}/{planned}" if planned > 1 else ""
        failed = sum(check.outcome not in HARMLESS for check in checks)
        trouble = f"{failed} failed; " if failed else ""
        return line(self._terminal, "running", group, count, trouble + case(self._running))


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
