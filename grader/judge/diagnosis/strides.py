"""Only contiguous tensors come out right: of the arguments, and of the gradients handed down."""

from __future__ import annotations

import ast
from collections.abc import Callable

import torch

from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.addresses import strided
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.precision import CLOSE, relative

KINDS = ("overrun", "unwritten", "values", "nan", "inf", "special")


STORED = (
    "Only contiguous inputs come out right: the output is written with the strides of an input. It is new, "
    "and has its own.",
    "the strides in the store's offsets",
)


def strides(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """All that fails has an input that is not contiguous, and inputs that are contiguous pass."""
    if not _marks(_scattered, evidence):
        return None
    if finding.kind == "overrun" and finding.facts["kind"] == "store":
        return STORED
    if finding.kind == "unwritten" and strided(ast.parse(evidence.source), "store"):
        return STORED
    if finding.kind in KINDS and not _no_stride(trial, finding):
        which = "Only contiguous inputs come out right"
        if any(map(_scattered, evidence.passed)):
            which = "Of the inputs that are not contiguous, some come out wrong"
        return (
            f"{which}: a stride is ignored, taken for granted or another tensor's, or a mask compares "
            "offsets with a stride in them.",
            "the strides that the launcher hands over, the offsets that use them, and the masks",
        )
    return None


def upstream(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The same of the gradient that is handed down: y.sum().backward() hands down one element, expanded."""
    if finding.kind not in KINDS:
        return None
    if not _marks(_handed_down, evidence):
        beside = finding.kind == "overrun" and finding.facts["kind"] == "store"
        return None if beside else _both(trial, finding, evidence)
    return (
        "Only contiguous upstream gradients come out right: autograd may hand down an expanded (stride 0) "
        "or a transposed one. Its strides go to the kernel, too.",
        "the strides of the upstream gradient",
    )


def _both(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """Neither alone explains all that failed, but the two together."""
    if _marks(_scattered, evidence) or not _marks(lambda t: _scattered(t) or _handed_down(t), evidence):
        return None
    if finding.kind == "unwritten" and strided(ast.parse(evidence.source), "store"):
        return STORED
    if _no_stride(trial, finding):
        return None
    return (
        "Only contiguous inputs and upstream gradients come out right: a stride is ignored, or taken from "
        "another tensor.",
        "the strides of x in the forward, and of x and dy in the backward kernel",
    )


def _no_stride(trial: Trial, finding: Finding) -> bool:
    """What a stride of an input does not do: programs that meet where they store, and rows of the result of
    which the ends alone were never written.
    """
    if any(found.kind == "race" and found.facts["kind"] == "store" for found in trial.findings):
        return True
    if finding.kind != "unwritten" or finding.where is None or finding.where.dim() < 2:
        return False
    return not bool(finding.where.flatten(0, -2).all(dim=1).any())


def _marks(has: Callable[[Trial], bool], evidence: Evidence) -> bool:
    """Whether all that failed has it, and not all that passed. A stride that is wrong is no rounding."""
    if all(t.findings[0].kind == "values" and relative(t.findings[0]) <= CLOSE for t in evidence.failed):
        return False
    return all(map(has, evidence.failed)) and not all(map(has, evidence.passed))


def _scattered(trial: Trial) -> bool:
    return any(isinstance(value, torch.Tensor) and not value.is_contiguous() for value in trial.arguments)


def _handed_down(trial: Trial) -> bool:
    return any(isinstance(value, torch.Tensor) and not value.is_contiguous() for value in trial.upstream)
