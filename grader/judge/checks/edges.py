"""The checks of unusual inputs: single cases, and what two calls have to do with one another."""

from __future__ import annotations

from grader.challenge import Case, Challenge, Relation
from grader.judge.case.compare import Finding
from grader.judge.checks import correct
from grader.judge.session import Session


def check(session: Session, challenge: Challenge, case: Case) -> None:
    """Try one case of an unusual layout or of unusual values.

    Raises:
        CheckFailed, NotMeasured: as for a plain one.
    """
    correct.check(session, challenge, case)


def relate(session: Session, challenge: Challenge, relation: Relation) -> None:
    """Try a relation between two calls.

    Raises:
        CheckFailed: it does not hold, or one of the calls is wrong by itself.
        NotMeasured: the interpreter cannot be trusted with it.
    """
    one = session.trial(challenge, relation.case)
    two = session.trial(challenge, relation.case, relation.other(*one.arguments))
    trial = two if one.passed and not two.passed else one
    assert one.answer is not None
    assert two.answer is not None
    if trial.passed and not relation.holds(tuple(one.answer.outputs), tuple(two.answer.outputs)):
        trial.findings = [Finding("relation", relation.says, told=(relation.says, relation.name))]
    session.conclude(trial)
