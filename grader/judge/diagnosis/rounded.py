"""A result that is right, as a narrower dtype holds it or its inputs: these were rounded on the way."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any

import torch

from grader.case import SHORT
from grader.judge.case.compare import CLOSE, Finding, relative
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis, Evidence, Speech
from grader.judge.diagnosis.explaining import explained
from grader.judge.diagnosis.fit import wrong_dtype, wrong_output
from grader.judge.diagnosis.site import spelled
from grader.judge.diagnosis.source import dots_in_tf32
from grader.judge.diagnosis.spots import MOST

# The share by which each moves a number at most: half of its last bit, and a little for sums before it.
NARROW = {torch.bfloat16: 1.02 * 2.0**-8, torch.float16: 1.02 * 2.0**-11, torch.float32: 1.02 * 2.0**-24}
FEW = 8  # elements that are no luck
OF_ANOTHER = ("dtype", "element_ty")  # what some tensor has
WHOLE = (torch.int8, torch.uint8, torch.int16, torch.int32)  # that an integer may be cut to
# How a file names them.
WORDS = {
    torch.bfloat16: ("bfloat16",),
    torch.float16: ("float16", "half"),
    torch.float32: ("float32", "float"),
    **{dtype: (SHORT[dtype],) for dtype in WHOLE},
}


def rounded(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """Every number of the result is one of a narrower dtype, near what is right, or the nearest to it."""
    told = _large_enough(trial, finding, evidence)
    pair = wrong_output(told) if told else None
    if told is None or pair is None:
        return None
    wanted = wrong_dtype(told)
    held = next((dtype for dtype in NARROW if _wider(wanted, dtype) and _held(*pair, dtype)), None)
    if held is None:
        return None
    name, lines = SHORT[held], _named(held, evidence)
    if held == torch.float16 and not lines and dots_in_tf32(evidence.source):
        return None  # TF32 has as many bits
    look_at = spelled(lines) if 0 < len(lines) <= MOST else "casts, and the dtype of what is stored"
    if _nearest(*pair, held):
        said = (
            f"is the right one rounded to {name}, and {SHORT[wanted]} is asked for: something becomes {name}"
        )
        return f"Every element {said} on the way, if only for the store.", look_at, told
    if relative(told.findings[0]) > CLOSE:
        return None
    said = f"is a number of {name}, near the right one, and {SHORT[wanted]} is asked for"
    return f"Every element {said}: it is computed in {name}, or ends in it.", look_at, told


def cut(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """Each wrong integer is the right one as a narrower dtype holds it, which the file names."""
    pair = wrong_output(trial)
    if pair is None or wrong_dtype(trial).is_floating_point:
        return None
    got, exact = pair
    wrong = got != exact
    for dtype in WHOLE:
        lines = _named(dtype, evidence)
        if lines and bool((exact.long().to(dtype).double() == got)[wrong].all()):
            first, right = int(got[wrong][0]), int(exact[wrong][0])
            return (
                f"Every wrong element is the right one cut to {SHORT[dtype]}: {first} is left of {right}.",
                spelled(lines) if len(lines) <= MOST else f"where {SHORT[dtype]} is named",
            )
    return None


def _large_enough(trial: Trial, finding: Finding, evidence: Evidence) -> Trial | None:
    """The first with wrong values, if the case on the screen has them, of which there are no few."""
    if finding.kind != "values":
        return None
    alike = (other for other in evidence.failed if other.challenge.entry == trial.challenge.entry)
    return next((t for t in alike if (pair := wrong_output(t)) and pair[0].numel() >= FEW), None)


def rounded_inputs(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The values are what comes out of inputs that a dtype of 16 bits holds, which the file names."""
    told = _large_enough(trial, finding, evidence)
    if told is None or relative(told.findings[0]) > CLOSE:
        return None
    for dtype in (torch.float16, torch.bfloat16):
        given = any(isinstance(value, torch.Tensor) and value.dtype == dtype for value in told.arguments)
        lines = _named(dtype, evidence, OF_ANOTHER if given else ())
        for names in _choices(told, dtype) if lines else ():
            if explained(_of_rounded(told, names, dtype), told):
                return *_said(told, names, dtype, lines), told
    return None


def _named(dtype: torch.dtype, evidence: Evidence, also: Collection[str] = ()) -> list[int]:
    """The lines of the learner's on which this dtype stands, by its name or by these."""
    nodes = (n for n in ast.walk(ast.parse(evidence.source)) if isinstance(n, ast.Attribute))
    return sorted({n.lineno for n in nodes if n.attr in (*WORDS[dtype], *also)} - evidence.given)


def _choices(trial: Trial, dtype: torch.dtype) -> list[tuple[str, ...]]:
    """The inputs that a dtype may not hold: each, and all of them."""
    given = zip(trial.names, trial.arguments, strict=True)
    wide = [n for n, t in given if isinstance(t, torch.Tensor) and t.is_floating_point() and t.dtype != dtype]
    return [(name,) for name in wide] + [tuple(wide)] * (len(wide) > 1)


def _of_rounded(trial: Trial, names: Collection[str], dtype: torch.dtype) -> Any:
    """What is right for these inputs rounded; their gradients pass through that."""
    rounds = [name in names for name in trial.names]

    def function(*given: Any) -> Any:
        padded = [*rounds, *[False] * (len(given) - len(rounds))]
        values = zip(given, padded, strict=True)
        held = [v + (v.to(dtype).to(v) - v).detach() if chosen else v for v, chosen in values]
        return trial.challenge.reference(*held)

    return function


def _said(trial: Trial, names: tuple[str, ...], dtype: torch.dtype, lines: list[int]) -> Diagnosis:
    what = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    theirs = [value for name, value in zip(trial.names, trial.arguments, strict=True) if name in names]
    given = " and ".join(dict.fromkeys(SHORT[value.dtype] for value in theirs))
    return (
        f"The values are what comes out if {what} {'is' if len(names) == 1 else 'are'} rounded to "
        f"{SHORT[dtype]} first, and {given} is given.",
        spelled(lines) if len(lines) <= MOST else f"where {SHORT[dtype]} is named",
    )


def _wider(wanted: torch.dtype, dtype: torch.dtype) -> bool:
    return wanted.itemsize > dtype.itemsize or (wanted == torch.int32 and dtype == torch.float32)


def _held(got: torch.Tensor, exact: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether a dtype has each number that came out, and not all that are right."""
    if not bool((got.isfinite() & exact.isfinite()).all()):
        return False
    return bool((got.to(dtype).double() == got).all()) and not bool((exact.to(dtype).double() == exact).all())


def _nearest(got: torch.Tensor, exact: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether each is the nearest to what is right."""
    return bool(((got - exact).abs() <= NARROW[dtype] * exact.abs()).all())
