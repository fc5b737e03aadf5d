"""Rows that are right up to a factor of their own: what each is divided by is wrong."""

from __future__ import annotations

import ast

import torch

from grader.judge.case.compare import gate
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis
from grader.judge.diagnosis.fit import FIT, close, out_dtype
from grader.judge.diagnosis.launched import programs
from grader.judge.diagnosis.reductions import scores
from grader.judge.diagnosis.running import first_sum, runs_along
from grader.judge.diagnosis.site import functions, jitted, last, spelled
from grader.judge.diagnosis.source import EXPONENTIALS, calls, keyword

FEW = 4  # lines to look at
ROUNDING = 1e-2  # a factor so close to 1 is none
FAR = 10.0  # gates: nor one so close
SMALL = 1e-3  # of the typical row: one that is smaller has no digits of its own


def factors(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> torch.Tensor | None:
    """One for each row that has one, 1 for others; None where they do not explain each row that is wrong."""
    if got.dim() < 2 or got.shape[-1] < 2:
        return None
    a, b = got.reshape(-1, got.shape[-1]), want.reshape(-1, want.shape[-1])
    usable = a.isfinite().all(dim=1) & b.isfinite().all(dim=1) & (b.norm(dim=1) > 0)
    if not bool(usable.any()):
        return None
    a, b = a[usable], b[usable]
    factor = (a * b).sum(dim=1) / (b * b).sum(dim=1)
    fitted = factor[:, None] * b
    if not close(a, fitted, out_dtype(trial)) or bool((factor <= 0).any()):
        return None
    size = b.norm(dim=1)
    left = (a - fitted).norm(dim=1) / size.clamp(min=SMALL * float(size.median()))
    if bool((left > FIT * gate(out_dtype(trial))).any()) or not bool(_off(factor, trial).any()):
        return None
    every = torch.ones(len(usable), dtype=factor.dtype)
    every[usable] = factor
    return every


def is_rowwise_scaled(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> Diagnosis | None:
    """Each row right up to a factor of its own: a reduction over the row took in too much or too little."""
    factor = factors(trial, got, want)
    if factor is None:
        return None
    off = _off(factor, trial)
    rows, own = ("Each row is", "its own") if bool(off.all()) else ("Some rows are", "their own")
    if float(factor.max()) <= 1.0 + ROUNDING:
        later = _later_rows(trial, off)
        if later:
            return later
        small = f"{rows} too small by a factor of {own}"
        if _sum_is_right(trial):
            sound = "and lse is right, so that the sum over the row is"
            return f"{small}, {sound}: it divides twice, or not alone.", "what each row is divided by"
        return f"{small}: the sum over the row is too large.", "the sum"
    if float(factor.min()) < 1.0 - ROUNDING:
        return (
            f"{rows} off by a factor of {own}, some up and some down: what a row is divided by belongs to "
            "other numbers than those in the row.",
            "what each row is divided by",
        )
    return (
        f"{rows} too large by a factor of {own}: a division is missing, or what a row is divided by is too "
        "small, as where its sum leaves elements out.",
        "what each row is divided by",
    )


def _sum_is_right(trial: Trial) -> bool:
    """Whether the logarithm of the sum came out right beside the result."""
    wrong = {found.facts.get("result") for found in trial.findings}
    return "lse" in trial.results and trial.results.index("lse") not in wrong


def _off(factor: torch.Tensor, trial: Trial) -> torch.Tensor:
    """Which rows have a factor that no rounding explains."""
    return (factor - 1).abs() >= max(ROUNDING, FAR * gate(out_dtype(trial)))


def _later_rows(trial: Trial, off: torch.Tensor) -> Diagnosis | None:
    """Only rows that a program takes after its first one are off, and all of those."""
    first = programs(trial)
    if not 0 < first < len(off) or bool(off[:first].any()) or not bool(off[first:].all()):
        return None
    return (
        f"Rows up to {first - 1} are right, one for each program, and those that a program takes next are "
        "too small: a maximum or sum of the row before is left over. Set both anew for each row.",
        "what is set before the loop over rows",
    )


def too_large_a_sum(source: str, full: bool) -> Diagnosis:
    """Why the sum over a row may be too large, from what the source has.

    Args:
        full: rows fail whose block has no lane without an element.
    """
    if first := first_sum(source):
        name, number, line = first
        return f" {name} starts from {number} on line {line}; a sum starts from 0.", f"line {line}"
    others = [keyword(call, "other") for name, call in calls(source) if name == "load"]
    given = [ast.unparse(other) for other in others if other is not None]
    rescale = runs_along(source)
    either, or_not = ("Either", "or a running sum was not rescaled.") if rescale else ("The", "")
    neutral = bool(given) and all("inf" in other for other in given)
    if full and not neutral:
        return (
            " Rows that fill a block fail, too, so no lane without an element is to blame: "
            f"{'a running sum was not rescaled, or ' if rescale else ''}other terms are added up than should "
            "be, or some of them twice.",
            "what the sums are made of",
        )
    if _scored(ast.parse(source)):
        lines = scores(ast.parse(source))
        where = f": {spelled(lines)}" if 0 < len(lines) <= FEW else ""
        return (
            f" {either} lanes that hold no element count: tl.dot gives them 0, and tl.where makes that -inf"
            f"{'; ' if rescale else '.'}{or_not}",
            f"the scores of padding lanes{where}",
        )
    if neutral:
        return (
            " Lanes that hold no element have `other=` -inf and add 0. So are sums added that belong to "
            "different maxima? Each must be rescaled to the new maximum first.",
            "where sums are added",
        )
    return (
        f" {either} lanes that hold no element count (`other=` must be neutral: -inf for a maximum, 0 for a "
        f"sum){', ' if rescale else '.'}{or_not}",
        "other= of the masked load",
    )


def _scored(tree: ast.Module) -> bool:
    """Whether what a kernel takes exponentials of are products of its own, and not loaded scores."""
    places: list[ast.AST] = [f for f in functions(tree) if jitted(f)] or [tree]
    called = [{last(n.func) for n in ast.walk(place) if isinstance(n, ast.Call)} for place in places]
    weighing = [names for names in called if names & EXPONENTIALS]
    return any("dot" in names for names in weighing or called)
