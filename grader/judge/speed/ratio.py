"""The statistics of a speed verdict: a ratio of medians, its bootstrap interval, and the side of the bar it
lies on.
"""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass
from typing import Literal

RESAMPLES = 400
MARGIN, SHORT_MARGIN, SHORT = 0.03, 0.05, 10.0  # in the learner's favour; larger below 10 µs
NOISE = 0.02  # further from 1 than this, what one copy takes when timed twice counts against every ratio


@dataclass(frozen=True)
class Ratio:
    """How many times the needed speed was reached; 1 is the bar.

    Attributes:
        interval: 95 %, by bootstrap over rounds.
        bar: in words, the easier of the bars given.
        noise: the same copy timed twice, one over the other. Beyond 2 % a verdict needs to be as far from the
            bar as that.
    """

    value: float
    interval: tuple[float, float]
    bar: str
    noise: float
    verdict: Literal["passed", "slow", "inconclusive"]


def bar_ratio(
    times: dict[str, list[float]], of_copy: float | None, of_torch: float | None, rng: random.Random
) -> Ratio:
    """The ratio against the easier bar.

    Args:
        times: µs per round of `yours`, `copy`, the same copy `again`, and `torch`; index i of each comes from
            round i.
        of_copy, of_torch: the bars, as shares.
    """
    bars = [("copy", of_copy, "of copy"), ("torch", of_torch, "of torch")]
    given = [(who, share, f"{share:.2f} {words}") for who, share, words in bars if share is not None]
    best = max(given, key=lambda bar: statistics.median(times[bar[0]]) / bar[1])
    who, share, words = best
    value = _ratio(times, who, share, range(len(times["yours"])))
    interval = _interval(times, who, share, rng)
    margin = SHORT_MARGIN if statistics.median(times["yours"]) < SHORT else MARGIN
    noise = statistics.median(times["copy"]) / statistics.median(times["again"])
    return Ratio(value, interval, words, noise, _verdict(_as_noisy(interval, noise), 1 - margin))


def noisy(noise: float) -> bool:
    """Whether the machine does not time the same work alike."""
    return abs(noise - 1) > NOISE


def _as_noisy(interval: tuple[float, float], noise: float) -> tuple[float, float]:
    """Where ratios may lie whose every time may be off by as much as the copy's."""
    off = max(noise, 1 / noise) if noisy(noise) else 1.0
    return interval[0] / off, interval[1] * off


def _ratio(times: dict[str, list[float]], who: str, share: float, rounds: range | list[int]) -> float:
    peer = statistics.median(times[who][i] for i in rounds)
    return peer / share / statistics.median(times["yours"][i] for i in rounds)


def _interval(
    times: dict[str, list[float]], who: str, share: float, rng: random.Random
) -> tuple[float, float]:
    count = len(times["yours"])
    drawn = sorted(_ratio(times, who, share, rng.choices(range(count), k=count)) for _ in range(RESAMPLES))
    return drawn[int(0.025 * RESAMPLES)], drawn[int(0.975 * RESAMPLES) - 1]


def _verdict(interval: tuple[float, float], bar: float) -> Literal["passed", "slow", "inconclusive"]:
    if interval[0] >= bar:
        return "passed"
    return "slow" if interval[1] < bar else "inconclusive"
