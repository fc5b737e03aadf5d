"""What roundings explain of an expected result, drawn once for several wrong answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torch import Tensor

from grader.challenge.harness.compare import Expected


def asked_once(want: Expected) -> Expected:
    """The same, with the movement kept: of each wrong answer it is asked from the first draw on."""
    kept: list[tuple[float, Tensor]] = []
    rest = iter(want.movement() if want.movement else ())

    def movement() -> Iterator[tuple[float, Tensor]]:
        yield from kept
        for one in rest:
            kept.append(one)
            yield one

    return replace(want, movement=want.movement and movement)
