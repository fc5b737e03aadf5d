"""Is the autotuner what the day asks for? What its calls showed is looked at once all else is right."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from grader.challenge import Challenge
from grader.challenge.harness.trial import Trial
from grader.challenge.loading import weight
from grader.judge.background_compile import Told as Compiled
from grader.judge.checks import compiles
from grader.judge.failures import failed
from grader.judge.session import Session
from grader.runner_answers import Tuning

FEWEST, MANY = 2, 4  # configs to choose among; of so many some must be dropped for some problem
APART = 4  # times as large a size may ask for another config
Seen = tuple[Trial, Tuning]
Told = tuple[str, str]  # a sentence, and what to look at


def named(session: Session, challenge: Challenge) -> None:
    """Hold the names in the autotuner's key against the kernel's arguments, before anything is timed.

    Raises:
        CheckFailed: one is no argument, which says more than what it costs.
    """
    if challenge.tuner is not None:
        _raise(_strangers(_seen(session, challenge)))


def check(session: Session, challenge: Challenge) -> None:
    """Hold the autotuner of the cases against what is asked.

    Raises:
        CheckFailed: it does not choose, its key misses something, nothing is pruned, or not enough.
    """
    if challenge.tuner is None or not any(t.challenge is challenge for t in session.evidence.trials):
        return
    seen = _seen(session, challenge)
    told = _few(seen)
    told = told or next((told for size in challenge.tuner.key if (told := _mistaken(seen, size))), None)
    told = told or _unpruned(seen)
    _raise(told or (_unfit(session.acceptance.result()) if session.acceptance else None))


def _seen(session: Session, challenge: Challenge) -> list[Seen]:
    trials = [trial for trial in session.evidence.trials if trial.challenge is challenge]
    return [(trial, tuning) for trial in trials for tuning in (trial.called.tunings if trial.called else ())]


def _raise(told: Told | None) -> None:
    if told:
        raise failed(*told, fact="autotuner")


def _few(seen: Sequence[Seen]) -> Told | None:
    most = max((tuning.configs for _, tuning in seen), default=0)
    if not most:
        return "No autotuner chose a config in any case: @triton.autotune is asked for.", "the autotuner"
    if most < FEWEST:
        return "The autotuner has one config, and nothing to choose among.", "the list of configs"
    return None


def _strangers(seen: Sequence[Seen]) -> Told | None:
    for _, tuning in seen:
        if tuning.strangers:
            named = ", ".join(map(repr, tuning.strangers))
            verb = "is no argument" if len(tuning.strangers) == 1 else "are no arguments"
            return (
                f"The autotuner's key names {named}, which {verb} of {tuning.kernel}: Triton ignores "
                "that without a word.",
                "key=",
            )
    return None


def _mistaken(seen: Sequence[Seen], size: str) -> Told | None:
    """Two problems that differ in one size alone, and in no part of the key."""
    for (one, its), (other, others) in itertools.combinations(seen, 2):
        same = (its.kernel, its.key) == (others.kernel, others.key) and one.case.dtype == other.case.dtype
        a, b = (dict(trial.case.sizes) for trial in (one, other))
        low, high = sorted((a.pop(size), b.pop(size)))
        if same and a == b and high >= APART * low:
            return (
                f"The autotuner's key does not tell {size} = {low} from {size} = {high}: the config that "
                "suits whichever comes first serves both.",
                "key=",
            )
    return None


def _unpruned(seen: Sequence[Seen]) -> Told | None:
    """Among many configs some suit no small problem."""
    left = [(trial, tuning) for trial, tuning in seen if tuning.left is not None]
    if not left or max(tuning.configs for _, tuning in left) < MANY:
        return None
    if any((tuning.left or 0) < tuning.configs for _, tuning in left):
        return None
    smallest, tuning = min(left, key=lambda pair: weight(pair[0].case))
    return (
        f"Pruning drops no config in any case: with {smallest.case.id} all {tuning.configs} are timed, even "
        "those whose tiles are far larger than the result.",
        "prune_configs_by",
    )


def _unfit(compiled: Sequence[Compiled]) -> Told | None:
    """Without a GPU: what pruning left, and a GPU has no shared memory for."""
    found = [one for one in compiled if one.tuned and compiles.too_large(one)]
    if not found:
        return None
    most = max(found, key=lambda one: one.shared or 0)
    needs, has = (most.shared or 0) >> 10, compiles.GPU.shared >> 10
    return (
        f"With {most.case}, pruning leaves a config of {most.kernel} that needs {needs} KB of shared memory "
        f"where an {compiles.GPU.name} has {has}: it would be compiled, and skipped.",
        "prune_configs_by",
    )
