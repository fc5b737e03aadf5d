"""The statistics of a speed verdict."""

from __future__ import annotations

import random

from grader.judge.speed.ratio import bar_ratio


def times(
    yours: float, copy: float, torch: float, noise: float = 0.01, again: float | None = None
) -> dict[str, list[float]]:
    rng = random.Random(1)
    medians = {"yours": yours, "copy": copy, "torch": torch, "again": again or copy}
    return {who: [us * rng.gauss(1, noise) for _ in range(15)] for who, us in medians.items()}


def test_a_kernel_well_over_the_bar_passes() -> None:
    ratio = bar_ratio(times(100, 100, 200), 0.8, None, random.Random(0))
    assert ratio.verdict == "passed"
    assert 1.2 < ratio.value < 1.3
    assert ratio.interval[0] < ratio.value < ratio.interval[1]


def test_a_kernel_well_under_the_bar_is_slow() -> None:
    assert bar_ratio(times(200, 100, 200), 0.8, None, random.Random(0)).verdict == "slow"


def test_a_kernel_on_the_bar_is_neither() -> None:
    measured = {"yours": [80.0, 125.0] * 7 + [100.0], "copy": [100.0] * 15, "torch": [200.0] * 15}
    measured["again"] = measured["copy"]
    assert bar_ratio(measured, 1.0, None, random.Random(0)).verdict == "inconclusive"


def test_three_percent_are_in_the_learners_favour() -> None:
    assert bar_ratio(times(102, 100, 200, noise=0.001), 1.0, None, random.Random(0)).verdict == "passed"


def test_of_two_bars_the_easier_counts() -> None:
    ratio = bar_ratio(times(200, 100, 300), 0.8, 1.2, random.Random(0))
    assert ratio.verdict == "passed"
    assert ratio.bar == "1.20 of torch"


def test_on_a_noisy_machine_what_lies_as_near_to_the_bar_is_not_told_and_what_lies_far_off_is() -> None:
    def verdict(yours: float, again: float) -> str:
        return bar_ratio(times(yours, 100, 200, 0.001, again), 1.0, None, random.Random(0)).verdict

    assert verdict(107, 101.5) == "slow"  # 1.5 % are no noise
    assert verdict(107, 106) == "inconclusive"
    assert verdict(107, 95) == "inconclusive"  # whichever way
    assert verdict(98, 106) == "inconclusive"
    assert verdict(160, 106) == "slow"
    assert verdict(80, 106) == "passed"
