"""How a check ends that does not pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from grader.challenge.harness.trial import Trial
from grader.diagnosis.triton_errors import slip
from grader.runner_answers import Fault
from grader.runner_measurements import Work
from grader.verdict import Outcome


class CheckFailed(Exception):
    """A check did not pass.

    Args:
        outcome: failed, slow, inconclusive, crashed or timeout; or limit, which fails nothing.
        cause: the facts, for the check's record.
        told: the sentence and the thing to look at, where the check itself knows them.
        why: the sentence says why; otherwise one of a later check that does is told in its place.
        trial: of a limit, the case that shows it, where its sentence is to be found at the end.
    """

    def __init__(
        self,
        outcome: Outcome,
        cause: dict[str, Any],
        told: tuple[str, str] | None = None,
        why: bool = True,
        trial: Trial | None = None,
    ) -> None:
        super().__init__(cause.get("reason", outcome))
        self.outcome, self.cause, self.told, self.why, self.trial = outcome, cause, told, why, trial


def failed(sentence: str, look_at: str, outcome: Outcome = "failed", /, **facts: Any) -> CheckFailed:
    """A check that says itself what is wrong, and one thing to look at."""
    return CheckFailed(outcome, {"reason": sentence, **facts}, (sentence, look_at))


def unevaluated(fault: Mapping[str, Any]) -> CheckFailed:
    """A kernel that only a GPU can run. It is not passed over like what is not measured: nobody knows whether
    it is right, and whoever writes a file chooses which cases come there.

    Args:
        fault: a runner_answers.Fault as a dictionary.
    """
    where = f"line {fault['line']}" if fault["line"] else "a kernel"
    said = f"Not measured here: {where} needs a GPU ({fault['message']})."
    return failed(said, where, "inconclusive", **fault)


def raised(fault: Fault, source: str, sentence: str) -> CheckFailed:
    """The learner's code raised: what the exception means, where that is known, or else this sentence."""
    told = slip(asdict(fault), source)
    line = told.line if told else fault.line
    cause = {"reason": sentence, **asdict(fault), "line": line}
    look_at = f"line {line}" if line else "your file"
    return CheckFailed("failed", cause, (told.says if told else sentence, look_at))


def torch_worked(operator: str) -> CheckFailed:
    """What is right at the sizes of cases is done at full size by torch."""
    said = f"At full size torch did part of the work: {operator} ran outside of your kernel."
    return failed(said, f"the torch call behind {operator}")


def by_kernels(work: Work) -> None:
    """That calls of full size are the work of Triton's kernels.

    Raises:
        CheckFailed: torch does it, or nobody.
    """
    if work.operators:
        raise torch_worked(work.operators[0])
    if not work.launches:
        raise failed("At full size a call launches no kernel.", "the launcher's branches by size")


class NotMeasured(Exception):
    """A check has no meaning here, and says why."""
