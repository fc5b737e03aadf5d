"""From what failed and what passed to one sentence that makes a learner say "of course".

The first rule that has something to say wins, so the rules stand in order of how sure they are: what the
process did, then facts about memory, then about the result's form, then the pattern of its values, then which
cases fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from grader.challenge import Case
from grader.judge.case.compare import Finding
from grader.judge.case.link import RunnerLost
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.coverage import unwritten
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.fit import wrong_output
from grader.judge.diagnosis.groups import weights
from grader.judge.diagnosis.overrun import joined, overrun
from grader.judge.diagnosis.patterns import PATTERNS
from grader.judge.diagnosis.precision import imprecise, tf32
from grader.judge.diagnosis.products import counted
from grader.judge.diagnosis.properties import in_common, second_call
from grader.judge.diagnosis.returned import changed_input, returned_input, wrong_form
from grader.judge.diagnosis.specials import special
from grader.judge.diagnosis.strides import strides, upstream
from grader.judge.diagnosis.suspects import suspected
from grader.judge.diagnosis.thresholds import partial_block, right_up_to


def diagnose(evidence: Evidence) -> Diagnosis:
    """One sentence, and one thing to look at; both empty when nothing failed."""
    if not evidence.failed:
        if evidence.lost:
            return _lost(*evidence.lost)
        return evidence.own[1] if evidence.own else ("", "")
    trial = evidence.failed[0]
    finding = trial.findings[0]
    alike = [t.findings[0].told for t in evidence.failed if t.findings[0].kind == finding.kind]
    told = next((told for told in alike if told), None)  # one element may be too few to tell, where more do
    told = told or next((told for rule in RULES if (told := rule(trial, finding, evidence))), None)
    sentence, look_at = told or (
        finding.reason[0].upper() + finding.reason[1:] + ".",
        "the first wrong element",
    )
    # A suspect's sentence says itself which output it is about.
    label = "" if sentence in trial.challenge.suspects else finding.facts.get("label", "")
    return (f"In {label}: {sentence}" if label else sentence), look_at


def _lost(case: Case | None, lost: RunnerLost) -> Diagnosis:
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


def _error(trial: Trial, finding: Finding, _: Evidence) -> Diagnosis | None:
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


def _overflow(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
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


def _values(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The pattern that fits the wrong values of most failed trials."""
    pairs = [(other, pair) for other in evidence.failed if (pair := wrong_output(other))]
    fits = [[pattern(other, *pair) for pattern in PATTERNS] for other, pair in pairs]
    counts = [sum(told is not None for told in column) for column in zip(*fits, strict=True)]
    if not any(counts):
        return None
    best = counts.index(max(counts))
    return next(row[best] for row in fits if row[best] is not None)


def _place(trial: Trial, finding: Finding, _: Evidence) -> Diagnosis | None:
    """Nothing better is known: say where and what."""
    facts = finding.facts
    if "index" not in facts or "got" not in facts:
        return None
    return (
        f"At {facts['index']} the result is {facts['got']:.6g} where {facts['expected']:.6g} is right.",
        "that element",
    )


RULES: Sequence[Callable[[Trial, Finding, Evidence], Diagnosis | None]] = (
    _overflow,
    _error,
    upstream,
    strides,
    joined,
    overrun,
    wrong_form,
    returned_input,
    changed_input,
    unwritten,
    second_call,
    suspected,
    special,
    tf32,
    counted,
    weights,
    _values,
    partial_block,
    right_up_to,
    in_common,
    imprecise,
    _place,
)
