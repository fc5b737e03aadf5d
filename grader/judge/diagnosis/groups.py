"""Grouped products: rows that were multiplied by the weights of another group."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from grader.judge.case.compare import Finding, gate
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Evidence, Speech
from grader.judge.diagnosis.fit import FIT, MOST, out_dtype, wrong_output

LARGEST = 1 << 24  # elements of all products that may be tried
NEARLY_ALL = 0.99  # of the wrong elements must be another group's
FEWEST = 4  # wrong elements that can tell anything


@dataclass(frozen=True)
class Mixup:
    """A row with the group whose weights it was given, and its own."""

    row: int
    given: int
    own: int


def weights(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis for out[rows of g] = x[rows of g] @ w[another group]."""
    tried = [(other, *pair) for other in evidence.failed if (pair := wrong_output(other))]
    grouped = [
        (owner, got, want, every)
        for owner, got, want in tried
        if (every := _products(owner, want)) is not None
    ]
    mixed = ((_mixup(*one), one[0]) for one in grouped)
    found = [(mixup, owner) for mixup, owner in mixed if mixup]
    if not found or len(found) < MOST * len(grouped):
        return None
    first, owner = found[0]
    return (
        f"Row {first.row} is multiplied by the weights of group {first.given} where those of "
        f"group {first.own} belong.",
        "the group of each tile, and the row where it ends",
        owner,
    )


def _products(trial: Trial, want: torch.Tensor) -> torch.Tensor | None:
    """x @ w[g] for every g, as [g, t, n], for the x[t, k] and w[g, k, n] among the arguments."""
    tensors = [v for v in trial.arguments if isinstance(v, torch.Tensor) and v.is_floating_point()]
    for x in (v for v in tensors if v.dim() == 2 and want.dim() == 2 and len(v) == len(want)):
        for w in (v for v in tensors if v.dim() == 3 and v.shape[1:] == (x.shape[1], want.shape[1])):
            if len(w) > 1 and len(w) * want.numel() <= LARGEST:
                every = x.cpu().double() @ w.cpu().double()
                return every if bool(every.isfinite().all()) else None
    return None


def _mixup(trial: Trial, got: torch.Tensor, want: torch.Tensor, every: torch.Tensor) -> Mixup | None:
    """The first row that got another group's weights, when those explain nearly all that is wrong."""
    own = (every - want).norm(dim=2).argmin(dim=0)
    near = FIT * gate(out_dtype(trial)) * float(want.square().mean().sqrt())
    right = every[own, torch.arange(len(want))]
    wrong = (got - want).abs() > near
    if not bool(((right - want).abs() <= near).all()) or int(wrong.sum()) < FEWEST:
        return None
    distance, given = (every - got).abs().min(dim=0)
    if float((distance[wrong] <= near).double().mean()) < NEARLY_ALL:
        return None
    row, column = (int(i) for i in wrong.nonzero()[0])
    return Mixup(row, int(given[row, column]), int(own[row]))
