"""What is wrong with what the learner's test says of one candidate."""

from __future__ import annotations

from dataclasses import asdict

from grader.challenge.harness.compare import Finding, told
from grader.challenge.harness.trial import Trial
from grader.challenge.optional_fields import Candidate
from grader.runner_answers import Failed, PlainOutput

REFUSED = (
    "A right candidate is refused. Either a tolerance is tighter than rounding, or the test wants what was "
    "never promised, such as equal bits."
)


def candidate_of(trial: Trial) -> Candidate:
    """What the test was handed."""
    return next(value for value in trial.arguments if isinstance(value, Candidate))


def judged(trial: Trial) -> list[Finding]:
    """Nothing where it is right. An exception is as good as False, where False is right."""
    assert trial.answer is not None
    report, candidate = trial.answer.report, candidate_of(trial)
    if isinstance(report, Failed):
        fault = report.fault
        raised = Finding("error", f"{fault.type}: {fault.first_line}", asdict(fault))
        return [] if candidate.wrong else [raised]
    answer = report.outputs[0] if len(report.outputs) == 1 else None
    if not isinstance(answer, PlainOutput) or answer.type != "bool":
        got = answer.type if isinstance(answer, PlainOutput) else report.structure
        said = f"The test returns {got} where a bool is asked for."
        return [told("type", said, "what the test returns")]
    if answer.value is not bool(candidate.wrong):
        return []
    if not candidate.wrong:
        return [told("refused", REFUSED, "")]
    said = f"A wrong candidate is taken for a right one; what it does wrong has to do with {candidate.wrong}."
    return [told("missed", said, "")]
