"""Which elements of a result were never written, and what that says of the grid and the mask."""

from __future__ import annotations

import math

import torch

from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.axes import unread_axis
from grader.judge.diagnosis.behind import ADDED_TO_ANYTHING, garbage, of_holes
from grader.judge.diagnosis.blocks import Launched, Pairs, explained, launched, rounds_down
from grader.judge.diagnosis.evidence import Diagnosis, Evidence, Speech
from grader.judge.diagnosis.launched import grids, programs
from grader.judge.diagnosis.led import misled, too_soon
from grader.judge.diagnosis.numbering import misnumbered
from grader.judge.diagnosis.site import spelled, store_conditions, stores_in_loops
from grader.judge.diagnosis.source import adds_to_garbage
from grader.judge.diagnosis.suspects import suspected
from grader.judge.diagnosis.tiles import tiles

LANES = 32  # of a warp: few blocks are narrower


def unwritten(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | Speech | None:
    """The rule of the diagnosis for elements that still hold poison."""
    if finding.kind != "unwritten" or finding.where is None or trial.answer is None:
        return None
    pairs = [(found.where, t) for t in evidence.failed for found in t.findings[:1] if found.where is not None]
    holes = [hole for hole, _ in pairs]
    largest, its_trial = max(pairs, key=lambda pair: pair[0].numel())
    empty = _without_programs(pairs)
    if empty:
        return (
            f"The last, partial block was never written: with {empty.case.id} the grid is empty, and no "
            "program runs. Round up.",
            "triton.cdiv in the grid",
        )
    if unread := unread_axis(trial, evidence.source):
        return unread
    if read_elsewhere := of_holes(trial, finding, evidence.source):
        return too_soon(trial) or read_elsewhere
    if all(bool(hole.all()) for hole in holes) or not any(grids(owner) for _, owner in pairs):
        return _nothing(trial, finding, evidence)
    if by_numbers := misled(trial, finding, evidence.source):
        return by_numbers
    if largest.dim() > 1:
        # The largest launch may be the forward pass, and a gradient come from another.
        gradient = bool(finding.facts.get("label"))
        counts = [0 if gradient else programs(owner) for owner in (trial, its_trial)]
        launches = set() if gradient else launched(trial, evidence)
        looped = stores_in_loops(evidence.source)
        told = tiles((trial, counts[0]), (its_trial, counts[1]), pairs, launches, looped)
        if not gradient and (not told or "grid" in told[1]):
            told = misnumbered(trial, pairs, evidence) or told
    else:
        told = _run(holes, [*map(math.prod, grids(its_trial))], launched(trial, evidence), evidence.source)
    if not told and finding.facts.get("result", 0) < len(trial.challenge.writes):
        told = suspected(trial, finding, evidence)  # which may leave elements as they were
    return told or _somewhere(finding, grids(its_trial), evidence.source)


def _somewhere(finding: Finding, grids: list[list[int]], source: str) -> Diagnosis:
    """Elements without a pattern: what can leave them out; a loop, too, where a kernel stores in one, and a
    condition that a kernel makes its store by.
    """
    looped, conditions = stores_in_loops(source), store_conditions(source)
    where = finding.facts.get("at", finding.facts["index"])
    axes = "swapped axes of the grid, " if any(sum(n > 1 for n in grid) > 1 for grid in grids) else ""
    loop = "a loop that passes over blocks, " * looped
    if conditions:
        return (
            f"{finding.reason[0].upper()}{finding.reason[1:]}, the first at {where}: no store reached them. "
            f"Whether a kernel stores is decided on {spelled(conditions)}: where it does not, they hold what "
            "torch.empty left there. A grid, a mask or an offset may leave elements out, too.",
            f"the condition on {spelled(conditions)}",
        )
    return (
        f"{finding.reason[0].upper()}{finding.reason[1:]}, the first at {where}: no store reached them. "
        f"A grid or block that is too small does that, {axes}{loop}a mask that leaves elements out, or a "
        "wrong offset.",
        f"the grid, {'the loop, ' * looped}and the offsets and the mask of the store",
    )


def _without_programs(pairs: Pairs) -> Trial | None:
    """A case whose grid rounds down to 0; none where one with programs is never written either."""
    there = [(hole, owner) for hole, owner in pairs if 0 not in owner.case.sizes.values()]
    empty = [owner for _, owner in there if any(0 in grid for grid in grids(owner))]
    whole = [owner for hole, owner in there if bool(hole.all())]
    return empty[0] if empty and len(whole) == len(empty) else None


def _nothing(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis:
    if not grids(trial):
        same = (other for other in evidence.trials if other.challenge is trial.challenge)
        return _unlaunched(trial, finding, any(map(grids, same)))
    if finding.facts["result"] < len(trial.challenge.writes):
        return (
            f"{trial.results[finding.facts['result']]} is after the call what it was before.",
            "tl.store and its pointer",
        )
    if "tl.atomic_" in evidence.source and adds_to_garbage(evidence.source):
        return ADDED_TO_ANYTHING
    name = str(finding.facts.get("at", "")).partition("[")[0]
    if told := garbage(trial, evidence.source):
        return f"The result {name + ' ' * bool(name)}is {told[0]}", told[1]
    return (
        f"The result {name + ' ' * bool(name)}was never written: it still holds what torch.empty left there, "
        "or is made from memory that does.",
        "tl.store and its pointer, and what is read before it is written",
    )


def _unlaunched(trial: Trial, finding: Finding, elsewhere: bool) -> Diagnosis:
    """What no kernel wrote; `elsewhere` is whether one runs in another case."""
    name = str(finding.facts.get("at", "")).partition("[")[0]
    if elsewhere:
        in_place = finding.facts.get("result", 0) < len(trial.challenge.writes)
        held = "what it held before" if in_place else "what torch.empty left there"
        return (
            f"With {trial.case.id} no kernel runs, and the result {name + ' ' * bool(name)}still holds "
            f"{held}.",
            "where the function returns early or skips the launch, or a grid is empty",
        )
    return f"The result was never written: {trial.challenge.entry} launches no kernel yet.", "the launch"


def _run(holes: list[torch.Tensor], programs: list[int], launches: Launched, source: str) -> Diagnosis | None:
    """The end of a vector left out; several sizes together tell which end.

    Args:
        programs: of each launch.
    """
    flat = [hole.reshape(-1) for hole in holes]
    starts = [int(hole.nonzero()[0]) for hole in flat]
    if not all(bool(hole[start:].all()) for hole, start in zip(flat, starts, strict=True)):
        return None
    left = [len(hole) - start for hole, start in zip(flat, starts, strict=True)]
    if len(left) > 1 and set(left) == {1}:
        if any(starts) and not any(start % LANES for start in starts):
            return (
                "The last element was never written, in each case that fails, where it is alone in its "
                "block: the grid ends one program early.",
                "the grid",
            )
        return (
            "The last element was never written, in each case that fails: the mask ends one early.",
            "the mask",
        )
    partial = all(start % _power(count) == 0 for start, count in zip(starts, left, strict=True))
    loops = "num_programs" in source or stores_in_loops(source)
    tile = math.gcd(*starts)
    if len(set(starts)) > 1 and loops and all(n <= tile for n in left) and tile in left:
        return (
            f"The last {left[0]} of {len(flat[0])} elements were never written: the last block is left out, "
            "a whole one, too. Does the loop end one block early, or the grid?",
            "where the loop over blocks ends, and the grid",
        )
    if len(set(starts)) > 1 and partial and (loops or rounds_down(launches, holes)):
        return (
            f"The last {left[0]} of {len(flat[0])} elements were never written: the last, partial block is "
            + ("left out: the loop ends before it." if loops else "left out. Round up."),
            "where the loop over blocks ends, and the grid" if loops else "triton.cdiv in the grid",
        )
    flattened: Launched = {((math.prod(shape),), count) for shape, count in launches}
    return _first_block(starts, left, programs, [block for (block,) in explained(flattened)])


def _first_block(starts: list[int], left: list[int], programs: list[int], counted: list[int]) -> Diagnosis:
    """How far the programs came, from where each vector was left and how much of it was.

    Args:
        counted: blocks of which there are as many as programs in every launch.
    """
    block = starts[0]
    if max(programs) == 1 and block:
        return (
            f"Elements from {block} on were never written: one program ran, and its block ends there.",
            "the offsets of a block, what a program does after its first one, and the grid",
        )
    if len(set(starts)) == 1 and block and any(count > block for count in left):
        first = "element 0" if block == 1 else "the first block"
        if min(programs) > 1:
            return (
                f"Elements from {block} on were never written, though more than one program ran: each stores "
                f"to {first}, or a mask leaves out the others.",
                "tl.program_id, and what is stored where",
            )
        return (
            f"Elements from {block} on were never written: only {first} is.",
            "tl.program_id and the grid",
        )
    if len(counted) == 1:
        often, rest = divmod(counted[0], max(block, 1))
        each = f"{often} blocks of {block}" if often > 1 and not rest else f"{counted[0]} elements"
        return (
            f"Elements from {block} on were never written, though a program runs for every {each}: what a "
            "program stores is less than that, or lies elsewhere.",
            "the grid, and the offsets and the mask of the store",
        )
    return (
        f"Elements from {block} on were never written: the programs end before the result does.",
        "the grid",
    )


def _power(count: int) -> int:
    """The smallest power of two that is no less."""
    return 1 << (count - 1).bit_length()
