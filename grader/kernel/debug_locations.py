"""Which lines of the learner's file an operation of TTIR was made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from grader.kernel.access import Site

LINE = re.compile(r'"([^"]+)":(\d+):(\d+)')


class Spot(NamedTuple):
    """A place in a file."""

    file: str
    line: int
    column: int


class Places:
    """The places that a module names.

    Args:
        printed: by name what each stands for.
        path: the file that lines are told of.
    """

    def __init__(self, printed: dict[str, str], path: str) -> None:
        self.printed, self.path = printed, path

    def site(self, name: str, launched: list[int]) -> Site:
        """The innermost line of the file, and those that led to it.

        Args:
            launched: the lines that led to the launch that runs; filled in before each.
        """
        lines = list(dict.fromkeys(spot.line for spot in self.spots(name) if spot.file == self.path))
        return Site(lines[0] if lines else 0, lines[1:], launched)

    def spots(self, name: str) -> Iterator[Spot]:
        """Where it stands, and the calls that led there."""
        return self._spots(f"#{name}")

    def _spots(self, text: str) -> Iterator[Spot]:
        plain = LINE.match(text)
        if plain:
            yield Spot(plain[1], int(plain[2]), int(plain[3]))
            return
        for name in re.findall(r"#(loc\d*)", text):
            if name in self.printed:
                yield from self._spots(self.printed[name])
