"""The honest check: did the learner's kernels compute the answers, or did something else?

It looks at what every trial of this grading observed. The learner's honest slips come first: a torch call
left in an `except`, a `.contiguous()` that copies before the kernel runs, an output that no kernel ever saw.
"""

from __future__ import annotations

import torch

from grader.answers import Failed, TensorOutput
from grader.judge.case.trial import Trial
from grader.judge.session import CheckFailed, Session

COPIES = ("clone", "copy_", "_to_copy")


def check(session: Session) -> None:
    """Look at all trials.

    Raises:
        CheckFailed: the first thing that no kernel did.
    """
    for trial in session.evidence.trials:
        sentence, look_at = _unfair(trial)
        if sentence:
            raise CheckFailed("failed", {"reason": sentence, "case": trial.case.id}, (sentence, look_at))


def _unfair(trial: Trial) -> tuple[str, str]:
    assert trial.answer is not None
    report = trial.answer.report
    assert not isinstance(report, Failed)
    tensors = [entry for entry in report.outputs if isinstance(entry, TensorOutput)]
    inputs = [value for value in trial.arguments if isinstance(value, torch.Tensor)]
    # Nothing to compute, or nothing to compute it from, needs no kernel.
    empty = all(t.numel() == 0 for t in trial.answer.outputs) or all(t.numel() == 0 for t in inputs)
    worked = [op for op in report.foreign if op not in trial.challenge.allow]
    if worked:
        ops = ", ".join(worked[:3])
        if worked[0] in COPIES:
            return (
                f"torch copied a tensor first ({ops}): pass its strides to the kernel instead.",
                ".contiguous(), .clone()",
            )
        share = "part of the work" if report.launches else "the work"
        return f"torch did {share}: {ops} ran outside of your kernel.", f"the torch call behind {worked[0]}"
    if tensors and not report.launches and not empty:
        return "No kernel was launched: the result was computed by something else.", "the launch"
    if report.tampered:
        return (
            f"The bytes of {report.tampered[0]} changed, and no kernel wrote them.",
            "writes outside of kernels",
        )
    if any(not entry.launched and 0 not in entry.shape for entry in tensors) and not empty:
        return "The result is a tensor that no kernel was given.", "which tensor is returned"
    return "", ""
