"""Are categories drawn as often as they should be? Tests of how often each came.

By Bernstein's bound (mask_statistics.py): of every category, and of every run of first ones, which finds what
single rare categories are too few to tell. All of them together fail a right kernel in one of 1 / CASE_ALARM
cases: each has its share. What may not come at all are categories that all rows together draw with a
probability below FALSE_ALARM. A grading of 50 cases would fail a right kernel with less than
50 · 4e-9 = 2e-7. Equal rows are held against one another at every distance too, which is an estimate, as in
mask_statistics.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from grader.challenge import Frequencies
from grader.challenge.harness.compare import Finding, told
from grader.challenge.harness.mask_statistics import FALSE_ALARM, bound, repetition
from grader.challenge.harness.oracle import Values, cast
from grader.challenge.harness.trial import Trial

CASE_ALARM = 3.9e-9  # of all categories and runs of a case
LIKELY = 1e-2  # of a suspect: it must fit more closely than what is right may miss
CLEARLY = 3.0  # natural logarithm of how many times likelier a suspect must be than the next


def possible(declared: Frequencies, arguments: Values, drawn: torch.Tensor) -> torch.Tensor:
    """Which of the categories drawn, [rows], could come; bool."""
    return _chosen(declared.of(*cast(arguments, torch.float64)), drawn) > 0


def impossible(trial: Trial, drawn: torch.Tensor) -> tuple[str, str] | None:
    """What is told of a category that could not come in a row where several could."""
    assert trial.challenge.frequencies is not None
    odds = trial.challenge.frequencies.of(*cast(trial.oracle_arguments, torch.float64)).cpu()
    drawn = drawn.cpu()
    wrong = (_chosen(odds, drawn) == 0) & ((odds > 0).sum(dim=1) > 1)
    if not bool(wrong.any()):
        return None
    row = int(wrong.nonzero()[0])
    category, last = int(drawn[row]), odds.shape[1] - 1
    if not 0 <= category <= last:
        sentence = f"Row {row} draws {category}, and its categories are 0 to {last}."
        return sentence, "`other=` of the masked load, and the column of each lane"
    odd = "0" if not float(odds[row, category]) else "too small for it ever to come"
    sentence = f"Row {row} draws category {category}, whose probability is {odd}."
    return sentence, "the least and the largest of the random numbers"


def _chosen(odds: torch.Tensor, drawn: torch.Tensor) -> torch.Tensor:
    """The probability of what each row drew; 0 where that is too small to be met, or of no category."""
    inside = (drawn >= 0) & (drawn < odds.shape[1])
    chosen = odds.gather(1, torch.where(inside, drawn, 0).to(odds.device)[:, None])[:, 0].to(drawn.device)
    return torch.where(inside & (chosen > FALSE_ALARM / max(odds.numel(), 1)), chosen, 0.0)


def frequencies(trial: Trial) -> list[Finding]:
    """What is not random about the categories of a trial, or random by other odds."""
    declared = trial.challenge.frequencies
    assert declared is not None
    drawn, arguments = trial.outputs[0].cpu(), cast(trial.oracle_arguments, torch.float64)
    odds = declared.of(*arguments).cpu()
    sentence = _together(drawn, odds)
    look_at = "what random numbers are drawn by"
    look_at += ", and what is added" if "None is likelier" in sentence else ""
    if not sentence:
        sentence, look_at = _off(drawn, odds), "how the random numbers enter"
        others = declared.suspects.items() if sentence else ()
        sentence = _explained(drawn, {told: wrong(*arguments).cpu() for told, wrong in others}) or sentence
    return [told("frequency", sentence, look_at)] if sentence else []


def _together(drawn: torch.Tensor, odds: torch.Tensor) -> str:
    """What is said of equal rows that draw by the same random numbers; nothing of others."""
    if not len(odds) or not torch.equal(odds, odds[:1].expand_as(odds)):
        return ""
    if bool((drawn == drawn[0]).all()) and _off(drawn, odds):
        said = f"All {len(odds)} equal rows draw category {drawn[0]}, and {odds[0, drawn[0]]:.1%} should"
        if odds[0, drawn[0]] == odds[0].max():
            return (
                f"{said}. None is likelier: nothing random is added, too little, or rows or columns draw by "
                "the same random numbers."
            )
        return f"{said}: rows or columns draw by the same random numbers, or a category is taken for another."
    half = int((odds[0].cumsum(0) - 0.5).abs().argmin())
    again = repetition(drawn <= half)
    if again is None:
        return ""
    return (
        f"What equal rows {again[0]} apart draw goes together (correlation {again[1]:+.2f}): the same random "
        "numbers come again. Each row needs numbers of its own."
    )


def _explained(drawn: torch.Tensor, suspects: dict[str, torch.Tensor]) -> str:
    """The suspect that is likeliest by far among those that fit; nothing where several might be."""
    fits = {told: odds for told, odds in suspects.items() if not _off(drawn, odds, LIKELY)}
    rows = torch.arange(len(drawn))
    ranked = sorted((float(odds[rows, drawn].log().sum()), told) for told, odds in fits.items())
    clear = ranked and (len(ranked) == 1 or ranked[-1][0] - ranked[-2][0] > CLEARLY)
    return ranked[-1][1] if clear else ""


def contradicted(trial: Trial, others: Sequence[Trial]) -> bool:
    """Whether one of these was not drawn by the odds that the first is told to be drawn by."""
    declared, told = trial.challenge.frequencies, trial.findings[0].told
    wrong = declared.suspects.get(told[0]) if declared and told else None
    return wrong is not None and any(_contradicts(wrong, other) for other in others)


def _contradicts(wrong: Callable[..., torch.Tensor], other: Trial) -> bool:
    if not other.outputs:
        return False
    odds = wrong(*cast(other.oracle_arguments, torch.float64)).cpu()
    silent = not bool((odds.sum(dim=1) > 0).all())  # of some rows, such as unequal ones
    return not silent and bool(_off(other.outputs[0].cpu(), odds))


def _off(drawn: torch.Tensor, odds: torch.Tensor, alarm: float = CASE_ALARM) -> str:
    """What is said of the category, or run of first ones, that is furthest beyond its bound."""
    rows, categories = odds.shape
    counts = torch.bincount(drawn, minlength=categories).double()
    runs = odds.cumsum(dim=1).clamp(max=1.0)
    found = []
    for came, expected in ((counts, odds), (counts.cumsum(0), runs)):
        variance = (expected * (1 - expected)).sum(dim=0)
        mean, allowed = expected.sum(dim=0), bound(variance, 1.0, alarm / (2 * categories))
        worst = int(((came - mean).abs() / allowed).argmax())
        share = f"{came[worst] / rows:.1%} of {rows} rows, not in {mean[worst] / rows:.1%}"
        found.append((float((came - mean).abs()[worst] / allowed[worst]), worst, share))
    (one, category, share), (several, last, of_run) = found
    if max(one, several) <= 1:
        return ""
    if one >= several or last == 0:
        return f"Category {category} comes in {share}."
    return f"One of the categories 0 to {last} comes in {of_run}."
