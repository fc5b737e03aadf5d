"""Values that are nearly right: what was computed in too low a precision."""

from __future__ import annotations

import statistics

import torch

from grader.challenge.case import SHORT
from grader.challenge.harness.compare import CLOSE, Finding, errors, relative
from grader.challenge.harness.trial import Trial
from grader.diagnosis.evidence import Diagnosis, Evidence, Speech
from grader.diagnosis.match_threshold import wrong_dtype, wrong_output
from grader.diagnosis.source import dots_in_tf32

ENOUGH = 8  # elements that are no luck
TF32 = (1.5e-5, 2e-3)  # relative errors of what products of fp32 numbers rounded to 11 bits become
NARROW = (torch.bfloat16, torch.float16, torch.float32)


def rounded(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis for results of which every number is one of a narrower dtype, near the right
    one.
    """
    alike = (other for other in evidence.failed if other.challenge.entry == trial.challenge.entry)
    pairs = ((other, pair) for other in alike if (pair := wrong_output(other)))
    told, pair = next(((t, pair) for t, pair in pairs if pair[0].numel() >= ENOUGH), (trial, None))
    if finding.kind != "values" or pair is None or relative(told.findings[0]) > CLOSE:
        return None
    wanted = wrong_dtype(told)
    wider = (dtype for dtype in NARROW if _wider(wanted, dtype))
    held = next((dtype for dtype in wider if _held(*pair, dtype)), None)
    if held is None or (held == torch.float16 and dots_in_tf32(evidence.source)):
        return None  # TF32 has as many bits as fp16
    return (
        f"Every element is a number of {SHORT[held]}, near the right one, and {SHORT[wanted]} is asked for: "
        f"it is computed in {SHORT[held]}, or ends in it.",
        "casts",
        told,
    )


def tf32(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for fp32 that is wrong by as much as TF32 rounds it, in nothing but fp32."""
    failed = evidence.failed
    lines = dots_in_tf32(evidence.source)
    if any(o.case.dtype != torch.float32 or o.findings[0].kind != "values" for o in failed) or not lines:
        return None
    pairs = [pair for other in failed if (pair := wrong_output(other))]
    if "float16" in evidence.source or not pairs or not any(map(_matrix, trial.arguments)):
        return None  # fp16 has as many bits, so that a cast to it would look the same
    if not TF32[0] <= statistics.median(errors(got, exact)[0] for got, exact in pairs) <= TF32[1]:
        return None
    return (
        f"tl.dot on line {lines[0]} rounds fp32 to TF32, which has 10 bits of fraction where fp32 has 23: "
        'it needs input_precision="ieee".',
        f"line {lines[0]}",
    )


def imprecise(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for values that are close, and of which nothing better is known."""
    pair, error = wrong_output(trial), relative(finding)
    if finding.kind != "values" or pair is None or error > CLOSE:
        return None
    said = f"The values are close but not close enough (error {error:.1e})"
    if pair[0].numel() == 1:
        got, exact = float(pair[0]), float(pair[1])
        said = f"The result is {got:.6g} where {exact:.6g} is right: close but not close enough ({error:.1e})"
    return (
        f"{said}. Something is computed in too low a precision, large terms cancel, a constant is another "
        "one, or a small part is left out or counted wrongly.",
        "casts",
    )


def _matrix(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() >= 2 and value.dtype == torch.float32


def _wider(wanted: torch.dtype, dtype: torch.dtype) -> bool:
    return wanted.itemsize > dtype.itemsize or (wanted == torch.int32 and dtype == torch.float32)


def _held(got: torch.Tensor, exact: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether a dtype has each number that came out, and not all that are right."""
    if not bool((got.isfinite() & exact.isfinite()).all()):
        return False
    return bool((got.to(dtype).double() == got).all()) and not bool((exact.to(dtype).double() == exact).all())
