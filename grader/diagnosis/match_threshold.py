"""When wrong values count as explained."""

from __future__ import annotations

import torch

from grader.challenge.harness.compare import Expected, gate
from grader.challenge.harness.trial import Trial

FIT = 4.0  # a fit may leave this many times the gate of the dtype


def close(got: torch.Tensor, want: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether `want` explains `got` up to rounding in `dtype`; never true of nothing, or of zeros alone."""
    if got.shape != want.shape or got.numel() < 2 or not bool(got.isfinite().all() and want.isfinite().all()):
        return False
    got, want = got.double(), want.double()  # integers have no norm
    if bool((want == want.reshape(-1)[0]).all()):
        return False  # anything constant fits a constant
    size = float(want.norm())
    return size > 0 and float((got - want).norm()) <= FIT * gate(dtype) * size


def out_dtype(trial: Trial) -> torch.dtype:
    """The dtype of the output that is wrong, or of the first floating one."""
    assert trial.answer is not None
    wrong = [found.facts.get("result", 0) for found in trial.findings[:1]]
    outputs = [trial.answer.outputs[number] for number in wrong] + trial.answer.outputs
    return next((out.dtype for out in outputs if out.dtype.is_floating_point), torch.float32)


def wrong_dtype(trial: Trial) -> torch.dtype:
    """The dtype of the output that is wrong."""
    assert trial.answer is not None
    number = trial.findings[0].facts.get("result", 0)
    dtype: torch.dtype = trial.answer.outputs[number].dtype
    return dtype


def wrong_output(trial: Trial) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The output whose values are wrong and what is right, both float64; None when no values are wrong."""
    if trial.answer is None or not trial.answer.outputs or trial.findings[0].kind != "values":
        return None
    number = trial.findings[0].facts.get("result", 0)
    want = [want for want in trial.expected if isinstance(want, Expected)][number]
    got, exact = trial.answer.outputs[number], want.exact.double()
    return (got.double().view(exact.shape), exact) if got.numel() == exact.numel() else None
