"""The sizes and dtypes that a bar is measured at: its own case, scaled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from grader.challenge import Case, Challenge, Speed
from grader.challenge.case import SHORT
from grader.errors import TrackError

SCALES = (16, 8, 4, 2, 1)  # a sweep has the bar's sizes divided by these
OWN = "bar"  # the one word in the place of sizes: those of the bar alone


@dataclass(frozen=True)
class Wanted:
    """The sizes that were asked for: `512,1024` or `cols=512,1024`; `bar`; nothing is the usual sweep.

    Args:
        every: all dtypes at all sizes; else the other dtypes at the bar's own size alone.

    Raises:
        TrackError: nobody can read that.
    """

    text: str = ""
    every: bool = False

    def __post_init__(self) -> None:
        if self.text not in ("", OWN) and not self.values:
            raise TrackError(
                f'"{self.text}" are no sizes.',
                f"track bench 13 --sizes 1024,8192, --sizes cols=781 or --sizes {OWN}",
            )

    @property
    def name(self) -> str:
        return self.text.rpartition("=")[0]

    @property
    def values(self) -> list[int]:
        words = self.text.rpartition("=")[2].split(",")
        numbers = [int(word) for word in words if word.strip().isascii() and word.strip().isdigit()]
        return numbers if len(numbers) == len(words) and all(numbers) else []


def swept(speed: Speed) -> tuple[str, ...]:
    """The sizes that grow together: those that the bar names, else the columns of rows, else its largest."""
    sizes = counted(speed.case)
    if speed.sweep or "cols" in sizes:
        return tuple(speed.sweep) or ("cols",)
    return tuple(name for name, size in sizes.items() if size == max(sizes.values()))


def counted(case: Case) -> dict[str, int]:
    """Its sizes that are numbers of elements; a flag is none."""
    return {name: size for name, size in case.sizes.items() if isinstance(size, int) and size is not True}


def points(challenge: Challenge, speed: Speed, wanted: Wanted) -> Iterator[tuple[Case, dict[str, int]]]:
    """The cases of a sweep, and what of each the sweep set: the bar's own dtype first, small sizes first.

    Nothing, where the bar has no size of the name that was asked for.
    """
    names = (wanted.name,) if wanted.name else swept(speed)
    sizes = counted(speed.case)
    if not sizes.keys() >= set(names):
        return
    own = sizes[names[0]]
    values = wanted.values or [own // scale for scale in ((1,) if wanted.text == OWN else SCALES)]
    for dtype in dtypes(challenge, speed):
        whole = wanted.every or wanted.values or dtype == speed.case.dtype
        for value in values if whole else () if wanted.text == OWN else [own]:
            scaled = {name: max(1, sizes[name] * value // own) for name in names}
            yield resized(speed.case, scaled, dtype), scaled


def dtypes(challenge: Challenge, speed: Speed) -> Sequence[torch.dtype]:
    """The bar's own, then the floating ones that the day's plain cases have."""
    plain = {case.dtype for case in challenge.cases if case.group == "correct" and not case.huge}
    others = [dtype for dtype in SHORT if dtype in plain and dtype.is_floating_point and dtype.itemsize < 8]
    return list(dict.fromkeys([speed.case.dtype, *others]))


def resized(case: Case, sizes: dict[str, int], dtype: torch.dtype) -> Case:
    """The same case at other sizes."""
    return Case(
        dtype=dtype,
        layout=case.layout,
        values=case.values,
        upstream=case.upstream,
        gpu=True,
        **{**case.sizes, **sizes},
    )
