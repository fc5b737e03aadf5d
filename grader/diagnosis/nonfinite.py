"""NaN and Inf that a kernel made of numbers, told by the step that made it: its line and its numbers."""

from __future__ import annotations

import math
import re

import torch

from grader.challenge.harness.compare import Finding
from grader.challenge.harness.trial import Trial
from grader.diagnosis.evidence import Diagnosis, Evidence
from grader.diagnosis.nonfinite_step import (
    BETWEEN,
    LOGARITHMS,
    POWERS,
    PRODUCTS,
    number,
    of_one,
    past,
    told_of,
    underflows,
)
from grader.diagnosis.provenance import garbage
from grader.diagnosis.source import called, takes_maximum
from grader.diagnosis.source_context import spelled
from grader.kernel.traced_step import Step

KINDS = ("nan", "inf", "special")
GIVEN = {"load", "constant"}  # no operations
ARITHMETIC = re.compile(r"(?:\b0|Inf|NaN|-inf\)?) ([/·-]) (?:0\b|Inf|NaN|\(-inf\))")
INF = re.compile(r"(?i)(inf|nan)\b")  # by whatever name
NOT_BY_A_PRODUCT = "Leave out what must not count by a mask or by tl.where, not by a product."
NOT_POSITIVE = "Keep exponents from being positive."
OF_A_SUM = " In a softmax, subtract the row's maximum first."
COMPUTE_IN_FP32 = "Compute in fp32, and round once, at the store."


def gap(trial: Trial, _: Finding, __: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for a load from between the elements of an input, where there is a NaN."""
    first = _first(trial.made) if trial.made else None
    value = dict(zip(trial.names, trial.arguments, strict=True)).get(first.memory) if first else None
    if first is None or first.name != "load" or not isinstance(value, torch.Tensor):
        return None
    if _element(value, first.offset):
        return None
    return (
        f"Line {first.line} loads from a gap between the elements of {first.memory}: a stride of it is "
        "ignored, or another number stands in its place.",
        f"line {first.line}",
    )


def nonfinite(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for values that are not finite, or should not be."""
    if finding.kind not in KINDS:
        return None
    if trial.made and (told := _seen(trial, finding, evidence.source)):
        return told
    expected, got = finding.facts["expected"], finding.facts["got"]
    if math.isnan(got) and (left := garbage(trial, evidence.source)):
        return f"NaN comes out of numbers: it is {left[0]}", left[1]
    odd = [name for name, value in zip(trial.names, trial.arguments, strict=True) if _odd(value)]
    if math.isnan(got) and math.isfinite(expected) and odd:
        return (
            f"NaN comes out where a number is right: {odd[0]} is not finite in places. {NOT_BY_A_PRODUCT}",
            "",
        )
    return None


def _seen(trial: Trial, finding: Finding, source: str) -> Diagnosis | None:
    """What the last steps were that led to this element, and what mends them."""
    final, first = trial.made[0], _first(trial.made)
    if first.name == "load":
        return _loaded(trial, final, first, source)
    if first.name == "constant":
        if final is first:
            return None  # the number may be in its place, and another was lost
        cure = "" if final.name == "dot" else _spared(final, source)
        return f"{_opened(told_of(final))}. {cure}".rstrip(), f"line {final.line}"
    what = told_of(first)
    if final is not first:
        there = told_of(final)
        what = f"{what}, and {there.removeprefix(f'on line {first.line} ')}"
    begin = "Large values overflow: " * (trial.case.values in ("large", "heavy", "spike") and past(first))
    said = f"{begin}{what if begin else _opened(what)}. {_cure(first, final, trial, source)}"
    return said.rstrip(), spelled(sorted({first.line, final.line}))


def _cure(first: Step, final: Step, trial: Trial, source: str) -> str:
    """What mends it."""
    if first.name in POWERS and math.isinf(first.result):
        return NOT_POSITIVE + OF_A_SUM * called(source, {"sum"})
    if past(first):
        of_fp16 = first.dtype == "fp16"
        return (
            COMPUTE_IN_FP32 if of_fp16 else "The result is finite: a step on the way need not be that large."
        )
    if of_one(first) and first.operands[0] < 0:
        of = "a logarithm" if first.name in LOGARITHMS else "a root"
        return f"What {of} is taken of must not be below 0."
    empty = [f"{label}=0" for label, size in trial.case.sizes.items() if type(size) is int and size == 0]
    if underflows(first) and empty:
        return f"With {empty[0]} nothing is added up or counted."
    if underflows(first):
        return "What is divided by, or what a logarithm is taken of, must not be 0."
    return "" if final.name in PRODUCTS else _spared(final, source)


def _spared(final: Step, source: str) -> str:
    """How an Inf that is in its place does no harm."""
    if final.name == "subf" and takes_maximum(source):
        return f"Where the maximum is {number(final.operands[0])}, subtract a finite number."
    return NOT_BY_A_PRODUCT if final.name in PRODUCTS else ""


def _loaded(trial: Trial, final: Step, first: Step, source: str) -> Diagnosis | None:
    """A NaN or an Inf that was loaded: of an input, or of memory that nobody wrote."""
    if "torch.empty" in first.memory:
        said = f"line {first.line} loads it from {first.memory}, where no kernel wrote."
        return f"NaN comes out of numbers: {said}", f"line {first.line}"
    if first.memory not in trial.names or final is first:
        return None
    holds = f"{first.memory} holds {number(first.result)} there"
    return f"{_opened(told_of(final))}, and {holds}. {_spared(final, source)}".rstrip(), f"line {final.line}"


def denied(sentence: str, made: list[Step]) -> bool:
    """Whether a sentence tells of arithmetic, as 0 / 0, of a kind that is none of these steps'."""
    told = set(ARITHMETIC.findall(sentence))
    seen = {"·" if step.name in PRODUCTS else BETWEEN.get(step.name) for step in made}
    return bool(made and told and not told & seen)


def where(made: list[Step]) -> str:
    """The lines of these steps: of those that made a number what it is not, where there are any."""
    lines = {step.line for step in made if step.name not in GIVEN} or {step.line for step in made}
    return spelled(sorted(lines))


def _first(made: list[Step]) -> Step:
    """Of the steps that nothing stands behind: an operation if there is one, else a load or a constant."""
    ends = [step for step in made if not step.behind]
    return min(ends, key=lambda step: (step.name == "load") + 2 * (step.name == "constant"), default=made[-1])


def _opened(words: str) -> str:
    return words[0].upper() + words[1:]


def _odd(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and not bool(value.isfinite().all())


def _element(value: torch.Tensor, offset: int) -> bool:
    """Whether an element lies so many bytes from the beginning of a tensor's memory."""
    size = value.untyped_storage().nbytes() // value.element_size()
    lies = torch.zeros(size, dtype=torch.bool)
    lies.as_strided(value.shape, value.stride(), value.storage_offset()).fill_(True)
    place = offset // value.element_size()
    return 0 <= place < size and bool(lies[place])
