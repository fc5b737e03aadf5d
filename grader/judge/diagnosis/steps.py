"""NaN and Inf that a kernel made of numbers, told by the step that made it: its line and its numbers."""

from __future__ import annotations

import ast
import math
import re

import torch

from grader.interpreter.step import Step
from grader.judge.case.compare import Expected, Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.arithmetic import (
    BETWEEN,
    CASTS,
    DIVISIONS,
    LOGARITHMS,
    POWERS,
    PRODUCTS,
    ROOTS,
    number,
    of_one,
    past,
    told_of,
    underflows,
)
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.flow import subtracts_maximum, weighed
from grader.judge.diagnosis.reductions import first_maximum, maxima
from grader.judge.diagnosis.site import last, spelled
from grader.judge.diagnosis.source import EXPONENTIALS, accesses, called, calls, takes_maximum

MOST = 4  # lines to look at
GIVEN = {"load", "constant"}  # no operations
ARITHMETIC = re.compile(r"(?:\b0|Inf|NaN|-inf\)?) ([/·-]) (?:0\b|Inf|NaN|\(-inf\))")


def observed(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """What the last steps were that led to this element, and what mends them."""
    if not trial.made:
        return None
    final, first = trial.made[0], _first(trial.made)
    if first.name == "load":
        return _loaded(trial, final, first, evidence.source)
    if first.name == "constant" and final is first and math.isnan(finding.facts["expected"]):
        return None  # the number may be in its place, and a NaN was lost
    if first.name == "constant":
        return _constant(final, first, finding, evidence.source)
    if underflowed(trial, evidence.source):
        return None  # its maximum is known to be wrong
    what = told_of(first)
    if final is not first:
        there = told_of(final)
        what = f"{what}, and {there.removeprefix(f'on line {first.line} ')}"
    begin = "Large values overflow: " * (trial.case.values in ("large", "heavy", "spike") and past(first))
    cure = _cure(first, final, trial, evidence.source)
    what = what if begin else _opened(what)
    return f"{begin}{what}. {cure}".rstrip(), spelled(_beside(first.line, cure, evidence.source))


def _beside(line: int, cure: str, source: str) -> list[int]:
    """This line, and where the maximum or the exponential stands that the cure speaks of, if they are few."""
    made = maxima(ast.parse(source)) if "maximum of" in cure else []
    asked = [call for call in made if last(call.func) in ("max", "maximum")]
    raised = [call for name, call in calls(source) if name in EXPONENTIALS and "No maximum" in cure]
    lines = {line, *(call.lineno for call in (*asked, *raised))}
    return sorted(lines) if len(lines) <= MOST else [line]


def underflowed(trial: Trial, source: str) -> bool:
    """Whether the sum of a softmax became 0 below a maximum that is too large."""
    known = trial.case.values == "negative" or first_maximum(ast.parse(source)) is not None
    return bool(trial.made) and known and underflows(_first(trial.made)) and called(source, EXPONENTIALS)


def underflow(made: list[Step], got: float) -> str:
    """What an underflow ended in."""
    divided = _first(made).name in DIVISIONS
    return "0 / 0" if math.isnan(got) else "a division by 0" if divided else "log(0)"


def overflowed(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for a wrong number behind a step that left fp16, where no result does."""
    wanted = [want.right for want in trial.expected if isinstance(want, Expected)]
    if finding.kind != "values" or not trial.overflowed or not all(bool(w.isfinite().all()) for w in wanted):
        return None
    step = trial.overflowed[0]
    said = f"{_opened(told_of(step))}. Compute in fp32, and round once, at the store."
    return said, f"line {step.line}"


def denied(sentence: str, made: list[Step]) -> bool:
    """Whether a sentence tells of arithmetic, as 0 / 0, of a kind that is none of these steps'."""
    told = set(ARITHMETIC.findall(sentence))
    seen = {"·" if step.name in PRODUCTS else BETWEEN.get(step.name) for step in made}
    return bool(made and told and not told & seen)


def put(made: list[Step], source: str) -> int | None:
    """The line where tl.where puts an Inf of the file's own into the result itself."""
    first = _first(made) if made else None
    there = first is not None and first is made[0] and first.name == "constant"
    return first.line if first and there and "tl.where" in _holder(first.line, source) else None


def where(made: list[Step]) -> str:
    """The lines of these steps: of those that made a number what it is not, where there are any."""
    lines = {step.line for step in made if step.name not in GIVEN} or {step.line for step in made}
    return spelled(sorted(lines))


def _first(made: list[Step]) -> Step:
    """Of the steps that nothing stands behind: an operation if there is one, else a load or a constant."""
    ends = [step for step in made if not step.behind]
    return min(ends, key=lambda step: (step.name == "load") + 2 * (step.name == "constant"), default=made[-1])


def _cure(first: Step, final: Step, trial: Trial, source: str) -> str:
    """What mends it."""
    weights = weighed(ast.parse(source))
    asked = "Is the maximum of the very numbers that exp() is given subtracted from them first?"
    if first.name in POWERS and final.name in PRODUCTS and 0.0 in final.operands:
        return (
            "What must not count is left out by a mask or tl.where, not by a product with 0; and what counts "
            "needs a smaller exponent."
        )
    if first.name in POWERS and math.isinf(first.result):
        if weights and takes_maximum(source):
            return asked
        if weights:
            return "In a sum of exponentials subtract the maximum first."
        return "Write it so that no exp() overflows, with exponents that are never positive for example."
    if past(first) and weights and not subtracts_maximum(source):
        return "No maximum is subtracted before exp(): in a sum of exponentials subtract it first."
    if past(first) and any(one.lineno <= first.line <= (one.end_lineno or 0) for one in weights):
        several = sum(name == "to" for name, call in calls(source) if call.lineno == first.line) > 1
        return "" if first.name in CASTS and several else asked  # which of the casts it was nobody knows
    if past(first) and first.dtype == "fp16":
        return "Compute in fp32, and round once, at the store."
    if past(first):
        return "The result is finite: a step on the way need not be that large."
    if of_one(first) and first.operands[0] < 0:
        of = "a logarithm" if first.name in LOGARITHMS else "a root"
        return f"What {of} is taken of must not be below 0."
    empty = [f"{label}=0" for label, size in trial.case.sizes.items() if type(size) is int and size == 0]
    if underflows(first) and empty:
        return f"With {empty[0]} nothing is added up or counted."
    if underflows(first) and len(_exponents(first.line, source)) > 1:
        return "Exponentials underflow to 0 there: exp(a) / exp(b) is exp(a - b), which need not."
    if underflows(first) and weights and not (first.name in ROOTS or _exponents(first.line, source)):
        return "All exponentials in the sum are 0 there or nearly: nothing counts, or too much is subtracted."
    if underflows(first) and first.name not in LOGARITHMS:
        return "What is divided by must not be 0."
    return _spared(final, source).strip()


def _constant(final: Step, first: Step, finding: Finding, source: str) -> Diagnosis:
    """An Inf of the file's own, which nothing may count."""
    inf, holder = number(first.result), _holder(first.line, source)
    if final is first:
        of = " of finite numbers" * math.isfinite(finding.facts["expected"])
        return (
            f"{inf} comes out{of}: it is that of line {first.line}{holder}. Nothing that is added up or "
            "stored may count it.",
            f"line {first.line}",
        )
    cure = _spared(final, source) if final.name not in PRODUCTS or "a first value" not in holder else ""
    if final.name == "dot" and "other=" in holder:
        cure = " Load 0 there, and give the scores -inf by tl.where."
    named = inf if first.result in final.operands else "that Inf"
    return (
        f"{_opened(told_of(final))}: {named} comes from line {first.line}{holder}.{cure}",
        f"line {final.line}" if final.line == first.line else f"lines {final.line} and {first.line}",
    )


def _spared(final: Step, source: str) -> str:
    """How an Inf that is in its place does no harm."""
    given = [node for call in _exponents(final.line, source) for node in ast.walk(call)]
    if final.name == "fsub" and takes_maximum(source) and any(isinstance(node, ast.Sub) for node in given):
        return f" Where the maximum is {number(final.operands[0])}, subtract a finite number."
    if final.name in PRODUCTS:
        return " Leave out what must not count by a mask or by tl.where, not by a product."
    return ""


def _exponents(line: int, source: str) -> list[ast.Call]:
    """The exponentials on a line."""
    return [call for name, call in calls(source) if name in EXPONENTIALS and call.lineno == line]


def _holder(line: int, source: str) -> str:
    """What an Inf that the file names on this line is there for."""
    if any(name == "load" for name, _ in accesses(source, line)):
        return ", which masked lanes of that load hold by `other=`"
    statements = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assign | ast.Expr)]
    there = [one for one in statements if one.lineno <= line <= (one.end_lineno or 0)]
    words = [name for one in there for name, _ in calls(ast.unparse(one))]
    return ", where tl.where puts it" if "where" in words else ", a first value"


def _loaded(trial: Trial, final: Step, first: Step, source: str) -> Diagnosis | None:
    """A NaN or an Inf of an input, or from between its elements."""
    value = dict(zip(trial.names, trial.arguments, strict=True)).get(first.memory)
    if not isinstance(value, torch.Tensor):
        return None
    odd = number(first.result)
    if not _element(value, first.offset):
        return (
            f"NaN comes out of numbers: line {first.line} loads {odd} from a gap between the elements of "
            f"{first.memory}, as where a stride is ignored or taken for granted.",
            "where the strides are used, and where the launcher hands them over",
        )
    if final is first:
        return None
    return f"{_opened(told_of(final))}, and {first.memory} holds {odd} there.{_spared(final, source)}", (
        f"line {final.line}"
    )


def unwritten(made: list[Step]) -> Diagnosis | None:
    """Where it was loaded from, if that is memory which torch.empty gave and nobody wrote."""
    first = _first(made) if made else None
    if first is None or first.name != "load" or "torch.empty" not in first.memory:
        return None
    said = f"NaN comes out of numbers: line {first.line} loads it from {first.memory}, where no kernel wrote."
    return said, f"line {first.line}, and what is written before it"


def _opened(words: str) -> str:
    return words[0].upper() + words[1:]


def _element(value: torch.Tensor, offset: int) -> bool:
    """Whether an element lies so many bytes from the beginning of a tensor's memory."""
    size = value.untyped_storage().nbytes() // value.element_size()
    lies = torch.zeros(size, dtype=torch.bool)
    lies.as_strided(value.shape, value.stride(), value.storage_offset()).fill_(True)
    place = offset // value.element_size()
    return 0 <= place < size and bool(lies[place])
