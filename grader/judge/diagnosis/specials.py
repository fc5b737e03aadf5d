"""NaN and Inf where they do not belong, and numbers where one of them does."""

from __future__ import annotations

import ast
import math

import torch

from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.flow import (
    compares_extremum,
    may_overflow,
    meets_data,
    read,
    subtracts_maximum,
    sums_exponentials,
    sums_weights_alone,
)
from grader.judge.diagnosis.kept import sums_in_half
from grader.judge.diagnosis.nans import nothing_seen, odd_input, of_lanes, out_of_numbers
from grader.judge.diagnosis.reductions import first_maximum, scores
from grader.judge.diagnosis.running import first_sum, inverse_rescale
from grader.judge.diagnosis.site import last, quoted, spelled
from grader.judge.diagnosis.source import (
    EXPONENTIALS,
    adds_to_garbage,
    called,
    divides,
    loads_hold_infinity,
    masked_lanes_hold_infinity,
    masked_lanes_hold_positive_infinity,
    takes_maximum,
)
from grader.judge.diagnosis.standins import floor
from grader.judge.diagnosis.steps import observed, put, underflow, underflowed

MOST = 4  # lines to look at
LOGARITHMS = {"log", "log2"}
BETWEEN, OF_BLOCKS = {"maximum", "minimum"}, {"max", "min"}
EXTREMA = BETWEEN | OF_BLOCKS
FP16_ENDS: Diagnosis = (
    "Values overflow: fp16 ends at 65504, and a product or a sum in fp16 goes past it. Compute in fp32, and "
    "round once, at the store.",
    ".to(tl.float32)",
)


def special(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for values that are not finite, or should not be."""
    if finding.kind not in ("nan", "inf", "special"):
        return None
    values = trial.case.values
    expected, got = finding.facts["expected"], finding.facts["got"]
    made = math.isnan(got) and not math.isnan(expected)
    if made and (told := _inverse(evidence.source) or of_lanes(evidence.source)):
        return told
    if told := observed(trial, finding, evidence):
        return told
    if underflowed(trial, evidence.source):
        return _sees_zero(underflow(trial.made, got), expected, evidence.source)
    minus_inf = values in ("minus_inf", "some_minus_inf")
    if (minus_inf or expected == -math.inf) and math.isfinite(got) and (first := first_sum(evidence.source)):
        return _of_nothing(got, expected, *first)
    if minus_inf and (told := _minus_inf(values, expected, got, evidence.source)):
        return told
    if math.isnan(expected) and not math.isnan(got):
        tensors = [value for value in trial.arguments if isinstance(value, torch.Tensor)]
        empty = [f"{label}=0" for label, size in trial.case.sizes.items() if type(size) is int and size == 0]
        if empty:
            return (
                f"Where NaN is right comes {got:.4g}: with {empty[0]} nothing is added up or counted, and "
                "0 / 0 is NaN.",
                "what is divided by a number or a sum that may be 0",
            )
        given = any(bool(value.isnan().any()) for value in tensors)
        return _dropped(got, evidence.source, given, put(trial.made, evidence.source))
    if values in ("large", "heavy", "spike") or "overflows" in trial.case:
        return _large(trial, finding, evidence)
    if values == "inf" and math.isinf(expected) and math.isnan(got):
        return _of_infinity(evidence.source)
    exponential = called(evidence.source, EXPONENTIALS) and subtracts_maximum(evidence.source)
    reduces = math.isinf(got) or called(evidence.source, {"max"})  # tl.maximum may be of anything
    if values == "negative" and exponential and reduces:
        return _sees_zero("log(0)" if math.isinf(got) else "0 / 0", expected, evidence.source)
    if values == "normal" or finding.kind == "nan":
        return odd_input(trial, finding, evidence) or _plain(trial, finding, evidence)
    return None


def _inverse(source: str) -> Diagnosis | None:
    """A sum so far that is rescaled by the inverse of what it needs."""
    inverse = inverse_rescale(source)
    if not inverse:
        return None
    return (
        f"Line {inverse.lineno} rescales by {quoted(inverse)}, the inverse of what a sum so far needs: "
        "from a maximum of -inf that is Inf, and 0 · Inf is NaN. Rescale by exp(old maximum - new one).",
        f"line {inverse.lineno}",
    )


def _of_infinity(source: str) -> Diagnosis:
    """NaN where an Inf of the input belongs."""
    if subtracts_maximum(source):
        return (
            "inf - inf is NaN: a row that holds +inf needs the same care as one of -inf.",
            "rows that hold +inf",
        )
    return (
        "Inf goes in, and NaN comes out where Inf is right: a step on the way is 0 · Inf, Inf - Inf or "
        "Inf / Inf.",
        "what is multiplied, subtracted and divided",
    )


def _sees_zero(to: str, expected: float, source: str) -> Diagnosis:
    """Where a maximum of negative numbers may meet a 0: in its start, in padded scores, or in a load."""
    tree, underflow = ast.parse(source), f"All-negative rows underflow to {to}: a maximum sees a 0"
    if first := first_maximum(tree):
        return (
            f"{underflow}, that {first[0]} starts from on line {first[1]}. Start from -inf.",
            f"line {first[1]}",
        )
    if lowest := floor(source):
        # A logarithm of a sum below that says that the row is; of weights nobody knows.
        why = (
            "nothing in these rows is above that, so that it takes" if expected < lowest[0] else "it may take"
        )
        return (
            f"All-negative rows underflow to {to}: {lowest[0]:.6g} stands on line {lowest[1]}, and {why} the "
            "place of their maximum. Only -inf is below all.",
            f"line {lowest[1]}",
        )
    lines = scores(tree)
    if 0 < len(lines) <= MOST:
        return (
            f"{underflow}, that it starts from or of lanes without an element: tl.dot gives those 0, and "
            "tl.where makes that -inf.",
            f"the scores of padding lanes: {spelled(lines)}",
        )
    return (
        f"{underflow}, of a masked lane or that it starts from.",
        "other= of the masked load, and the first maximum",
    )


def _of_nothing(got: float, expected: float, name: str, number: str, line: int) -> Diagnosis:
    """A number of a row of which nothing counts, whose sum is what it started from."""
    right, why = ("NaN", "0 / 0 is NaN") if math.isnan(expected) else ("-inf", "log(0) is -inf")
    return (
        f"Where nothing counts, {right} is right, and {got:.4g} comes out: there {name} is still the "
        f"{number} that it starts from on line {line}. A sum starts from 0, and {why}.",
        f"line {line}",
    )


def _dropped(got: float, source: str, given: bool, at: int | None) -> Diagnosis | None:
    """Which of the functions that lose a NaN are called.

    Args:
        given: an input holds NaN; else it is made on the way, by Inf - Inf and the like.
        at: where tl.where puts what came instead, if it does.
    """
    tree = ast.parse(source)
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    met = {last(n.func) for n in calls if last(n.func) in BETWEEN and meets_data(n, tree)}
    # A block's maximum less itself is NaN all the same, where no comparison asks for it.
    met |= {last(n.func) for n in calls if last(n.func) in OF_BLOCKS and compares_extremum(tree)}
    extrema = sorted(f"tl.{name}" for name in met)
    named = " and ".join(filter(None, (", ".join(extrema[:-1]), *extrema[-1:])))
    drops = "may drop NaN" if given else "may drop NaN, or the Inf that it comes from"
    ways = [f"{named} {drops}"] if extrema and not at else []
    if any(last(n.func) == "where" and n.args and read(n.args[0], tree) for n in calls):
        branch = "any comparison with NaN is false, so that tl.where takes its other branch"
        if not given:
            branch = "tl.where goes by a comparison: one with Inf may hold, and of NaN only != does"
        elif any(isinstance(n, ast.NotEq) for n in ast.walk(tree)):
            branch = (
                "tl.where goes by a comparison: NaN is unequal to all, itself too, and any other is false"
            )
        ways.append(branch)
    if not ways:
        return None
    look_at = f"line {at}" if at else "what becomes of a NaN"
    return f"Where NaN is right comes {got:.4g}: {', and '.join(ways)}.", look_at


def _minus_inf(values: str, expected: float, got: float, source: str) -> Diagnosis | None:
    if math.isnan(expected) and math.isfinite(got) and values == "minus_inf":
        gives = f"A row that is all -inf gives {got:.4g} where NaN is right: "
        if masked_lanes_hold_infinity(source):
            return (
                f"{gives}(-inf) - (-inf) is NaN there, and must stay NaN. A tl.where, or a maximum that is "
                "finite, hides it.",
                "rows that are all -inf",
            )
        return (
            f"{gives}a finite number took part. Masked lanes must hold -inf (`other=`), and a maximum must "
            "start from it.",
            "other= of the masked load, and what the maximum starts from",
        )
    if not math.isnan(got):
        return None
    row = "that are all -inf" if values == "minus_inf" else "that hold -inf"
    return (
        f"Rows {row} come out wrong: (-inf) - (-inf) is NaN, so -inf needs care before it is subtracted.",
        f"rows {row}",
    )


def _large(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """Which step overflows: an exponential if there is one, else a product or a sum."""
    if finding.kind == "special":
        return None  # a number, where Inf or NaN is right
    if sums_in_half(evidence.source):
        return FP16_ENDS
    if may_overflow(evidence.source):
        overflow = "Large values overflow: exp() of them is Inf, and Inf / Inf or Inf - Inf is NaN. "
        summed = sums_exponentials(evidence.source)
        if summed and takes_maximum(evidence.source):
            asked = "Is the maximum of the very numbers that exp() is given subtracted from them first?"
            return overflow + asked, "the argument of exp"
        if summed:
            return f"{overflow}In a sum of exponentials subtract the maximum first.", "the maximum"
        cure = "Write it so that no exp() overflows, with exponents that are never positive for example."
        return overflow + cure, "the argument of exp"
    if trial.case.dtype == torch.float16:
        return FP16_ENDS
    return (
        "Large values overflow: a step on the way becomes Inf, though the result is finite.",
        "products of large values, and the order of the steps",
    )


def _plain(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """NaN or Inf out of plain numbers."""
    if finding.kind == "special":
        return None
    if adds_to_garbage(evidence.source):
        return (
            "tl.atomic_add adds to what is there, and nobody has zeroed it: torch.empty leaves anything. "
            "Allocate with torch.zeros.",
            "torch.empty",
        )
    if not evidence.compiled and "lse" not in trial.names and _unshifted(evidence.source):
        return (
            f"{'NaN' if finding.kind == 'nan' else 'Inf'} comes out of plain numbers, and no maximum is "
            "subtracted before exp(), which overflows for large ones: in fp16 past 65504. In a sum of "
            "exponentials subtract the maximum first.",
            "the argument of exp",
        )
    idle = masked_lanes_hold_infinity(evidence.source)
    exponential = called(evidence.source, EXPONENTIALS)
    if idle and not exponential and not called(evidence.source, EXTREMA):
        return (
            f"{'NaN' if finding.kind == 'nan' else 'Inf'} comes from lanes that hold no element: their "
            "`other=` is Inf, and 0 · Inf or Inf - Inf is NaN. In a sum `other=` must be 0.",
            "other= of the masked load",
        )
    if finding.kind == "nan" and finding.facts["expected"] == -math.inf:
        return nothing_seen(evidence.source) or out_of_numbers(trial, evidence)
    if finding.kind == "nan":
        return out_of_numbers(trial, evidence)
    if not math.isfinite(finding.facts["expected"]):
        return None
    if trial.case.dtype == torch.float16 and not idle and not exponential:
        return FP16_ENDS
    # Of lanes at -Inf exp() is 0, and their sums are no +Inf.
    by_exp = exponential and not masked_lanes_hold_positive_infinity(evidence.source)
    by_exp = by_exp or sums_weights_alone(evidence.source)
    if takes_maximum(evidence.source) and finding.facts["got"] > 0 and by_exp:
        # Subtracted, a sum of lanes at -Inf is +Inf.
        counted = idle and not sums_weights_alone(evidence.source)
        return (
            "Inf comes out of finite numbers: exp() of a large one is Inf. Is the maximum of the very "
            "numbers that exp() is given subtracted from them first?"
            + " If it is, a masked lane holds it, and another sum counts it."
            * counted,
            "the argument of exp, and the maximum" + ", and what the sums are given" * counted,
        )
    if not idle:
        return (
            f"{'Inf' if finding.facts['got'] > 0 else '-Inf'} comes out of finite numbers: a "
            "division by 0, the logarithm of 0, or a step that overflows.",
            "divisions, and the largest value on the way",
        )
    got = finding.facts["got"]
    ways = ["the logarithm of 0"] if got < 0 and called(evidence.source, LOGARITHMS) else []
    ways += ["a division by 0"] if divides(evidence.source) else []
    also = f", or it is {' or '.join(ways)}" if ways else ""
    of_load = "other= of the masked load, and " * loads_hold_infinity(evidence.source)
    return (
        f"{got} comes out of finite numbers: a masked lane holds it, and the reduction counts it{also}. "
        f"{'What a masked lane' if also else 'What it'} holds must be neutral: by `other=`, or by tl.where "
        "before a reduction that needs another number than `other=`.",
        f"{of_load}what the reduction{' or log' * ('the l' in also)} is given",
    )


def _unshifted(source: str) -> bool:
    """Whether exponentials that no maximum keeps small are added up."""
    return sums_exponentials(source) and not subtracts_maximum(source)
