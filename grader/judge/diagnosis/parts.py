"""Whole parts of a result that were never written, such as a head or a sequence: what their places say."""

from __future__ import annotations

import math

import torch

from grader.judge.case.compare import Finding
from grader.judge.case.naming import element
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.axes import unread_axis
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.fit import MOST
from grader.judge.diagnosis.launched import grids

FEWEST = 3  # axes: of a matrix, whole rows say more of grid and mask


def left_out(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for results of which each head, or matrix of a batch, is whole or a hole.

    Elsewhere such a mistake may leave out other parts, or store beside the result.
    """
    first = _parts(finding)
    failed = [other for other in evidence.failed if other.challenge is trial.challenge]
    alike = [other for other in failed if other.findings[0].kind in ("unwritten", "overrun")]
    if first is None or len(alike) < MOST * len(failed):
        return None
    if unread := unread_axis(trial, evidence.source):
        return unread
    missing, count = int(first.sum()), first.numel()
    others = f" and {missing - 1} more of {count} were" if missing > 1 else " was"
    sentence = f"{_named(finding, first.nonzero()[0].tolist())}{others} never written, as a whole"
    programs = min((math.prod(grid) for grid in grids(trial)), default=0)
    met = any(found.kind == "race" and found.facts["kind"] == "store" for found in trial.findings)
    why, look_at = _why(first, programs, met)
    return f"{sentence}{why}", look_at


def _why(missing: torch.Tensor, programs: int, met: bool) -> Diagnosis:
    """What follows on the sentence, from the programs of the smallest launch, and what to look at.

    Args:
        met: two programs are known to have stored to one place; else the last parts may have had none.
    """
    count = missing.numel()
    enough = f", though every launch has {count} programs or more"
    if programs < count:
        return (
            ": the offset of the store does not tell them apart, or no program takes them.",
            "the grid, and the start of each part in the result",
        )
    if not met and bool(missing.flatten()[int(missing.flatten().nonzero()[0]) :].all()):
        return (
            f"{enough}: where a part takes several, these are too few, or the offset of the store leads "
            "elsewhere.",
            "the grid, and the start of each part in the result",
        )
    if missing.dim() == 1 and not missing[0] and bool(missing[1:].all()):
        return f"{enough}: all seem to store to the same matrix.", "the batch stride of the store"
    return (
        f"{enough}: the offset of the store does not lead to a place of its own for each. It counts in the "
        "sizes of what is stored, all of them.",
        "the start of each part in the result",
    )


def _named(finding: Finding, index: list[int]) -> str:
    """`dk[0, 1]`, `[1] of the result`."""
    name = str(finding.facts.get("at", "")).partition("[")[0] or finding.facts.get("label") or "the result"
    return element(name, index)


def _parts(finding: Finding) -> torch.Tensor | None:
    """Which parts were never written, over as few leading axes as tell; None where one is written in part."""
    hole = finding.where
    if finding.kind != "unwritten" or hole is None or hole.dim() < FEWEST or bool(hole.all()):
        return None
    for axes in range(1, hole.dim() - 1):
        inner = hole.flatten(axes)
        if bool((inner.all(dim=-1) == inner.any(dim=-1)).all()):
            return inner.all(dim=-1)
    return None
