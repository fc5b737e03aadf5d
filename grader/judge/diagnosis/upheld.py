"""Which suspects stand, held against what failed and what passed, and with which numbers one is told."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import torch

from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Evidence
from grader.judge.diagnosis.explaining import Explained, differs, wanted_of

NOT_NUMBERS = ("nan", "inf")
HALF = 0.5  # of what fails alike
THIRD = 0.33  # of it, where a suspect explains the first: a mistake may show otherwise in other cases
NUMBER = re.compile(r"\b\d+\b")
NUMBERS = re.compile(r"\b\d+((,| or) \d+)*\b")


def upheld(
    found: dict[str, list[Explained]], wrong: list[Trial], first: Trial, evidence: Evidence
) -> dict[str, list[Explained]]:
    """The suspects that explain enough, and that no passed trial refutes."""
    kept = {}
    for sentence, ones in found.items():
        if not ones or _by_nan_alone(ones, wrong):
            continue
        early, alike = ones[0].trial is first, _like(ones[0].trial, wrong)
        if sum(one.trial in alike for one in ones) < (THIRD if early else HALF) * len(alike):
            continue
        function = first.challenge.suspects[sentence]
        enough = early or len(ones) >= HALF * len(wrong) or differs(function, first, ones[0].given)
        if enough and not refuted(function, ones, evidence):
            kept[sentence] = ones
    return kept


def _by_nan_alone(ones: list[Explained], wrong: list[Trial]) -> bool:
    """Whether it gives NaN where the kernel did, and none of the wrong numbers that come in more cases.

    Any formula that divides by 0 or by n - 1 gives the NaN of a single column.
    """
    numbers = [other for other in wrong if other.findings[0].kind not in NOT_NUMBERS]
    return len(numbers) > len(ones) and all(one.trial.findings[0].kind in NOT_NUMBERS for one in ones)


def outnumbered(function: Callable[..., Any], ones: list[Explained], wrong: list[Trial]) -> bool:
    """Whether it would give something else, and wrong, in more of what failed like the first that it explains
    than it explains of that.
    """
    alike = _like(ones[0].trial, wrong)
    against = sum(differs(function, other, ones[0].given) for other in alike)
    return against > sum(one.trial in alike for one in ones)


def refuted(function: Callable[..., Any], ones: list[Explained], evidence: Evidence) -> bool:
    """Whether a suspect is wrong in a case like the first it explains, and no smaller, that passed.

    In another dtype, or for fewer elements, a kernel may take other blocks: there a suspect is refuted where
    it is wrong in more cases of its dtype that passed than it explains.
    """
    first, given = ones[0].trial, ones[0].given
    passed = [t for t in evidence.passed if t.challenge is first.challenge and t.answer and not t.rows]
    passed = [t for t in passed if not t.case.gpu]  # a million rows have one in which a wrong formula shows
    passed = [t for t in passed if t.case.dtype == first.case.dtype and not _empty(t)]
    passed = [t for t in passed if not any(want.exact.is_meta for want in wanted_of(t))]
    against = [other for other in passed if differs(function, other, given)]
    if any(o.case.values == first.case.values and _elements(o) >= _elements(first) for o in against):
        return True
    return len(against) > len(_in_dtype_of(first, ones))


def numbered(sentence: str, kept: dict[str, list[Explained]], known: set[str]) -> str:
    """The sentence with the numbers that explain most in the dtype of its case, for blocks often go by that:
    those of the source, if it has some; where several are as good, with each: "tiles of 32 or 64".
    """
    (owner, given), text = (kept[sentence][0].trial, kept[sentence][0].given), numberless(sentence)
    family = {s: ones for s, ones in kept.items() if numberless(s) == text and ones[0].given == given}
    counts = {s: len(_in_dtype_of(owner, ones)) for s, ones in family.items() if ones[0].trial is owner}
    most = [s for s, count in counts.items() if count == max(counts.values())]
    most = [s for s in most if known >= {*NUMBER.findall(s)}] or most
    each = [{*values} for values in zip(*(NUMBER.findall(s) for s in most), strict=True)]
    if sum(len(values) > 1 for values in each) > 1:  # pairs, of queries and keys
        return most[0]
    numbers = map(_either, each)
    return NUMBER.sub(lambda _: next(numbers), most[0])


def _either(numbers: set[str]) -> str:
    *others, last = sorted(numbers, key=int)
    return f"{', '.join(others)} or {last}" if others else last


def numberless(sentence: str) -> str:
    return NUMBERS.sub("", sentence)


def constants(source: str) -> set[str]:
    return {str(n.value) for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Constant)}


def _like(trial: Trial, others: list[Trial]) -> list[Trial]:
    """Those with the same kind of finding, in the same dtype: blocks often go by it."""
    alike = [other for other in others if other.findings[0].kind == trial.findings[0].kind]
    return [other for other in alike if other.case.dtype == trial.case.dtype]


def _in_dtype_of(trial: Trial, ones: list[Explained]) -> list[Explained]:
    return [one for one in ones if one.trial.case.dtype == trial.case.dtype]


def _empty(trial: Trial) -> bool:
    """Whether an input has no elements: a suspect need not know what to do there."""
    return any(isinstance(value, torch.Tensor) and not value.numel() for value in trial.arguments)


def _elements(trial: Trial) -> int:
    return sum(value.numel() for value in trial.arguments if isinstance(value, torch.Tensor))
