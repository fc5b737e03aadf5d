"""What the failing cases have in common that no passing case has."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import torch

from grader.challenge import Case
from grader.judge.case.compare import CLOSE, Expected, Finding, relative
from grader.judge.case.naming import called as called_output
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.flow import subtracts_maximum, sums_exponentials
from grader.judge.diagnosis.kept import kept_low, narrowed
from grader.judge.diagnosis.luck import UNLIKELY, luck
from grader.judge.diagnosis.precision import FEW
from grader.judge.diagnosis.reductions import first_maximum
from grader.judge.diagnosis.site import spelled
from grader.judge.diagnosis.source import EXPONENTIALS, called
from grader.judge.diagnosis.spots import MOST, pointers
from grader.judge.diagnosis.suspects import KINDS


def _ragged(case: Case) -> bool:
    """The length that is cut into blocks is no power of two."""
    length = case.sizes.get("cols", case.sizes.get("n", 0))
    return isinstance(length, int) and length & (length - 1) != 0


# A property of cases, the sentence for a kernel that fails just those, and what to look at.
PROPERTIES: tuple[tuple[Callable[[Case], bool], str, str], ...] = (
    (
        lambda case: case.values == "negative",
        "Only all-negative rows come out wrong: a maximum sees a 0, of a masked lane or that it starts from.",
        "other=, and what the maximum starts from",
    ),
    (
        _ragged,
        "Only sizes that are no power of two come out wrong: lanes past the end take part, or the block's "
        "width stands where the number of elements belongs. Check the mask.",
        "the mask, and divisions by the block's width",
    ),
)


MAXIMA = {"max", "maximum", "argmax", "reduce", "where"}  # what may make one
PROMISES = {"multiple_of", "assume"}  # by which a file tells the compiler what it need not look for
BESIDE = ("dtype", "layout", "values")  # what tells cases apart that are alike in all sizes
GROSS = 0.2  # an error that no rounding of 16 bits explains, unless a sum is kept in them
# Said of rounding, too, where some cases of 16 bits have luck.
NARROW = (
    "Only 16-bit dtypes come out wrong: half precision is too low. Compute in fp32, .to(tl.float32), and "
    "round nowhere before the store.",
    ".to(tl.float32)",
)
BY_DTYPE = (
    "Only 16-bit dtypes come out wrong, and by more than their rounding. What does the file do otherwise for "
    "them: blocks, casts, a branch?",
    "what goes by the dtype",
)
UNSHIFTED = (
    "Only 16-bit dtypes come out wrong, and no maximum is subtracted before exp(): weights exp(s) round in "
    "16 bits, the largest too, where exp(s - maximum) has it as an exact 1. Large scores would overflow.",
    "the maximum",
)
# Of a file that promises so alone: the sizes of such a case may have nothing in common with any other's.
ALIGNED: tuple[Callable[[Case], bool], str, str] = (
    lambda case: case.layout == "offset",
    "Only aligned inputs come out right: the pointer is taken to start on a boundary.",
    "tl.multiple_of",
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


def sign_of_scale(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for scores that are scaled too late."""
    if finding.kind not in KINDS or not _just(lambda case: case.get("scale", 1.0) <= 0, evidence):
        return None
    return (
        "Only a scale of 0 or less comes out wrong. Is it applied before -inf is put in, and before the "
        "maximum? (-inf) · 0 is NaN, and a negative scale turns a maximum into a minimum.",
        "where the scale is applied",
    )


def in_common(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for wrong values that fit no pattern."""
    exponential = called(evidence.source, EXPONENTIALS)
    promised = called(evidence.source, PROMISES)
    by_luck = luck(len(evidence.failed), len(evidence.failed), len(evidence.trials)) > UNLIKELY
    for has, sentence, look_at in (*[ALIGNED] * promised, *PROPERTIES, *[LARGE] * exponential):
        of_rows = trial.challenge.rowwise or trial.challenge.reduces is not None
        blamed = "maximum" not in sentence or (of_rows and called(evidence.source, MAXIMA))
        if blamed and _just(has, evidence) and not by_luck:
            return sentence, look_at
    narrow = all(other.case.dtype.itemsize == 2 for other in evidence.failed)
    if narrow and sum(other.case.dtype.itemsize > 2 for other in evidence.passed) >= FEW:
        errors = [
            relative(other.findings[0]) for other in evidence.failed if other.findings[0].kind == "values"
        ]
        large = exponential and all(LARGE[0](other.case) for other in evidence.failed)  # exp() makes it gross
        just = _just(lambda case: case.dtype.itemsize == 2, evidence)
        if just or large or min(errors, default=1.0) <= CLOSE:
            shifted = subtracts_maximum(evidence.source) or "lse" in trial.names
            weighs = called(evidence.source, {"dot"}) and sums_exponentials(evidence.source)
            weighs = weighs and not evidence.several
            if weighs and not shifted:
                return UNSHIFTED
            if weighs and (first := first_maximum(ast.parse(evidence.source))):
                return _from_zero(*first)
            gross = not large and len(errors) == len(evidence.failed) and min(errors) > GROSS
            return BY_DTYPE if gross and not kept_low(evidence.source) else _narrow(trial, evidence.source)
    return None


def _from_zero(name: str, line: int) -> Diagnosis:
    """Scores below the 0 that their maximum starts from are not shifted by their own."""
    return (
        f"Only 16-bit dtypes come out wrong, and {name} starts from 0 on line {line}: where all scores of a "
        "row are below that, weights round in 16 bits, the largest too, where exp(s - maximum) has it as an "
        "exact 1. Start from -inf.",
        f"line {line}",
    )


def _narrow(trial: Trial, source: str) -> Diagnosis:
    """Half precision is too low; and what the source keeps in the inputs' dtype, or in 16 bits."""
    kept = kept_low(source)
    if not kept:
        named = zip(trial.names, trial.arguments, strict=True)
        given = [(name, value.dtype) for name, value in named if isinstance(value, torch.Tensor)]
        wide = [name for name, dtype in given if not (dtype.is_floating_point and dtype.itemsize == 2)]
        tree = ast.parse(source)
        lines = sorted(narrowed(source, set().union(*(pointers(name, tree) for name in wide))))
        return NARROW[0], spelled(lines) if 0 < len(lines) <= MOST else NARROW[1]
    listed = " and ".join(f"{name} ({dtype})" for name, dtype in kept.items())
    return (
        "Only 16-bit dtypes come out wrong: half precision is too low, and fp16 ends at 65504. Kept in the "
        f"inputs' dtype: {listed}. Compute in fp32, and round nowhere before the store.",
        f"the dtype of {' and of '.join(kept)}",
    )


def shared(evidence: Evidence) -> str:
    """The size that every failed case has and passed ones have not, in words; empty where there is none, or
    where it may be by luck: of all cases, of those that have something else that all failed ones have, or of
    those that are as large or as small in another size.
    """
    failed, every = [t.case for t in evidence.failed], [t.case for t in evidence.trials]
    kinds = [label for label in (*failed[0].sizes, *BESIDE) if len({_of(label, case) for case in every}) > 1]
    common = {
        label: {number for number, case in enumerate(every) if _of(label, case) == _of(label, failed[0])}
        for label in kinds
        if len({_of(label, case) for case in failed}) == 1
    }
    least = min(
        (label for label in common if label not in BESIDE), key=lambda label: len(common[label]), default=""
    )
    rivals = [set(range(len(every))), *(alike for label, alike in common.items() if label != least)]
    rivals += (beyond for label in kinds if label != least for beyond in _beyond(label, failed, every))
    if (
        not least
        or len(failed) < FEW
        or any(
            luck(len(failed), len(common[least] & rival), len(rival)) * len(kinds) > UNLIKELY
            for rival in rivals
        )
    ):
        return ""
    return f" Every case that fails has {least}={failed[0].get(least)}."


def _beyond(label: str, failed: list[Case], every: list[Case]) -> Iterator[set[int]]:
    """The cases in which a size is at least as large as in all failed ones, and at most; none of a choice."""
    wrong, sizes = [_of(label, case) for case in failed], [_of(label, case) for case in every]
    if all(isinstance(size, int | float) and not isinstance(size, bool) for size in sizes):
        yield {number for number, size in enumerate(sizes) if size >= min(wrong)}  # type: ignore[operator, type-var]
        yield {number for number, size in enumerate(sizes) if size <= max(wrong)}  # type: ignore[operator, type-var]


def _of(label: str, case: Case) -> object:
    """A size of a case by name, or what it has beside sizes."""
    return getattr(case, label) if label in BESIDE else case.get(label)


def always_right(trial: Trial, evidence: Evidence) -> str:
    """Which of several outputs is wrong in no case, in words; empty where none is."""
    wanted = [want for want in trial.expected if isinstance(want, Expected)]
    asked_for = sum(not want.label for want in wanted)
    alike = [other for other in evidence.failed if other.challenge is trial.challenge]
    wrong = {found.facts.get("result") for other in alike for found in other.findings}
    names = [
        want.label or called_output(number, asked_for, trial.results) or "the result"
        for number, want in enumerate(wanted)
        if number not in wrong
    ]
    if not names or None in wrong:
        return ""
    said = " and ".join(names)
    return f" {said if names[0].isidentifier() else said[0].upper() + said[1:]}: right in every case."


def _just(has: Callable[[Case], bool], evidence: Evidence) -> bool:
    """Whether all failed cases have a property, and no passed one."""
    failed, passed = [t.case for t in evidence.failed], [t.case for t in evidence.passed]
    return bool(passed) and all(map(has, failed)) and not any(map(has, passed))
