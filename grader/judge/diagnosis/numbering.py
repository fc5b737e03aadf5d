"""Tiles that nobody writes: wrong numbers of tiles for as many programs, or tiles added up to a grid."""

from __future__ import annotations

import torch

from grader.judge.case.trial import Trial
from grader.judge.diagnosis.blocks import Pairs, alike, explained, launched
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.launched import programs


def misnumbered(trial: Trial, pairs: Pairs, evidence: Evidence) -> Diagnosis | None:
    """Some tile explains every launch, and every hole is made of such tiles: the grid is right. Or it is
    what comes of the numbers of tiles along both axes if they are added.
    """
    holes = [hole for hole, owner in pairs if alike(owner, trial)]
    launches = launched(trial, evidence)
    if programs(trial) < 2 or any(hole.dim() != 2 for hole in holes) or not launches:
        return None
    finding = trial.findings[0]
    where = f"{finding.reason[0].upper()}{finding.reason[1:]}, the first at {finding.facts.get('at')}"
    right = explained(launches)
    if any(all(_made_of(hole, *tile) for hole in holes) for tile in right):
        return (
            f"{where}, though {programs(trial)} programs were launched, as many as there are tiles: more "
            "than one takes the same tile, or one beside the result.",
            "how a program's number becomes the numbers of its tile",
        )
    if not right and any(all(_made_of(hole, *tile) for hole in holes) for tile in explained(launches, sum)):
        return (
            f"{where}: {programs(trial)} programs were launched, the number of tiles down plus the number of "
            "tiles across. A program for each tile takes the one times the other.",
            "the grid",
        )
    return None


def _made_of(hole: torch.Tensor, height: int, width: int) -> bool:
    """Whether every tile is a hole as a whole, or has none."""
    rows, columns = hole.shape
    down, right = torch.arange(rows) // height * height, torch.arange(columns) // width * width
    return bool((hole == hole[down[:, None], right[None, :]]).all())
