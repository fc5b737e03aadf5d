"""How far inside its gates a right result lies."""

from __future__ import annotations

import torch

from grader.challenge.cases.compare import Expected, relative
from grader.challenge.cases.compare_values import all_right
from grader.challenge.cases.trial import Trial


def passes_with(trial: Trial, times: float) -> bool:
    """Whether a right result would be right, too, with errors so many times as large."""
    if trial.case.exact or trial.answer is None or trial.challenge.judges:
        return True
    wanted = [want for want in trial.expected if isinstance(want, Expected)]
    if any(want.exact.is_meta for want in wanted):  # gigabytes that nobody kept
        return True
    pairs = zip(trial.answer.outputs, wanted, strict=True)
    return all_right(trial, [out if want.by_code else _grown(out, want, times) for out, want in pairs])


def _grown(out: torch.Tensor, want: Expected, times: float) -> torch.Tensor:
    exact = want.exact.to(out.device).view(out.shape)
    error = out.double() - exact
    return torch.where(error.isfinite(), exact + times * error, out.double())


def excess(trial: Trial) -> float:
    """How many times what its gates allow a wrong result is off; infinite where more than values is wrong."""
    every = [
        relative(finding) / allowed
        if finding.kind == "values" and (allowed := finding.facts.get("allowed", 0.0)) > 0
        else float("inf")
        for finding in trial.findings
    ]
    return max(every, default=0.0)
