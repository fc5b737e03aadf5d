"""What a few tried cases say of one piece. Each sentence must hold for all of them; else nothing is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch

from grader.challenge import Piece
from grader.challenge.harness.compare import Finding
from grader.challenge.harness.trial import Trial
from grader.performance.counting.access_trace import TracedLaunch
from grader.runner_answers import Failed
from grader.verdict import State

FORM = ("arity", "type", "shape", "dtype", "device", "layout", "scalar", "unconnected")
TILE = 16  # a size that is no multiple of it leaves a part of a tile without elements


def all_of_it(trials: Sequence[Trial], piece: Piece) -> State:
    """Right if nothing at all is wrong; with `results`, if nothing is wrong with these."""
    if not piece.results:
        return "right" if all(trial.passed for trial in trials) else "wrong"
    state = stores(trials, piece)
    return "wrong" if state == "right" and any(_of(trial, piece) for trial in trials) else state


def stores(trials: Sequence[Trial], piece: Piece) -> State:
    """Right if no element of the results still holds what its memory held when it was allocated."""
    formed = [trial for trial in trials if _formed(trial) and _shows_stores(trial, piece)]
    missing = [_missing(trial, piece) for trial in formed]
    if not formed:
        return "not judged"
    if not any(missing):
        return "right"
    return "not started" if all(found and all(found) for found in missing) else "wrong"


def bounds(trials: Sequence[Trial], piece: Piece) -> State:
    """Wrong once an access lies beside its tensor; right only where all was written and masks were needed."""
    if any(finding.kind == "overrun" for trial in trials for finding in trial.findings):
        return "wrong"
    masked = any(_needs_masks(trial) for trial in trials)
    return "right" if masked and stores(trials, piece) == "right" else "not judged"


def values(trials: Sequence[Trial], piece: Piece) -> State:
    """Of results that were written, all of each."""
    state = stores(trials, piece)
    if state != "right":
        return "not started" if state == "not started" else "not judged"
    return "wrong" if any(_of(trial, piece) for trial in trials) else "right"


def read(launches: Sequence[TracedLaunch], piece: Piece) -> State:
    """Right if programs load every element of what a kernel is to read, in all of its launches."""
    shares = [_share(launch, name) for launch in launches for name in piece.reads]
    if not shares:
        return "not judged"
    if not any(shares):
        return "not started"
    return "right" if all(share == 1 for share in shares) else "wrong"


STATES: Mapping[str, Callable[[Sequence[Trial], Piece], State]] = {
    "all": all_of_it,
    "stores": stores,
    "bounds": bounds,
    "values": values,
}


def _formed(trial: Trial) -> bool:
    """Whether there are results to look at."""
    raised = trial.answer is None or isinstance(trial.answer.report, Failed)
    return not raised and not any(finding.kind in FORM for finding in trial.findings)


def _shows_stores(trial: Trial, piece: Piece) -> bool:
    """Of no keys, or of an output that is not used, there is no dk; and what nobody wrote is a NaN."""
    wanted = [want.exact for want in trial.wanted]
    if any(at >= len(wanted) for at in piece.results):
        return False
    results = [wanted[at] for at in piece.results or range(len(wanted))]
    return all(exact.numel() and not exact.isnan().any() for exact in results)


def _of(trial: Trial, piece: Piece) -> list[Finding]:
    """What is wrong with the results of a piece."""
    found = [finding for finding in trial.findings if "result" in finding.facts]
    return [finding for finding in found if not piece.results or finding.facts["result"] in piece.results]


def _missing(trial: Trial, piece: Piece) -> list[bool]:
    """For each result that is not written everywhere, whether it is written nowhere."""
    found = [finding.where for finding in _of(trial, piece) if finding.kind == "unwritten"]
    return [bool(where.all()) for where in found if where is not None]


def _needs_masks(trial: Trial) -> bool:
    sizes = [size for size in trial.case.sizes.values() if isinstance(size, int)]
    return any(size % TILE for size in sizes if not isinstance(size, bool))


def _share(launch: TracedLaunch, name: str) -> float:
    """Of the elements of a parameter, the share that some program loads."""
    drawn = launch.tensors[name]
    steps = [step for program in launch.programs for step in program.steps if step.tensor == name]
    runs = [run for step in steps if step.kind == "load" for run in step.touched]
    read = {element for first, count in runs for element in range(first, first + count)}
    last = sum((size - 1) * stride for size, stride in zip(drawn.shape, drawn.stride, strict=True))
    whole = torch.arange(last + 1).as_strided(drawn.shape, drawn.stride).reshape(-1).tolist()
    return sum(element in read for element in whole) / len(whole) if whole else 1.0
