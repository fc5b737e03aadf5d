"""Only contiguous tensors come out right: of the arguments, and of the gradients handed down."""

from __future__ import annotations

import ast
from collections.abc import Callable

import torch

from grader.judge.case.compare import CLOSE, Finding, relative
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.addresses import strided
from grader.judge.diagnosis.evidence import Diagnosis, Evidence, Speech
from grader.judge.diagnosis.luck import UNLIKELY, luck
from grader.judge.diagnosis.site import never_read
from grader.judge.diagnosis.stepping import misread

KINDS = ("overrun", "unwritten", "values", "nan", "inf", "special")
FEW = 2  # inputs that a sentence names


STORED = (
    "Only contiguous inputs come out right: the output is written with the strides of an input. It is new, "
    "and has its own.",
    "the strides in the store's offsets",
)


def strides(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | Speech | None:
    """All that fails has an input that is not contiguous, and inputs that are contiguous pass."""
    if not _marks(_scattered, evidence):
        return None
    if finding.kind == "overrun" and finding.facts["kind"] == "store":
        return STORED
    if finding.kind == "unwritten" and strided(ast.parse(evidence.source), "store"):
        return STORED
    if finding.kind in KINDS and not _no_stride(trial, finding):
        return misread(trial, finding, evidence) or _ignored(evidence)
    return None


def _ignored(evidence: Evidence) -> Diagnosis | None:
    """Of no input is it known how it was read; but which are not contiguous in all that fails may say it.
    None where all that fails may be so by luck.
    """
    alike = sum(map(_scattered, evidence.trials))
    if luck(len(evidence.failed), alike, len(evidence.trials)) > UNLIKELY:
        return None
    if unread := _never_read(evidence, "Only contiguous inputs come out right"):
        return unread
    which = "Only contiguous inputs come out right"
    if any(map(_scattered, evidence.passed)):
        which = "Of the inputs that are not contiguous, some come out wrong"
    first, *others = map(_apart, evidence.failed)
    names = [name for name in first if all(name in other for other in others)]
    of, every = "", ""
    if 0 < len(names) <= FEW:
        listed = " and ".join(names)
        of = f" of {listed}"
        every = f" In every case that fails {listed} {'is' if len(names) == 1 else 'are'} not."
    return (
        f"{which}: a stride is ignored, taken for granted or another tensor's, or a mask compares offsets "
        f"with a stride in them.{every}",
        f"where the strides{of} are used, and where the launcher hands them over",
    )


def upstream(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The same of the gradient that is handed down: y.sum().backward() hands down one element, expanded."""
    if finding.kind not in KINDS:
        return None
    if not _marks(_handed_down, evidence):
        beside = finding.kind == "overrun" and finding.facts["kind"] == "store"
        return None if beside else _both(trial, finding, evidence)
    if unread := _never_read(evidence, "Only contiguous upstream gradients come out right"):
        return unread
    return (
        "Only contiguous upstream gradients come out right: autograd may hand down an expanded (stride 0) "
        "or a transposed one. Its strides go to the kernel, too.",
        "the strides of the upstream gradient",
    )


def _never_read(evidence: Evidence, which: str) -> Diagnosis | None:
    """A stride that one kernel is handed and forgets."""
    found = never_read(evidence.source)
    if len(found) != 1 or any(name.endswith("_ptr") for _, name, _ in found):
        return None
    ((kernel, name, line),) = found
    return f"{which}: {kernel} is handed {name}, and nothing in it reads that.", f"line {line}"


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
    return bool(_apart(trial))


def _apart(trial: Trial) -> list[str]:
    """The inputs that are not contiguous."""
    named = zip(trial.names, trial.arguments, strict=True)
    return [name for name, value in named if isinstance(value, torch.Tensor) and not value.is_contiguous()]


def _handed_down(trial: Trial) -> bool:
    return any(isinstance(value, torch.Tensor) and not value.is_contiguous() for value in trial.upstream)
