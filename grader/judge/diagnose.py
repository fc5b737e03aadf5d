"""From what failed and what passed to one sentence that makes a learner say "of course".

The first rule that has something to say wins, so the rules stand in order of how sure they are: what the
    process did,
then facts about memory, then about the result's form, then the pattern of its values, then which cases fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from grader.challenge import Case
from grader.judge.common import in_common
from grader.judge.compare import Expected, Finding
from grader.judge.coverage import unwritten
from grader.judge.evidence import Evidence, Told
from grader.judge.link import RunnerLost
from grader.judge.overrun import joined, overrun
from grader.judge.patterns import PATTERNS
from grader.judge.strides import strides, upstream
from grader.judge.suspects import suspected
from grader.judge.trial import Trial


def diagnose(evidence: Evidence) -> Told:
    """One sentence, and one thing to look at; both empty when nothing failed."""
    if not evidence.failed:
        if evidence.lost:
            return _lost(*evidence.lost)
        return evidence.own[1] if evidence.own else ("", "")
    trial = evidence.failed[0]
    finding = trial.findings[0]
    told = finding.told or next((told for rule in RULES if (told := rule(trial, finding, evidence))), None)
    sentence, look_at = told or (finding.reason.capitalize() + ".", "the first wrong element")
    label = finding.facts.get("label", "")
    return (f"In {label}: {sentence}" if label else sentence), look_at


def _lost(case: Case | None, lost: RunnerLost) -> Told:
    where = f"with {case.id}" if case else "while your file was imported"
    if lost.outcome == "timeout":
        return (
            f"Your code did not finish {where}: {lost.reason}. A loop that never ends, or far too many "
            "programs.",
            "loop conditions and the grid",
        )
    if lost.code is not None and lost.code >= 0:
        return (
            f"Your code ended the grading process {where} (exit code {lost.code}); remove the exit.",
            "sys.exit, os._exit",
        )
    return f"Your code took its process down {where}: {lost.reason}.", "pointers and masks"


def _error(trial: Trial, finding: Finding, _: Evidence) -> Told | None:
    if finding.kind != "error":
        return None
    fault = finding.facts
    line = f"line {fault['line']}" if fault["line"] else "your launcher"
    if "[CUDA]: invalid argument" in fault["message"]:
        return "The grid is too large: axes 1 and 2 end at 65535 programs, axis 0 at 2³¹ - 1.", "the grid"
    if fault["kind"] == "compile":
        return f"Triton cannot compile {line}: {fault['message']}", line
    if fault["kind"] == "memory":
        return f"Your code ran out of memory on {line}: {fault['message']}", line
    if "illegal memory access" in fault["message"] or "misaligned address" in fault["message"]:
        return (
            "The GPU stopped your kernel: it touched memory outside of every tensor. Offsets need a mask, "
            "and must not overflow int32.",
            "the mask and the offsets",
        )
    return f"Your code raised {fault['type']} on {line}: {fault['message'].splitlines()[0]}", line


def _overflow(trial: Trial, finding: Finding, evidence: Evidence) -> Told | None:
    """Only tensors of more than 2³¹ elements fail."""
    if not evidence.passed or not all(_elements(trial) > 2**31 for trial in evidence.failed):
        return None
    if "invalid argument" in finding.reason:
        return None  # no offset, but a grid that CUDA will not launch
    return (
        "Only more than 2³¹ elements come out wrong: offsets in int32 overflow. Make the program id int64 "
        "before it is multiplied.",
        ".to(tl.int64)",
    )


def _elements(trial: Trial) -> int:
    return max((value.numel() for value in trial.arguments if isinstance(value, torch.Tensor)), default=0)


def _form(trial: Trial, finding: Finding, _: Evidence) -> Told | None:
    """The result's form, before its values."""
    advice = {
        "arity": "Return exactly what the signature asks for.",
        "type": "Is the return missing, or of something else?",
        "shape": "Allocate the output with the shape the lesson gives.",
        "dtype": "Allocate the output with the right dtype; the store converts to it.",
        "device": "Allocate the output on the inputs' device.",
        "layout": "Allocate it with torch.empty(shape): empty_like keeps the strides of its input.",
        "programs": "The grid must be the number that was asked for.",
        "stale": "Something of an earlier call is left over: a buffer or a counter that is not cleared.",
        "host": "On a GPU that waits for all work before it: leave the values on the device.",
    }
    if finding.kind not in advice:
        return None
    text = finding.reason[0].upper() + finding.reason[1:]
    return f"{text}. {advice[finding.kind]}", "the launcher"


def _returned_input(trial: Trial, _: Finding, __: Evidence) -> Told | None:
    assert trial.answer is not None
    sources = [entry.get("source") for entry in trial.answer.header.get("outputs", [])]
    own = next((source for source in sources if source in trial.names), None)
    if own is None:
        return None
    return f"The function returns its own input {own}: allocate a new tensor for the result.", "the launcher"


def _changed_input(trial: Trial, finding: Finding, _: Evidence) -> Told | None:
    if finding.kind != "input":
        return None
    label = finding.facts["tensor"]
    return f"Your kernel changed its input {label}: store to the output only.", "the pointer of tl.store"


def _special(trial: Trial, finding: Finding, evidence: Evidence) -> Told | None:
    if finding.kind not in ("nan", "inf", "special"):
        return None
    values = trial.case.values
    expected, got = finding.facts["expected"], finding.facts["got"]
    if math.isnan(expected) and math.isfinite(got) and values == "minus_inf":
        return (
            f"A row that is all -inf gives {got:.4g} where NaN is right: masked lanes hold more than -inf. "
            "`other=` must be -inf.",
            "other= of the masked load",
        )
    if values in ("minus_inf", "some_minus_inf"):
        return (
            "A row with -inf in it comes out wrong: (-inf) - (-inf) is NaN, so -inf needs care before it "
            "is subtracted.",
            "rows that hold -inf",
        )
    if values in ("large", "heavy", "spike"):
        return (
            "Large values overflow: exp() of them is Inf, and Inf / Inf or Inf - Inf is NaN. "
            "In a sum of exponentials subtract the maximum first.",
            "the maximum",
        )
    if finding.kind == "inf" and math.isfinite(expected) and values == "normal":
        return (
            f"{finding.facts['got']} comes out of finite numbers: a masked lane holds it, and the reduction "
            "counts it. `other=` must be neutral.",
            "other= of the masked load",
        )
    if values == "inf" and math.isinf(expected) and math.isnan(got):
        return (
            "inf - inf is NaN: a row that holds +inf needs the same care as one of -inf.",
            "rows that hold +inf",
        )
    if values == "negative" and math.isinf(got):
        return (
            "All-negative rows underflow to log(0): the maximum saw a 0, from a masked lane or its start.",
            "other= of the masked load, and the first maximum",
        )
    if finding.kind == "nan" and values == "normal":
        return _nan(evidence)
    return None


def _nan(evidence: Evidence) -> Told:
    """NaN out of plain numbers. In the interpreter a load beside its tensor would have been seen."""
    if not evidence.compiled:
        return (
            "The kernel makes this NaN itself: Inf - Inf, Inf / Inf or 0 · Inf. A running maximum that falls "
            "does that, and so does a rescale by the inverse of exp(m_old - m_new).",
            "what is subtracted, divided and rescaled",
        )
    return (
        "Unmasked load: NaN from beside the input leaked in, or lanes that hold no element took part.",
        "the mask of the load",
    )


def _values(trial: Trial, finding: Finding, evidence: Evidence) -> Told | None:
    """The pattern that fits the wrong values of most failed trials."""
    fits = []
    for other in evidence.failed:
        if other.answer is None or not other.answer.outputs or other.findings[0].kind != "values":
            continue
        number = other.findings[0].facts.get("output", 0)
        want = [want for want in other.expected if isinstance(want, Expected)][number]
        got = other.answer.outputs[number]
        if got.numel() == want.exact.numel():
            exact = want.exact.double()
            fits.append([pattern(other, got.double().view(exact.shape), exact) for pattern in PATTERNS])
    counts = [sum(told is not None for told in column) for column in zip(*fits, strict=True)]
    if not any(counts):
        return None
    best = counts.index(max(counts))
    return next(row[best] for row in fits if row[best] is not None)


def _precision(trial: Trial, finding: Finding, _: Evidence) -> Told | None:
    error = finding.facts.get("max_error", 1.0)
    if finding.kind != "values" or error > 2e-2:
        return None
    return (
        f"The values are close but too imprecise (error {error:.1e}): something is computed in too low a "
        "precision.",
        "casts",
    )


def _place(trial: Trial, finding: Finding, _: Evidence) -> Told | None:
    """Nothing better is known: say where and what."""
    facts = finding.facts
    if "index" not in facts or "got" not in facts:
        return None
    return (
        f"At {facts['index']} the result is {facts['got']:.6g} where {facts['expected']:.6g} is right.",
        "that element",
    )


RULES: Sequence[Callable[[Trial, Finding, Evidence], Told | None]] = (
    _overflow,
    _error,
    upstream,
    strides,
    joined,
    overrun,
    _form,
    _returned_input,
    _changed_input,
    unwritten,
    suspected,
    _special,
    _values,
    in_common,
    _precision,
    _place,
)
