"""Matrix products whose terms are not counted once each: which part of k is left out, or counted how often.

Where out = Σⱼ cⱼ · a[:, j] b[j, :] with every cⱼ a whole number, c follows from the output by least squares:
there are m · n equations. Where k is too long for them, its products are counted in slices.
"""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass

import torch

from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis, Evidence, Speech
from grader.judge.diagnosis.fit import MOST, close, out_dtype, wrong_output
from grader.judge.diagnosis.reductions import scores
from grader.judge.diagnosis.site import has_loop, in_kernels, last

CORNER = 24  # rows and columns of the output that serve as equations
SPARE = 1.5  # equations for each unknown
WIDTHS = (1, 2, 4, 8, 16, 32, 64)  # products of a slice
TRIALS = 12  # solved at most
WHOLE = 0.1  # a count may be this far from a whole number

Run = tuple[int, int, int]  # products from, to (excluded), and how often they are counted


@dataclass(frozen=True)
class Counts:
    """How often each of the k products of a sum was counted, in runs of equal counts."""

    label: str
    k: int
    runs: tuple[Run, ...]
    trial: Trial

    @property
    def kept(self) -> int | None:
        """How many products from the start are counted once, when no others are counted; else None."""
        times = [often for _, _, often in self.runs]
        return self.runs[0][1] * times[0] if times in ([1, 0], [0]) else None


def counted(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis for products that are left out, or counted more than once."""
    tried = [(other, pair) for other in evidence.failed if (pair := wrong_output(other))]
    systems = [system for other, pair in tried if (system := _system(other, *pair))]
    sharp = [system for system in systems if system.width == 1] or systems
    solved = [counts for system in sharp[:TRIALS] if (counts := _solve(system))]
    uneven = [counts for counts in solved if len(counts.runs) > 1]
    if not uneven or len(solved) < MOST * len(sharp[:TRIALS]):
        return None  # where all products are counted twice, always, that is a factor
    told = _left_out(solved, uneven[0]) or _spell(uneven[0])
    tree = ast.parse(evidence.source)
    dots = {n.lineno for n in in_kernels(tree) if isinstance(n, ast.Call) and last(n.func) == "dot"}
    added = has_loop(tree) and not (dots and dots == {*scores(tree)})
    if not added and "the sum so far" not in told[1]:  # no loop adds them up
        told = told[0], "the masks, and the block size"
    return *told, uneven[0].trial


@dataclass(frozen=True)
class _System:
    """The equations terms · c = got for the products of a[m, k] and b[k, n], in slices of `width`."""

    trial: Trial
    a: torch.Tensor
    b: torch.Tensor
    got: torch.Tensor
    terms: torch.Tensor
    width: int


def _system(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> _System | None:
    """The equations of a trial whose arguments have such a product, if there is just one solution."""
    given = [v for v in trial.arguments if isinstance(v, torch.Tensor) and v.dim() == want.dim()]
    if want.dim() == 3 and all(map(len, (want, *given))):  # of a batch the first product
        got, want, given = got[0], want[0], [v[0] for v in given]
    if want.dim() != 2 or trial.rows or not bool(got.isfinite().all()):
        return None
    matrices = [v.cpu().double() for v in given]
    for a, b in itertools.permutations([*matrices, *(v.T for v in matrices)], 2):
        if a.shape != (len(want), len(b)) or b.shape[1] != want.shape[1]:
            continue
        if bool(a.isfinite().all() and b.isfinite().all()) and close(a @ b, want, out_dtype(trial)):
            equations = min(len(want), CORNER) * min(want.shape[1], CORNER)
            width = next((w for w in WIDTHS if SPARE * -(-len(b) // w) <= equations), 0)
            if not width or len(b) <= width:
                return None
            terms = _terms(a[:CORNER], b[:, :CORNER], width)
            unique = int(torch.linalg.matrix_rank(terms, rtol=1e-3)) == terms.shape[1]
            return _System(trial, a, b, got, terms, width) if unique else None
    return None


def _terms(a: torch.Tensor, b: torch.Tensor, width: int) -> torch.Tensor:
    """What each slice of the k products adds to each element of a @ b: [elements, slices]."""
    rest = -a.shape[1] % width
    a, b = torch.nn.functional.pad(a, (0, rest)), torch.nn.functional.pad(b, (0, 0, 0, rest))
    a, b = a.reshape(len(a), -1, width), b.reshape(-1, width, b.shape[1])
    return torch.einsum("msw,swn->mns", a, b).flatten(0, 1)


def _solve(system: _System) -> Counts | None:
    """The counts, when they are whole numbers and explain all of the output."""
    k, label = len(system.b), _label(system.trial, len(system.b))
    if not bool(system.got.any()):
        return Counts(label, k, ((0, k, 0),), system.trial)
    exact = torch.linalg.lstsq(system.terms, system.got[:CORNER, :CORNER].reshape(-1, 1)).solution[:, 0]
    counts = exact.round()
    if not bool(((exact - counts).abs() < WHOLE).all() and (counts >= 0).all()):
        return None
    each = counts.repeat_interleave(system.width)[:k]
    if not close(system.got, (system.a * each) @ system.b, out_dtype(system.trial)):
        return None
    return Counts(label, k, tuple(_runs(each)), system.trial)


def _another(solved: list[Counts]) -> str:
    """The size that is not k, and of which as many products are counted everywhere; empty where none is."""
    every = [(counts.trial.case.sizes, counts.kept) for counts in solved]
    labels = (label for label in every[0][0] if label != solved[0].label)
    return next((label for label in labels if all(s.get(label) == kept for s, kept in every)), "")


def _label(trial: Trial, k: int) -> str:
    """What the case calls the length of the sum."""
    labels = [label for label, size in trial.case.sizes.items() if size == k]
    return next((label for label in labels if label in ("k", "K")), labels[0] if labels else "k")


def _runs(each: torch.Tensor) -> list[Run]:
    starts = [0, *(int(i) + 1 for i in (each[1:] != each[:-1]).nonzero())]
    return [(a, b, int(each[a])) for a, b in zip(starts, [*starts[1:], len(each)], strict=True)]


def _left_out(solved: list[Counts], shown: Counts) -> Diagnosis | None:
    """One end of the sum is missing, in all trials the same one."""
    (_, first, _), k, label = shown.runs[0], shown.k, shown.label
    kept = [counts.kept for counts in solved]
    another = _another(solved)
    if all(end is not None and counts.k - end == 1 for counts, end in zip(solved, kept, strict=True)):
        return (
            f"Of {label} = {k} the last product is left out: a mask or a range ends one too early"
            f"{f', or at {another}' * bool(another)}.",
            f"the masks over {label}, and the end of the loop",
        )
    if another:
        return (
            f"Of {label} = {k} only the first {first} products are counted, as many as {another} is: what is "
            f"held against {another}?",
            f"the masks over {label}, and the end of the loop",
        )
    if all(end is not None for end in kept):
        partial = all(counts.k - end < (end & -end) for counts, end in zip(solved, kept, strict=True) if end)
        if partial and any(end & (end - 1) for end in kept if end):
            return (
                f"Of {label} = {k} only the first {first} products are counted: the last, partial block is "
                "left out.",
                f"the end of the loop over {label}, and its mask",
            )
        return (
            f"Of {label} = {k} only the first {first} products are counted: what becomes of the others?",
            f"the loop over {label}",
        )
    if all([often for _, _, often in counts.runs] == [0, 1] for counts in solved):
        return (
            f"Of {label} = {k} only the products from {first} on are counted: does each block overwrite "
            "the sum of those before it?",
            "what becomes of the sum so far",
        )
    return None


def _spell(counts: Counts) -> Diagnosis:
    """The first run that is counted too often, and the first that is not counted."""
    often = next((run for run in counts.runs if run[2] > 1), None)
    never = next((run for run in counts.runs if run[2] == 0), None)
    parts = [f"{_place(often)} {_times(often[2])}"] if often else []
    parts += [f"{_place(never)} not at all"] if never else []
    return (
        f"Of {counts.label} = {counts.k} not every product is counted once: {', '.join(parts)}.",
        f"where each block of {counts.label} starts, and how far each step goes",
    )


def _place(run: Run) -> str:
    start, stop, _ = run
    return f"{start} to {stop - 1}" if stop - start > 1 else f"number {start}"


def _times(often: int) -> str:
    return "twice" if often == 2 else f"{often} times"
