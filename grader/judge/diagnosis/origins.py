"""Wrong values traced to where they came from: other elements of the inputs, or another formula of them."""

from __future__ import annotations

import math
from typing import Any

import torch

from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis
from grader.judge.diagnosis.fit import close, out_dtype, wrong_dtype

ROUNDED = 2**-8  # bf16


def is_zero_for_other(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> Diagnosis | None:
    """Wherever the result is wrong it is 0, and a number that was handed over belongs there."""
    if not wrong_dtype(trial).is_floating_point:
        return None  # a count or an index may be 0 for any reason
    wrong = got != want
    belongs = want[wrong]
    if not belongs.numel() or bool(wrong.all()) or bool(got[wrong].any()):
        return None
    if float(belongs[0]) == 0 or not bool((belongs == belongs[0]).all()):
        return None
    if not any(math.isclose(belongs[0], each, rel_tol=ROUNDED) for each in _scalars(trial)):
        return None  # other lanes than masked ones give 0 as well
    return (
        f"Lanes without an element give 0 where {float(belongs[0]):.6g} belongs: "
        "`other=` says what a masked lane holds.",
        "other= of the masked load",
    )


def is_misplaced(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> Diagnosis | None:
    """Every wrong element of a vector is another element of an input."""
    if got.dim() != 1:
        return None
    scalars = _scalars(trial)
    wrong = [(i, g, w) for i, (g, w) in enumerate(zip(got.tolist(), want.tolist(), strict=True)) if g != w]
    for argument, label in zip(trial.arguments, trial.names, strict=True):
        places = _places(argument, label)
        if wrong and places and all(g in places or (w in places and g in scalars) for _, g, w in wrong):
            i, g, w = wrong[0]
            here, there = places.get(g, f"{g:.6g}"), places.get(w, f"{w:.6g}")
            if not any(g in places for _, g, _ in wrong):
                return (
                    f"The result's [{i}] is {here} where {there} belongs: the load's mask leaves that out.",
                    "the mask of the load",
                )
            return (
                f"Elements come from the wrong places: the result's [{i}] is {here} where {there} belongs.",
                "the offsets of the load, and its mask",
            )
    return None


def _scalars(trial: Trial) -> set[float]:
    return {float(value) for value in trial.arguments if isinstance(value, (int, float))}


def _places(argument: Any, label: str) -> dict[float, str]:
    """Where each value of a vector stands; empty when it is none, or its values repeat."""
    if not isinstance(argument, torch.Tensor) or argument.dim() != 1 or argument.numel() < 2:
        return {}
    places = {value: f"{label}[{i}]" for i, value in enumerate(argument.cpu().double().tolist())}
    return places if len(places) == argument.numel() else {}


def is_combination(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> Diagnosis | None:
    """Both are sums of the inputs with constant factors, but not with the same ones."""
    named = zip(trial.arguments, trial.names, strict=True)
    pairs = [(a.cpu().double().reshape(-1), n) for a, n in named if isinstance(a, torch.Tensor)]
    if len(pairs) < 2 or want.numel() < 8 or any(a.numel() != want.numel() for a, _ in pairs):
        return None
    basis = torch.stack([a for a, _ in pairs], dim=1)
    both = torch.stack([got.reshape(-1), want.reshape(-1)], dim=1)
    if not bool(basis.isfinite().all() and both.isfinite().all()):
        return None
    factors = torch.linalg.lstsq(basis, both).solution
    fitted = basis @ factors
    if not all(close(both[:, i], fitted[:, i], out_dtype(trial)) for i in (0, 1)):
        return None
    is_, should = (_spell(trial, factors[:, i].tolist(), [n for _, n in pairs]) for i in (0, 1))
    return (f"The result is {is_} where {should} is right.", "the formula") if is_ != should else None


def _spell(trial: Trial, factors: list[float], labels: list[str]) -> str:
    known = {n: v for v, n in zip(trial.arguments, trial.names, strict=True) if isinstance(v, float)}
    terms = []
    for factor, label in zip(factors, labels, strict=True):
        if abs(factor) < 1e-4:
            continue
        by_name = (n for n, v in known.items() if math.isclose(v, factor, rel_tol=1e-3))
        terms.append(label if abs(factor - 1) < 1e-4 else f"{next(by_name, f'{factor:.4g}')} * {label}")
    return " + ".join(terms) or "0"
