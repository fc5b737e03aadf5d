"""Where a NaN comes from that is made of numbers, and where -inf belongs."""

from __future__ import annotations

import ast
import math

import torch

from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.behind import behind, garbage, writers
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.led import too_soon
from grader.judge.diagnosis.reductions import infinite_factor
from grader.judge.diagnosis.running import runs_along
from grader.judge.diagnosis.site import spelled
from grader.judge.diagnosis.source import (
    EXPONENTIALS,
    called,
    calls,
    divides,
    nan_lanes,
    takes_maximum,
)
from grader.judge.diagnosis.starts import starts
from grader.judge.diagnosis.steps import unwritten

UNWRITTEN = ", where no kernel wrote"
GAP = "loads it from a gap between the elements of an input"
EMPTY = {"empty", "empty_like", "new_empty"}
OF_NEGATIVES = {"log", "log2", "log1p", "sqrt", "rsqrt", "sqrt_rn"}  # NaN of a number below 0


def _made(trial: Trial, evidence: Evidence) -> Diagnosis:
    """In the interpreter a load beside its tensor would have been seen, though none of what nobody wrote."""
    if told := too_soon(trial):
        return told
    if told := garbage(trial, evidence.source):
        return f"NaN comes out of numbers: it is {told[0]}", told[1]
    # A rate, a shift or an exponent of 0.0 is no axis without elements.
    empty = [f"{label}=0" for label, size in trial.case.sizes.items() if type(size) is int and size == 0]
    there = _elsewhere(trial, evidence.source)
    if empty and divides(evidence.source) and not there.endswith(UNWRITTEN):
        softmax = called(evidence.source, EXPONENTIALS) and takes_maximum(evidence.source)
        also = ", and so is (-inf) - (-inf)" * softmax
        return (
            f"The kernel makes this NaN itself: with {empty[0]} nothing is added up or counted. 0 / 0 is NaN"
            f"{also}.",
            "what is divided by a number or a sum that may be 0",
        )
    how = "Inf - Inf, Inf / Inf, 0 / 0 or 0 · Inf"
    if called(evidence.source, OF_NEGATIVES):
        how = f"{how}, or a logarithm or a root of a number below 0"
    if told := _left(trial, evidence):
        return f"NaN comes out of numbers: {told[0]}", told[1]
    if told := unwritten(trial.made):
        return told
    if there == GAP and all(map(_gapped, evidence.failed)) and not all(map(_gapped, evidence.passed)):
        return (
            "NaN comes out of numbers, and only where inputs are not contiguous: the kernel loads it from "
            "a gap between the elements of one, as where a stride is ignored or taken for granted, or makes "
            f"it, by {how}.",
            "where the strides are used, and where the launcher hands them over",
        )
    if there:
        return (
            f"NaN comes out of numbers: the kernel makes it, by {how}, or {there}.",
            "what is subtracted and divided, and what is read before it is written",
        )
    if line := infinite_factor(ast.parse(evidence.source)):
        return (
            f"NaN comes out of numbers: masked lanes of the load on line {line} hold Inf, by `other=`, and "
            "tl.dot multiplies them. Load 0 there, and give the scores -inf by tl.where.",
            f"line {line}",
        )
    if not runs_along(evidence.source):
        look_at = "what is subtracted, divided and multiplied"
        if trial.case.dtype == torch.float16:
            how, look_at = f"{how}. In fp16 all past 65504 is Inf", "sums, products and casts in fp16"
        return f"The kernel makes this NaN itself: {how}.", look_at
    return (
        f"The kernel makes this NaN itself: {how}. A running maximum that falls "
        "does that, and so does a rescale by the inverse of exp(m_old - m_new).",
        "what is subtracted, divided and rescaled",
    )


def _left(trial: Trial, evidence: Evidence) -> Diagnosis | None:
    """Where the kernel that reads a NaN is right: who left a part of that memory as torch.empty had it."""
    tree = ast.parse(evidence.source)
    known = behind(trial, tree)
    if not known or not known.scratch or known.scratch[0][0] not in evidence.right:
        return None
    kernel, name = known.scratch[0]
    stored = writers(trial, kernel, name, tree)
    if len(stored) != 1:
        return None
    ((writer, line),) = stored
    lines = sorted({line, *starts(evidence.source, line, evidence.given)})
    return (
        f"{kernel} reads it from {name}{UNWRITTEN}: {writer} leaves a part of that as torch.empty had it.",
        f"which elements {writer} stores: {spelled(lines)}",
    )


def _elsewhere(trial: Trial, source: str) -> str:
    """Where a kernel may have read a NaN: in words; empty where there is no such place."""
    known = behind(trial, ast.parse(source))
    if known and known.scratch:
        kernel, name = known.scratch[0]
        return f"{kernel} reads it from {name}{UNWRITTEN}"
    scratch = sum(name in EMPTY for name, _ in calls(source)) > len(trial.expected)
    if scratch and not (known and known.stores):
        return "loads it from what torch.empty left there"
    return GAP if _gapped(trial) else ""


def _gapped(trial: Trial) -> bool:
    return any(isinstance(value, torch.Tensor) and not value.is_contiguous() for value in trial.arguments)


def of_lanes(source: str) -> Diagnosis | None:
    """Where the file itself gives NaN to lanes that hold no element."""
    filled = nan_lanes(source)
    if not filled:
        return None
    by, line = filled
    return (
        f"Lanes that hold no element are NaN, by {by} on line {line}, and what counts them is NaN, too. In a "
        "sum and in a tl.dot they must hold 0.",
        f"line {line}",
    )


def odd_input(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """NaN where a number belongs, though an input holds NaN or Inf: where that counts, it must not. Where
    NaN comes out of finite inputs, too, it is made of something else.
    """
    given = _odd(trial)
    if finding.kind != "nan" or not given or not math.isfinite(finding.facts["expected"]):
        return None
    if any(t.findings[0].kind == "nan" and not _odd(t) for t in evidence.failed):
        return None
    name, value = given[0]
    what = "NaN" if bool(value.isnan().any()) else "Inf"
    made, cure, look_at = f"0 · {what} is NaN", "not by a product", "the masks, and what is multiplied"
    if what == "Inf" and called(evidence.source, EXPONENTIALS) and takes_maximum(evidence.source):
        made = f"{made}; so is (-inf) - (-inf), where the maximum so far is of nothing but -inf"
        cure = f"{cure}, and subtract a finite maximum"
        look_at = "the masks, and what is multiplied and subtracted"
    return (
        f"NaN comes out where a number is right: {name} holds {what} in places, and {made}. Leave out what "
        f"must not count by a mask or by tl.where, {cure}.",
        look_at,
    )


def _odd(trial: Trial) -> list[tuple[str, torch.Tensor]]:
    """The inputs that hold NaN or Inf."""
    named = zip(trial.names, trial.arguments, strict=True)
    tensors = [(name, value) for name, value in named if isinstance(value, torch.Tensor)]
    return [(n, t) for n, t in tensors if t.is_floating_point() and not bool(t.isfinite().all())]


def nothing_seen(source: str) -> Diagnosis | None:
    """NaN where -inf belongs: the logarithm of an empty sum, beside a maximum of nothing."""
    if not (called(source, EXPONENTIALS) and takes_maximum(source)):
        return None
    return (
        "Where nothing counts, -inf is right, and NaN comes out: there the maximum is -inf, and "
        "(-inf) - (-inf) is NaN. Subtract a finite number in such rows.",
        "the argument of exp in rows of which nothing counts",
    )


def out_of_numbers(trial: Trial, evidence: Evidence) -> Diagnosis:
    """What may have made a NaN of numbers; a GPU shows no access beside a tensor."""
    if not evidence.compiled:
        return _made(trial, evidence)
    if sum(name in EMPTY for name, _ in calls(evidence.source)) > 1:
        return (
            "Unmasked load, or a load of what torch.empty left there: NaN that nobody wrote leaked in, or "
            "lanes that hold no element took part.",
            "the mask of the load, and what is written before it is read",
        )
    return (
        "Unmasked load: NaN from beside the input leaked in, or lanes that hold no element took part.",
        "the mask of the load",
    )
