"""Elements of a result that were never written: which ones, and what the launches say of that."""

from __future__ import annotations

import torch

from grader.challenge.harness.compare import Finding
from grader.challenge.harness.trial import Trial
from grader.diagnosis.evidence import Diagnosis, Evidence, Speech
from grader.diagnosis.launch_record import grids, programs
from grader.diagnosis.provenance import of_holes
from grader.diagnosis.races import too_soon
from grader.diagnosis.source_context import stores_in_loops
from grader.diagnosis.suspects import suspected

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
    looped = stores_in_loops(evidence.source)
    return _from_on(pairs, gradient, looped) or _somewhere(finding, looped)


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
