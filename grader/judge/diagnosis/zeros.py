"""Results that are 0 where nothing was added up, as by a loop that takes no turn."""

from __future__ import annotations

import ast

import torch

from grader.judge.case.compare import Finding
from grader.judge.case.naming import element
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.fit import wrong_output
from grader.judge.diagnosis.site import has_loop
from grader.judge.diagnosis.source import takes_maximum
from grader.judge.diagnosis.standins import floor

NEARLY_ALL = 0.9  # of what is right is not 0: of products some are, by luck of the draw
LOOK_AT = "the loop, where it starts and ends, and what it adds up"


def nothing_added(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for a result of 0 alone, in several cases and whatever is right there."""
    pairs = _pairs(evidence)
    if len(pairs) < 2 or any(bool(got.any()) or _share(want != 0) < NEARLY_ALL for _, got, want in pairs):
        return None
    return (
        f"{_named(trial, 'The result')} is 0 everywhere, as if nothing was added up. Does the loop take a "
        "turn, and add to what is stored?",
        LOOK_AT,
    )


def rows_of_zeros(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for whole rows of 0 in the first case, where other numbers belong."""
    pair = next(((got, want) for owner, got, want in _pairs(evidence) if owner is trial), None)
    if pair is None or pair[0].dim() < 2 or pair[0].shape[-1] < 2:
        return None
    rows = (pair[0] == 0).all(dim=-1) & (pair[1] != 0).all(dim=-1)
    if not bool(rows.any()):
        return None
    first = element(_named(trial), [int(i) for i in rows.nonzero()[0]])
    whole = f"Whole rows are 0 where other numbers belong, the first is {first}:"
    lowest = floor(evidence.source) if takes_maximum(evidence.source) else None
    if trial.case.values == "negative" and lowest:
        return (
            f"{whole} {lowest[0]:.6g} stands on line {lowest[1]}, in a masked lane or as a start, and is the "
            "maximum of what lies below it. Only -inf is below all.",
            f"line {lowest[1]}",
        )
    return (
        f"{whole} as if nothing was added up for them. Does the loop take a turn there?",
        LOOK_AT,
    )


def _share(mask: torch.Tensor) -> float:
    return float(mask.double().mean())


def _pairs(evidence: Evidence) -> list[tuple[Trial, torch.Tensor, torch.Tensor]]:
    """What was given and what is right, of a file in which kernels loop."""
    loops = has_loop(ast.parse(evidence.source))
    failed = evidence.failed if loops else []
    return [(trial, *pair) for trial in failed if (pair := wrong_output(trial))]


def _named(trial: Trial, otherwise: str = "") -> str:
    """What the message calls the wrong result."""
    name: str = trial.findings[0].facts.get("at", "").partition("[")[0]
    return name or otherwise
