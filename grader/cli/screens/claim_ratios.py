"""What came of the claims: for how many shapes each holds, the best and the worst of them, and all ratios."""

from __future__ import annotations

from grader.claim_result import Claimed, Shape
from grader.cli.screens.terminal import Terminal
from grader.verdict import Verdict


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
