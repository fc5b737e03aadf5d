"""Which lines of the learner's file an operation of TTIR was made of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.kernel.access import Site

LINE = re.compile(r'"([^"]+)":(\d+):\d+')


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
        lines = list(dict.fromkeys(line for file, line in self.lines(name) if file == self.path))
        return Site(lines[0] if lines else 0, lines[1:], launched)

    def lines(self, name: str) -> Iterator[tuple[str, int]]:
        """The file and the line where it stands, and those of the calls that led there."""
        return self._lines(f"#{name}")

    def _lines(self, text: str) -> Iterator[tuple[str, int]]:
        plain = LINE.match(text)
        if plain:
            yield plain[1], int(plain[2])
            return
        for name in re.findall(r"#(loc\d*)", text):
            if name in self.printed:
                yield from self._lines(self.printed[name])
