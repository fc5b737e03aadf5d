"""What stands below a diagnosis: how far each piece is, what there is to do, bugs of a hunt, claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grader.bug_hunt_result import Hunt
from grader.claim_result import Claimed, Shape
from grader.cli.screens import terminal as screen
from grader.cli.screens.terminal import Terminal
from grader.verdict import Part, Verdict

COUNTED = {  # what the count of each state is followed by
    "fixed": "fixed",
    "standing": "standing (own case fails)",
    "hidden": "hidden behind another",
    "not judged": "not judged: its case raised, or torch did the part that it spoils",
}
TODO = re.compile(r"#\s*(TODO\b.*)")
MARKED = {"right": "passed", "wrong": "failed"}
MARKS: Mapping[str, screen.Part] = {"right": "✓", "wrong": "✗"}


def so_far(terminal: Terminal, pieces: Sequence[Part]) -> None:
    """One line of what was tried; nothing where nothing is known of any piece."""
    if any(piece.state != "not judged" for piece in pieces):
        terminal.line()
        lead = ("So far, each piece tried in a few cases with our code around it: ", "bold")
        marks = {state: terminal.mark(outcome) for state, outcome in MARKED.items()}
        terminal.line(lead, *_line(pieces, marks, terminal.dot), indent=2)


def spoken(pieces: Sequence[Part]) -> str:
    """`reads of x ✓ · stores of y ✗ · not started: launcher`: what was tried comes first."""
    return "".join(word if isinstance(word, str) else word[0] for word in _line(pieces, MARKS))


def _line(pieces: Sequence[Part], marks: Mapping[str, screen.Part], dot: str = " · ") -> list[screen.Part]:
    words: list[screen.Part] = []
    for entry in [*_tried(pieces, marks), *_untried(pieces)]:
        words += [dot if words else "", *entry]
    return words


def _tried(pieces: Sequence[Part], marks: Mapping[str, screen.Part]) -> Iterator[list[screen.Part]]:
    for piece in pieces:
        if piece.state in marks:
            raises = f" (line {piece.line} raises)" if piece.line else ""
            under = f" (no line under {piece.bare})" if piece.bare else ""
            yield [f"{piece.name} ", marks[piece.state], raises + under]


def _untried(pieces: Sequence[Part]) -> Iterator[list[screen.Part]]:
    for state in ("not started", "not judged"):
        names = [piece.name for piece in pieces if piece.state == state]
        if names:
            yield [f"{state}: {', '.join(names)}"]


def to_do(terminal: Terminal, path: Path) -> None:
    """The file's TODOs, line by line."""
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError:
        return
    found = [(number, todo[1]) for number, line in enumerate(lines, 1) if (todo := TODO.search(line))]
    if found:
        terminal.line()
        terminal.table([((f"line {number}", "dim"), text) for number, text in found])


def bugs(terminal: Terminal, hunt: Hunt) -> None:
    """A line of counts, a line for each bug that is gone, and the lines of code that were changed."""
    states = [bug.state for bug in hunt.bugs]
    counts = [f"{states.count(state)} {words}" for state, words in COUNTED.items() if state in states]
    terminal.line()
    terminal.line(("Bugs: ", "bold"), terminal.dot.join(counts), indent=2)
    for bug in hunt.bugs:
        if bug.state == "fixed":
            terminal.line(terminal.mark("passed"), f" fixed: {bug.name} ({bug.kind})", indent=4)
    ours = f"; in our solution {hunt.ours}" if hunt.ours else ""
    terminal.line(f"Lines of code changed: {hunt.changed}{ours}.", indent=2)


def claims(terminal: Terminal, verdict: Verdict) -> None:
    """A paragraph for each claim that was measured."""
    for claim in verdict.claims:
        terminal.line()
        torch = f"torch {verdict.versions.get('torch', '')}, {claim.backend}, {claim.part}"
        terminal.line(("Claim: ", "bold"), f"{claim.says} ({torch}).", indent=2)
        terminal.line(_held(claim), indent=2)
        terminal.table([(shape.case, _ratio(shape)) for shape in claim.shapes])


def _held(claim: Claimed) -> str:
    timed = claim.timed
    if not timed:
        return "No shape could be timed."
    best, worst = timed[0], timed[-1]
    return (
        f"{claim.of_torch:.2f}× is claimed: so it is for {claim.held} of {len(timed)} shapes. Best "
        f"{best.of_torch:.2f}× with {best.case}, worst {worst.of_torch:.2f}× with {worst.case}."
    )


def _ratio(shape: Shape) -> str:
    low, high = shape.interval
    return shape.why or f"{shape.of_torch:.2f}× torch's speed ({low:.2f} to {high:.2f})"
