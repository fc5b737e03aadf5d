"""Elements of a result that were never written: which ones, and what the launches say of that."""

from __future__ import annotations

import ast
import itertools
import math

import torch

from grader.challenge.cases.compare import Expected, Finding
from grader.challenge.cases.result_names import element
from grader.challenge.cases.trial import Trial
from grader.diagnosis.evidence import Diagnosis, Evidence, Speech
from grader.diagnosis.launches import grids, involved, launches, programs
from grader.diagnosis.provenance import of_holes, reached
from grader.diagnosis.races import too_soon
from grader.diagnosis.suspects import suspected
from grader.diagnosis.syntax import functions, last, stores_in_loops

SIDES = [1 << power for power in range(13)]  # of a tile
FEW = 3  # launches, of different sizes: fewer agree with some tile by chance
NAMES = {1: ("Elements",), 2: ("Rows", "Columns")}
Pairs = list[tuple[torch.Tensor, Trial]]  # holes (True where never written), each with its trial


def unwritten(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | Speech | None:
    """The rule of the diagnosis for elements that still hold poison."""
    if finding.kind != "unwritten" or finding.where is None or trial.answer is None:
        return None
    pairs = [(found.where, t) for t in evidence.failed for found in t.findings[:1] if found.where is not None]
    if empty := _without_programs(pairs):
        return (
            f"The last, partial block was never written: with {empty.case.id} the grid is empty, and no "
            "program runs. Round up.",
            "triton.cdiv in the grid",
        )
    if unread := _unread_axis(trial, evidence.source):
        return unread
    if read_elsewhere := of_holes(trial, finding, evidence.source):
        return too_soon(trial) or read_elsewhere
    # A wrong function may leave elements as they were, where a result is written in place.
    if finding.facts.get("result", 0) < len(trial.challenge.writes) and (
        wrong := suspected(trial, finding, evidence)
    ):
        return wrong
    if all(bool(hole.all()) for hole, _ in pairs) or not any(grids(owner) for _, owner in pairs):
        return _nothing(trial, finding, evidence)
    gradient = bool(finding.facts.get("label"))  # which another launch than the largest may have stored
    told = _whole_parts(finding) or (None if gradient else _misnumbered(trial, finding, pairs, evidence))
    looped = stores_in_loops(evidence.source)
    return told or _last_tiles(pairs) or _from_on(pairs, gradient, looped) or _somewhere(finding, looped)


def _somewhere(finding: Finding, looped: bool) -> Diagnosis:
    """Elements without a pattern: what can leave them out."""
    return (
        f"{_first(finding)}: no store reached them. A grid, block or loop that ends too early does that, a "
        "mask that leaves elements out, or a wrong offset.",
        f"the grid, {'where the loop ends, ' * looped}and the offsets and the mask of the store",
    )


def _first(finding: Finding) -> str:
    where = finding.facts.get("at", finding.facts["index"])
    return f"{finding.reason[0].upper()}{finding.reason[1:]}, the first at {where}"


def _without_programs(pairs: Pairs) -> Trial | None:
    """A case whose grid rounds down to 0; none where one with programs is never written either."""
    there = [(hole, owner) for hole, owner in pairs if 0 not in owner.case.sizes.values()]
    empty = [owner for _, owner in there if any(0 in grid for grid in grids(owner))]
    whole = [owner for hole, owner in there if bool(hole.all())]
    return empty[0] if empty and len(whole) == len(empty) else None


def _unread_axis(trial: Trial, source: str) -> Diagnosis | None:
    """Where a launch that took part has several programs along an axis that its kernel never asks for."""
    tree, apart = ast.parse(source), involved(trial, source).elsewhere
    for launch in (one for one in launches(trial) if one.kernel not in apart):
        names = reached([launch.kernel], tree)
        inside = [node for f in functions(tree) if f.name in names for node in ast.walk(f)]
        calls = [n for n in inside if isinstance(n, ast.Call) and last(n.func) == "program_id"]
        given = [[*call.args, *(word.value for word in call.keywords)][:1] for call in calls]
        read = {axis.value for axes in given for axis in axes if isinstance(axis, ast.Constant)}
        known = all(isinstance(axis, ast.Constant) for axes in given for axis in axes)
        for axis, count in enumerate(launch.grid):
            if count > 1 and read and known and axis not in read:
                return (
                    f"The grid of {launch.kernel} has {count} programs along axis {axis}, and the "
                    f"kernel never reads tl.program_id({axis}): all of these do the same.",
                    "tl.program_id, and the axes of the grid",
                )
    return None


def _nothing(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis:
    """What is said of a result of which nothing was written."""
    if not grids(trial):
        same = (other for other in evidence.trials if other.challenge is trial.challenge)
        why = f"{trial.challenge.entry} launches no kernel yet"
        why = f"with {trial.case.id} no kernel runs" if any(map(grids, same)) else why
        return f"The result was never written: {why}.", "the launch"
    if finding.facts["result"] < len(trial.challenge.writes):
        return (
            f"{trial.results[finding.facts['result']]} is after the call what it was before.",
            "tl.store and its pointer",
        )
    name = str(finding.facts.get("at", "")).partition("[")[0]
    return (
        f"The result {name + ' ' * bool(name)}was never written: it still holds what torch.empty left there, "
        "or is made from memory that does.",
        "tl.store and its pointer, and what is read before it is written",
    )


def _whole_parts(finding: Finding) -> Diagnosis | None:
    """Parts such as a head, or a matrix of a batch, of which each is whole or a hole."""
    hole = finding.where
    for axes in range(1, hole.dim() - 1 if hole is not None and not bool(hole.all()) else 0):
        assert hole is not None
        inner = hole.flatten(axes)
        if bool((inner.all(dim=-1) == inner.any(dim=-1)).all()):
            parts = inner.all(dim=-1)
            name = str(finding.facts.get("at", "")).partition("[")[0]
            named = element(name or finding.facts.get("label") or "the result", parts.nonzero()[0].tolist())
            missing = int(parts.sum())
            others = f" and {missing - 1} more of {parts.numel()} were" if missing > 1 else " was"
            return (
                f"{named}{others} never written, as a whole: no program takes "
                f"{'them' if missing > 1 else 'it'}, or the offset of the store leads elsewhere.",
                "the grid, and the start of each part in the result",
            )
    return None


def _misnumbered(trial: Trial, finding: Finding, pairs: Pairs, evidence: Evidence) -> Diagnosis | None:
    """Some tile explains the programs of every launch, and every hole is made of such tiles: so the grid is
    right.
    """
    holes = [hole for hole, owner in pairs if _alike(owner, trial)]
    ran = {
        (want.exact.shape, programs(other))
        for other in evidence.trials
        for want in other.expected[:1]
        if _alike(other, trial) and isinstance(want, Expected)
    }
    if programs(trial) < 2 or len(ran) < FEW or any(len(shape) != 2 for shape, _ in ran):
        return None
    for tile in itertools.product(SIDES, SIDES):
        if all(_tiles(shape, tile) == count for shape, count in ran) and all(_of(h, *tile) for h in holes):
            return (
                f"{_first(finding)}, though {programs(trial)} programs were launched, as many as there are "
                "tiles: more than one takes the same tile, or one beside the result.",
                "how a program's number becomes the numbers of its tile",
            )
    return None


def _alike(one: Trial, other: Trial) -> bool:
    """Of the same function and dtype, with something to write: blocks may go by the dtype."""
    same = one.challenge.entry == other.challenge.entry and one.case.dtype == other.case.dtype
    return same and one.case.calls == 1 and 0 not in one.case.sizes.values()


def _tiles(shape: tuple[int, ...], tile: tuple[int, int]) -> int:
    """How many tiles a matrix takes."""
    return math.prod(-(-full // side) for full, side in zip(shape, tile, strict=True))


def _of(hole: torch.Tensor, height: int, width: int) -> bool:
    """Whether every tile is a hole as a whole, or has none."""
    rows, columns = hole.shape
    down, right = torch.arange(rows) // height * height, torch.arange(columns) // width * width
    return bool((hole == hole[down[:, None], right[None, :]]).all())


def _last_tiles(pairs: Pairs) -> Diagnosis | None:
    """In every failed case a box in the corner was written, and along each axis less than a tile is left."""
    boxes = [(_box(~hole), hole.shape) for hole, _ in pairs]
    if not all(box for box, _ in boxes) or pairs[0][0].dim() < 2:
        return None
    for axis in range(pairs[0][0].dim()):
        cuts = [(box[axis], full[axis]) for box, full in boxes if box[axis] < full[axis]]
        tile = math.gcd(*(size for size, _ in cuts))
        if tile % 2 or any(size and full - size >= tile for size, full in cuts):
            return None
    return (
        "The last, partial tiles were never written: too few programs, a loop that ends too early or a "
        "mask leaves them out.",
        "the grid, the masks and the loops",
    )


def _box(written: torch.Tensor) -> list[int]:
    """Sides of the box in the corner that was written; none where that is no box."""
    places = [written.movedim(axis, 0).reshape(full, -1) for axis, full in enumerate(written.shape)]
    sides = [int(lines.any(dim=1).sum()) for lines in places]
    whole = bool(written[tuple(slice(side) for side in sides)].all())
    return sides if whole and int(written.sum()) == math.prod(sides) else []


def _from_on(pairs: Pairs, gradient: bool, looped: bool) -> Diagnosis | Speech | None:
    """The end of a vector, or the last rows or columns of a matrix, in the first case with such an end."""
    sides = ((hole, owner, side) for hole, owner in pairs for side in enumerate(NAMES.get(hole.dim(), ())))
    for hole, owner, (axis, name) in sides:
        across = hole.movedim(axis, 0).reshape(hole.shape[axis], -1)
        cut = across.all(dim=1)
        first = int((~cut).sum())
        if 0 < first < len(cut) and bool(cut[first:].all()) and bool((across == cut[:, None]).all()):
            ran = 0 if gradient else programs(owner)
            why = {0: "no program stores there", 1: "one program ran, and what it stores ends there"}
            return (
                f"{name} from {first} on were never written: "
                f"{why.get(ran, f'none of {ran} programs stores there')}.",
                f"the grid, {'where the loop ends, ' * looped}and the offsets and the mask of the store",
                owner,
            )
    return None
