"""The check of a relation: what the results of two calls have to do with one another."""

from __future__ import annotations

from grader.challenge import Challenge, Relation
from grader.challenge.cases.compare import Finding
from grader.judge.session import Session


def check(session: Session, challenge: Challenge, relation: Relation) -> None:
    """Try a relation between two calls.

    Raises:
        CheckFailed: it does not hold, or one of the calls is wrong by itself.
    """
    one = session.trial(challenge, relation.case)
    two = session.trial(challenge, relation.case, relation.other(*one.arguments))
    trial = two if one.passed and not two.passed else one
    assert one.answer is not None
    assert two.answer is not None
    if trial.passed and not relation.holds(tuple(one.answer.outputs), tuple(two.answer.outputs)):
        trial.findings = [Finding("relation", relation.says, told=(relation.says, relation.name))]
    session.conclude(trial)
