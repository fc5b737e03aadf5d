"""What the failing cases have in common that no passing case has."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge import Case
from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.source import EXPONENTIALS, called
from grader.judge.diagnosis.suspects import KINDS


def _ragged(case: Case) -> bool:
    """The length that is cut into blocks is no power of two."""
    length = case.sizes.get("cols", case.sizes.get("n", 0))
    return isinstance(length, int) and length & (length - 1) != 0


# A property of cases, the sentence for a kernel that fails just those, and what to look at.
PROPERTIES: tuple[tuple[Callable[[Case], bool], str, str], ...] = (
    (
        lambda case: case.layout == "offset",
        "Only aligned inputs come out right: the pointer is taken to start on a boundary.",
        "tl.multiple_of",
    ),
    (
        lambda case: case.values == "negative",
        "Only all-negative rows come out wrong: a maximum sees a 0, of a masked lane or that it starts from.",
        "other=, and what the maximum starts from",
    ),
    (
        lambda case: case.dtype == torch.float16,
        "Only fp16 comes out wrong: compute in fp32 and round once, at the store; half precision is too low.",
        ".to(tl.float32)",
    ),
    (
        lambda case: case.dtype == torch.bfloat16,
        "Only bf16 comes out wrong: compute in fp32 and round once, at the store; half precision is too low.",
        ".to(tl.float32)",
    ),
    (
        lambda case: case.dtype.itemsize == 2,
        "Only fp16 and bf16 come out wrong: half precision is too low. Compute in fp32 and round once, at "
        "the store.",
        ".to(tl.float32)",
    ),
    (
        _ragged,
        "Only sizes that are no power of two come out wrong: lanes past the end take part. Check the mask.",
        "the mask",
    ),
)


LARGE: tuple[Callable[[Case], bool], str, str] = (
    lambda case: case.values in ("large", "heavy", "spike"),
    "Only large values come out wrong: a step overflows, or rounds away what is left of them.",
    "the largest value on the way",
)


def second_call(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for a function that is right when it is called once, and only then."""
    if finding.kind not in KINDS or not _just(lambda case: case.calls > 1, evidence):
        return None
    return (
        "A second call gives a wrong result: something of an earlier call is left over.",
        "accumulators",
    )


def in_common(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for wrong values that fit no pattern."""
    exponential = called(evidence.source, EXPONENTIALS)
    for has, sentence, look_at in (*PROPERTIES, *[LARGE] * exponential):
        if _just(has, evidence):
            return sentence, look_at
    return None


def _just(has: Callable[[Case], bool], evidence: Evidence) -> bool:
    """Whether all failed cases have a property, and no passed one."""
    failed, passed = [t.case for t in evidence.failed], [t.case for t in evidence.passed]
    return bool(passed) and all(map(has, failed)) and not any(map(has, passed))
