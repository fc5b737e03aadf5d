"""Verdicts to draw, and streams that remember what was drawn on them."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.bug_hunt_result import Hunt, Hunted
from grader.cli.screens import Terminal, result
from grader.cli.screens.grading import Grading
from grader.verdict import Check, Part, SpeedResult, Verdict
from tests.learner import SKELETON, day

# A script: the texts of a page that are too faint to be read.
FAINT = Path(__file__).with_name("faint.js").read_text(encoding="utf-8")
CPU, GPU = "cpu", "NVIDIA H200"
CASES = ("n=4-fp32", "n=1025-fp32")
SPEED = SpeedResult("measured", 78.1, 44.0, 38.2, 26.4, 0.338, 0.489, "0.60 of copy", 0.563, (0.55, 0.57), 15)
BESIDE = "By prediction yours is faster than our solution (95 µs, ours 126 µs). It takes 1 launch, ours 3."
WRONG = {
    "reason": "the values differ from torch's", "max_error": 0.31, "allowed": 1e-05, "index": [0, 780],
    "expected": 0.205645, "got": 0.136306, "off": 0.069339, "over": "its row", "line": 9,
}  # fmt: skip
RAISED = {
    "reason": "KeyError: 'rows'", "type": "KeyError", "message": "'rows'", "line": 9,
    "traceback": ["line 6, in double: helper(x)", "line 9, in helper: return torch.empty_like(x)"],
}  # fmt: skip


class Screen(io.TextIOWrapper):
    """A stream that remembers what was shown; `tty` says it is a terminal."""

    def __init__(self, encoding: str = "utf-8", tty: bool = False) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, newline="")
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty

    @property
    def shown(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Playwright (pip install playwright) over a Chromium of the system."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no browser is driven here")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        pytest.skip("there is no Chromium here")
    with playwright.sync_playwright() as driver:
        yield driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])


@pytest.fixture
def colour_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """TERM and friends as on an ordinary terminal, whatever they are where the tests run."""
    monkeypatch.setenv("TRACK_COMMAND", "track")
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLUMNS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def shown(draw: Callable[[Terminal], object], **screen: Any) -> str:
    """What `draw` shows on such a Screen; a terminal is 80 columns wide."""
    stream = Screen(**screen)
    draw(Terminal(stream, width=80 if stream.tty else None))
    return stream.shown


def checks(**outcomes: str) -> tuple[Check, ...]:
    """A whole grading of two cases a group; `correct="failed"` fails the last case of a group."""
    found = [Check("imports", "passed", 0.1)]
    for group in ("correct", "edges"):
        outcome = outcomes.get(group, "passed")
        for case in CASES:
            worst = outcome if case == CASES[-1] or outcome == "not reached" else "passed"
            found.append(Check(f"{group}[{case}]", worst, 0.2, WRONG if worst == "failed" else {}))  # type: ignore[arg-type]
    for group in ("honest", "memory", "fast"):
        found.append(Check(group, outcomes.get(group, "passed")))  # type: ignore[arg-type]
    return tuple(found)


def verdict(status: str, device: str = CPU, **more: Any) -> Verdict:
    return Verdict(2, status, 4021, device, {"track": "0.1.0"}, seconds=2.4, **more)  # type: ignore[arg-type]


PIECES = (
    Part("reads of x", "right"),
    Part("launcher", "not started"),
    Part("stores of y", "wrong"),
    Part("bounds", "not judged"),
    Part("sums", "wrong", 9),
)
HUNT = Hunt(
    (
        Hunted("fixed", "masked lanes count in the variance", "masked lanes that are not neutral"),
        Hunted("standing"),
        Hunted("hidden"),
        Hunted("standing"),
    ),
    changed=3,
    ours=5,
)
UNTRIED = dict.fromkeys(("honest", "memory", "fast"), "not reached")
LATER = dict.fromkeys(("edges", *UNTRIED), "not reached")
UNMEASURED = {"memory": "not measured", "fast": "not measured"}
VERDICTS = {
    "passed-gpu": verdict(
        "passed", GPU, checks=checks(), speed=replace(SPEED, yours_us=40.2, ratio=1.095, of_copy=0.657)
    ),
    "passed-cpu": verdict("passed", checks=checks(**UNMEASURED)),
    "passed-beside": verdict("passed", checks=checks(memory="not measured"), beside=BESIDE),
    "failed": verdict(
        "failed",
        checks=checks(correct="failed", **LATER),
        diagnosis="Only sizes that are no multiple of BLOCK fail: the last block needs a mask.",
        look_at="the mask on line 9",
        output="a = 3\n" * 12,
    ),
    "half-done": verdict(
        "failed",
        checks=checks(correct="failed", **LATER),
        diagnosis="The result was never written: total launches no kernel yet.",
        pieces=PIECES,
    ),
    "hunt": verdict(
        "failed",
        checks=checks(correct="failed", **LATER),
        diagnosis="What would give a bug away.",
        look_at="the line of the bug",
        hunt=HUNT,
    ),
    "slow": verdict(
        "slow",
        GPU,
        checks=checks(fast="slow"),
        speed=SPEED,
        diagnosis="The row is read twice.",
        look_at="the loads",
    ),
    "inconclusive": verdict("inconclusive", GPU, checks=checks(fast="inconclusive"), speed=SPEED),
    "unstarted": verdict(
        "unstarted",
        checks=(Check("imports", "failed", 0, {"reason": "The file is still the skeleton."}),),
        diagnosis="Every TODO is still as it was: fill one in and grade again.",
    ),
    "syntax-error": verdict(
        "failed",
        checks=(
            Check("imports", "failed", 0, {"reason": "Syntax error on line 6.", "line": 6, "column": 5}),
        ),
        diagnosis="Python cannot read the file: fix this line and grade again.",
        look_at="line 6",
    ),
    "raised": verdict(
        "failed",
        checks=(Check("imports", "passed", 0.1), Check("correct[n=4-fp32]", "failed", 0.2, RAISED)),
        diagnosis="Your code raised KeyError on line 9: 'rows'",
        look_at="line 9",
    ),
    "slip": verdict(
        "failed",
        checks=(Check("imports", "passed", 0.1), Check("correct[n=4-fp32]", "failed", 0.2, RAISED)),
        diagnosis="What a slip says in a sentence of its own.",
        look_at="line 9",
    ),
    "crashed": verdict(
        "crashed",
        checks=checks(edges="crashed", **UNTRIED),
        diagnosis="Your code took its process down with n=1025-fp32: signal 11.",
    ),
    "timeout": verdict(
        "timeout", checks=(Check("imports", "timeout"),), diagnosis="Your code did not finish."
    ),
}


def grading(name: str, *, only: str | None = None, own: bool = True) -> Callable[[Terminal], None]:
    """Draws a whole grading: the events a judge would send, then the verdict."""

    def draw(terminal: Terminal) -> None:
        made = VERDICTS[name]
        Path("kernel.py").write_text(SKELETON)
        with Grading(terminal, day(2)) as live:
            live({"event": "note", "text": "loading torch and triton"})
            for check in made.checks:
                if check.outcome not in ("not reached", "not measured"):
                    live({"event": "started", "check": check.name})
                    live({"event": "checked", "check": check.__dict__})
            live.finish(made)
        passed = ("track start 8", "Adding") if own else None
        result.show(terminal, made, Path("kernel.py"), only=only, passed=passed)

    return draw
