"""Values that are nearly right: what was computed in too low a precision."""

from __future__ import annotations

import statistics

import torch

from grader.judge.case.compare import CLOSE, Finding, errors, gate, relative
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis, Evidence, Speech
from grader.judge.diagnosis.fit import wrong_output
from grader.judge.diagnosis.source import dots_in_half, dots_in_tf32

MOST_ELEMENTS = 0.5  # that rounding moves
NARROW = ("float16", "bfloat16", "float8", "tf32", "half")  # words of fewer bits than fp32 has
A_LITTLE = "a constant is another one, or a small part is left out or counted wrongly"
FEW = 3  # right cases that say something
TF32 = (1.5e-5, 2e-3)  # relative errors of what products of fp32 numbers rounded to 11 bits become


def half_sums(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The values are close, and a tl.dot is told to add up in fp16."""
    lines = dots_in_half(evidence.source)
    if not lines or finding.kind != "values" or relative(finding) > CLOSE:
        return None
    return (
        f"The values are close but too imprecise: tl.dot on line {lines[0]} is told by out_dtype to add its "
        "products up in fp16. Without that it adds them up in fp32.",
        f"out_dtype on line {lines[0]}",
    )


def tf32(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """Only fp32 is wrong, by as much as TF32 rounds it. Of codes, which it holds, it rounds none."""
    failed = evidence.failed
    if not any(_wide_matrix(value) for value in trial.arguments):
        return None
    if any(other.case.dtype != torch.float32 for other in failed):
        return None
    if any(other.findings[0].kind != "values" for other in failed):
        return None
    lines = dots_in_tf32(evidence.source)
    pairs = [pair for other in failed if (pair := wrong_output(other))]
    if not lines or "float16" in evidence.source or not pairs:
        return None  # fp16 has as many bits, so that a cast to it would look the same
    if not TF32[0] <= statistics.median(errors(got, exact)[0] for got, exact in pairs) <= TF32[1]:
        return None
    return (
        f"tl.dot on line {lines[0]} rounds fp32 to TF32, which has 10 bits of fraction where fp32 has 23: "
        'it needs input_precision="ieee".',
        f"line {lines[0]}",
    )


def _wide_matrix(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() >= 2 and value.dtype == torch.float32


def imprecise(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis for values that are close, and of which nothing better is known.

    Where 16 bits alone come out wrong, any case that is close tells: in others large terms may cancel.
    """
    nearest = trial
    sixteen = in_sixteen_bits(evidence)
    if sixteen:
        nearest = min(evidence.failed, key=lambda other: relative(other.findings[0]))
    error = relative(nearest.findings[0])
    if finding.kind != "values" or error > CLOSE:
        return None
    if relative(finding) <= CLOSE:
        nearest, error = trial, relative(finding)
    pair = wrong_output(nearest)
    if pair is None or not _spread(*pair, nearest.case.dtype):
        return None
    if sixteen:
        return (
            f"The values are close but too imprecise (error {error:.1e}): something is computed in too low a "
            f"precision, large terms cancel, {A_LITTLE}.",
            "casts, constants, and differences of large terms",
            nearest,
        )
    words = NARROW if nearest.case.dtype.itemsize < 8 else (*NARROW, "float32")
    narrow = nearest.case.dtype.itemsize == 2 or any(word in evidence.source for word in words)
    if pair[0].numel() == 1:
        return _one_number(float(pair[0]), float(pair[1]), error), "what is added up, and constants", nearest
    close = f"The values are close but not close enough (error {error:.1e})"
    if narrow:
        why = f"{close}: something is computed in too low a precision, large terms cancel, {A_LITTLE}."
        return why, "casts, constants, and differences of large terms", nearest
    why = (
        f"{close}, and nothing is cast to fewer bits: precision is lost where large terms cancel, {A_LITTLE}."
    )
    return why, "differences of large terms, and constants", nearest


def _one_number(got: float, exact: float, error: float) -> str:
    """Of one number nobody knows whether rounding moved it."""
    return (
        f"The result is {got:.6g} where {exact:.6g} is right: close but not close enough (error {error:.1e})."
        " A small part is left out or counted wrongly, a constant is another one, or precision is lost."
    )


def _spread(got: torch.Tensor, exact: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether most elements are off, as by rounding. 16 bits round so much that they cannot tell.

    What is 0, as after a ReLU, does not round.
    """
    off = (got - exact).abs() > gate(dtype) / 10 * exact.abs()
    return dtype.itemsize == 2 or bool(off[exact != 0].double().mean() >= MOST_ELEMENTS)


def in_sixteen_bits(evidence: Evidence) -> bool:
    """Whether 16 bits alone come out wrong, and enough cases in fp32 right to say that the formula does."""
    sound = sum(other.case.dtype == torch.float32 for other in evidence.passed) >= FEW
    return sound and all(other.case.dtype.itemsize == 2 for other in evidence.failed)
