"""Is a choice made at random? Tests of which elements a call kept.

Every test is a sum of bounded terms of mean 0 under a right kernel, and Bernstein's inequality bounds how far
it strays: P(|S| ≥ t) ≤ 2 exp(−t² / (2V + 2Mt/3)) with V the variance of the sum and M the largest term. At
FALSE_ALARM a test and at most LAGS tests a case, a grading of 50 cases would fail a right kernel with less
than 50 · 2²⁰ · 1e-14 < 1e-6. The products of elements one distance apart have mean 0 and no correlation, but
are not independent: for them it is an estimate, and a test draws fair masks to see that none fails.
"""

from __future__ import annotations

import math

import torch

from grader.challenge.harness.compare import Finding, told
from grader.challenge.harness.trial import Trial

FALSE_ALARM = 1e-14  # of one test
LAGS = 1 << 20  # the farthest elements that are compared
ENOUGH = 512  # elements; fewer tell nothing
SURE = 0.8  # correlation of what is the same


def chances(trial: Trial) -> list[Finding]:
    """What is not random about the kept elements of a trial."""
    assert trial.challenge.chance is not None
    keep = trial.kept[0].reshape(-1).cpu()
    rate = trial.challenge.chance.rate(trial.case)
    # What comes again and again spoils the rate too: repetition is the better reason.
    found = _repeats(keep, trial) or _rate(keep, rate, trial.case.values == "zeros")
    return [found] if found else []


def _rate(keep: torch.Tensor, rate: float, nothing: bool) -> Finding | None:
    """The share that is kept.

    Args:
        nothing: every element is 0.
    """
    count, kept = keep.numel(), int(keep.sum())
    allowed = float(bound(count * rate * (1 - rate), 1.0)) if 0 < rate < 1 else 0.0
    if abs(kept - count * rate) <= allowed:
        return None
    sentence = f"{kept / max(count, 1):.1%} of the elements are kept where {rate:.1%} should be"
    look_at = "the comparison with p"
    if nothing:
        sentence += ", and all of them are 0: what is kept is drawn, and does not depend on what x or y hold"
        look_at = "what is stored as kept"
    elif abs(kept - count * (1 - rate)) <= allowed:
        sentence += ": p is the probability that an element is dropped, not that it is kept"
    return told("chance", f"{sentence}.", look_at, kept=kept, of=count)


def _repeats(keep: torch.Tensor, trial: Trial) -> Finding | None:
    """Elements some distance apart that go together: the same random numbers came again."""
    again = repetition(keep)
    if again is None:
        return None
    lag, together = again
    if trial.rows:
        sentence = "Elements far apart get the same random numbers: the counter must go on beyond 2³²."
        return told("chance", sentence, "the dtype of what random numbers are drawn by")
    name = next((f" ({label})" for label, size in trial.case.sizes.items() if size == lag and lag > 1), "")
    often = "" if abs(together) > SURE else " more often than by chance"
    how = "together" if together > 0 else "one without the other"
    why = "their random numbers depend on one another"
    why = "the same random numbers come again" if together > SURE else why
    sentence = (
        f"Elements {lag}{name} apart are kept or dropped {how}{often} (correlation {together:+.2f}): {why}. "
        "Every element needs one of its own, drawn by its own number."
    )
    return told("chance", sentence, "what random numbers are drawn by", lag=lag)


def repetition(keep: torch.Tensor) -> tuple[int, float] | None:
    """The distance at which elements of a mask go together most, and their correlation; None where none do.

    The correlation at every distance at once, as the inverse Fourier transform of the power spectrum (the
    Wiener–Khinchin theorem).
    """
    count, rate = keep.numel(), float(keep.double().mean()) if keep.numel() else 0.0
    if count < ENOUGH or rate in (0.0, 1.0):
        return None
    centred = keep.double() - rate
    padded = 1 << (2 * count).bit_length()  # a length with a large prime in it takes ten times as long
    spectrum = torch.fft.rfft(centred, n=padded)
    sums = torch.fft.irfft(spectrum.abs() ** 2, n=padded)[1 : min(count - ENOUGH // 2, LAGS) + 1]
    pairs = count - torch.arange(1, len(sums) + 1, dtype=torch.float64)
    spread = rate * (1 - rate)
    allowed = bound(pairs * spread**2, max(rate, 1 - rate) ** 2)
    if not bool((sums.abs() > allowed).any()):
        return None
    correlation = (sums / (pairs * spread)).where(sums.abs() > allowed, 0.0)
    # What comes again every 512 elements comes again every 1024 too: the first of the strongest names it.
    lag = int((correlation.abs() >= 0.8 * correlation.abs().max()).nonzero()[0]) + 1
    # An estimate, which may come out a little above 1.
    return lag, max(-1.0, min(1.0, float(correlation[lag - 1])))


def other_choice(trial: Trial, gradient: torch.Tensor) -> tuple[str, str] | None:
    """What is told of a wrong gradient that is 0 about as often as it should be, but elsewhere; of a NaN
    nobody knows whether it was kept.
    """
    if not trial.kept or gradient.shape != trial.kept[0].shape:
        return None
    known = ~(trial.outputs[0].isnan().reshape(gradient.shape).cpu() | gradient.isnan().cpu())
    dropped, zero = ~trial.kept[0].cpu()[known], gradient.cpu()[known] == 0
    apart = float((dropped != zero).double().mean())
    if apart < 0.02 or not 0.5 < float(zero.sum()) / max(float(dropped.sum()), 1.0) < 2.0:
        return None
    return (
        "The backward pass drops other elements than the forward pass: both must draw by the same seed and "
        "the element's number in row-major order alone, not by its row, the program's number or a stride.",
        "what random numbers are drawn by in both passes",
    )


def bound(variance: torch.Tensor | float, largest: float, alarm: float = FALSE_ALARM) -> torch.Tensor:
    """How far a sum may stray: the t at which Bernstein's bound is a false alarm's probability."""
    log = math.log(2 / alarm)
    variance = torch.as_tensor(variance, dtype=torch.float64)
    return largest * log / 3 + (2 * variance * log + (largest * log / 3) ** 2).sqrt()
