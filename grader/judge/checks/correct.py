"""The checks of one case, and of a relation between two calls.

The first case that is wrong by more than a little is tried in a fresh process, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from grader.challenge import Case, Challenge, Relation
from grader.challenge.harness.compare import CLOSE, Finding, relative, told
from grader.challenge.harness.trial import Trial
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.session import Session

COPIES = 4  # of a case's tensors: drawn and compared in one process, used in another
LACKING = "it needs more memory than this GPU has"
VALUES = ("values", "nan", "inf", "special", "unwritten")  # kinds of findings


def check(session: Session, challenge: Challenge, case: Case) -> None:
    """Try one case.

    Raises:
        CheckFailed: something is wrong with it, or its runner was lost.
        NotMeasured: the GPU has no room for it.
    """
    with drawn(case):
        trial = session.trial(challenge, case)
    if lacking(trial):
        session.close()
        raise NotMeasured(LACKING)
    again = not session.request.fail_fast and not trial.passed
    if again and all(map(_by_little, session.evidence.failed)) and _right_afresh(session, trial):
        reason = "the result is right in the first call of a process, and wrong in a later one"
        trial.findings.insert(0, Finding("stale", reason, {"right_afresh": True}))
    if session.forgives(trial):
        raise NotMeasured("missed of the wrong candidates: forgiven")
    session.conclude(trial)


def check_relation(session: Session, challenge: Challenge, relation: Relation) -> None:
    """Try a relation between two calls.

    Raises:
        CheckFailed: it does not hold, or one of the calls is wrong by itself.
    """
    one = session.trial(challenge, relation.case)
    two = session.trial(challenge, relation.case, relation.other(*one.arguments))
    trial = two if one.passed and not two.passed else one
    if trial.passed and not relation.holds(tuple(one.outputs), tuple(two.outputs)):
        trial.findings = [told("relation", relation.says, relation.name)]
    session.conclude(trial)


def _right_afresh(session: Session, trial: Trial) -> bool:
    """Whether wrong values are right in a process that made no call before, on the same inputs."""
    if (
        trial.redrawn
        or trial.findings[0].kind not in VALUES
        or _by_little(trial)
        or not session.evidence.trials
    ):
        return False
    session.close()
    try:
        first = session.trial(trial.challenge, trial.case)
        return first.passed and not (trial.findings[0].kind == "unwritten" and _tuned(first))
    except CheckFailed:
        session.evidence.lost = None  # it was lost in our second look, not in the learner's case
        return False


def _tuned(trial: Trial) -> bool:
    """Whether an autotuner tried its configs in this call: they store what the chosen one leaves out."""
    return bool(trial.called and trial.called.tunings)


def _by_little(trial: Trial) -> bool:
    """Atomics round in another order each time: what is wrong by a rounding may be right by luck."""
    finding = trial.findings[0]
    return finding.kind == "values" and relative(finding) <= CLOSE


@contextlib.contextmanager
def drawn(case: Case) -> Iterator[None]:
    """Draw a case and compare its results, if there is room for it.

    Raises:
        NotMeasured: there is none, in a case that is for a GPU alone.
    """
    try:
        yield
    except torch.cuda.OutOfMemoryError:
        if not case.gpu:
            raise
        torch.cuda.empty_cache()
        raise NotMeasured(LACKING) from None


def lacking(trial: Trial) -> bool:
    """Whether a call found no memory where no call could be sure of it."""
    if trial.passed or not trial.case.gpu or trial.findings[0].facts.get("kind") != "memory":
        return False
    return COPIES * size(trial) > torch.cuda.mem_get_info()[1]


def size(trial: Trial) -> int:
    """Bytes of its arguments, upstream gradients and results."""
    given = {
        storage.data_ptr(): storage.nbytes()
        for value in (*trial.arguments, *trial.upstream)
        if isinstance(value, torch.Tensor) and (storage := value.untyped_storage())
    }
    results = sum(want.exact.numel() * want.dtype.itemsize for want in trial.wanted)
    return sum(given.values()) + results
