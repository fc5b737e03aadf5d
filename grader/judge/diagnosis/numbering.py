"""As many programs as tiles, and yet tiles that nobody writes: the numbers of the tiles are wrong."""

from __future__ import annotations

import itertools

import torch

from grader.judge.case.compare import Expected
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.launched import programs
from grader.judge.diagnosis.tiles import Pairs

SIDES = tuple(1 << power for power in range(13))  # of a tile
FEW = 3  # launches, of different sizes: fewer agree with some tile by chance
Needed = tuple[int, int, int]  # rows and columns of a result, and the programs that were launched


def misnumbered(trial: Trial, pairs: Pairs, evidence: Evidence) -> Diagnosis | None:
    """The grid is right if some tile explains every launch, and every hole is made of such tiles."""
    holes = [hole for hole, owner in pairs if _alike(owner, trial)]
    launches = [launch for other in evidence.trials if _alike(other, trial) and (launch := _launch(other))]
    if programs(trial) < 2 or any(hole.dim() != 2 for hole in holes) or len(set(launches)) < FEW:
        return None
    if not any(
        all(_tiles(launch, height, width) for launch in launches)
        and all(_made_of(hole, height, width) for hole in holes)
        for height, width in itertools.product(SIDES, SIDES)
    ):
        return None
    finding = trial.findings[0]
    return (
        f"{finding.reason[0].upper()}{finding.reason[1:]}, the first at {finding.facts.get('at')}, though "
        f"{programs(trial)} programs were launched, as many as there are tiles: more than one takes the same "
        "tile, or one beside the result.",
        "how a program's number becomes the numbers of its tile",
    )


def _alike(one: Trial, other: Trial) -> bool:
    """Of the same function and dtype, with something to write: tiles may go by the dtype."""
    same = one.challenge.entry == other.challenge.entry and one.case.dtype == other.case.dtype
    return same and one.case.calls == 1 and 0 not in one.case.sizes.values()


def _launch(trial: Trial) -> Needed | None:
    want = next((want for want in trial.expected if isinstance(want, Expected)), None)
    if want is None or want.exact.dim() != 2:
        return None
    return (*want.exact.shape, programs(trial))


def _tiles(launch: Needed, height: int, width: int) -> bool:
    rows, columns, count = launch
    return -(-rows // height) * -(-columns // width) == count


def _made_of(hole: torch.Tensor, height: int, width: int) -> bool:
    """Whether every tile is a hole as a whole, or has none."""
    rows, columns = hole.shape
    down, right = torch.arange(rows) // height * height, torch.arange(columns) // width * width
    return bool((hole == hole[down[:, None], right[None, :]]).all())
