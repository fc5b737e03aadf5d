"""Which lines of the learner's file are the skeleton's: those that are right, and the TODOs that are left."""

from __future__ import annotations

import ast
import difflib
import re


def handed_out(source: str, skeleton: str) -> frozenset[int]:
    """Lines, counted from 1, that stand in the skeleton as they are, in the same order.

    Args:
        skeleton: empty where its lines are not to be trusted, as in a bug hunt.
    """
    before, after = ([line.strip() for line in text.splitlines()] for text in (skeleton, source))
    matched = difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return frozenset(line + 1 for block in matched for line in range(block.b, block.b + block.size))


def to_do(source: str, given: frozenset[int], *places: ast.FunctionDef) -> list[int]:
    """The lines of functions that say what is left to do, below which nothing was written.

    Args:
        given: lines that are handed out.
    """
    lines = source.splitlines()
    inside = {n for place in places for n in range(place.lineno, _end(place, lines) + 1)}
    found = [n for n in sorted(inside & given) if re.search(r"#\s*TODO\b", lines[n - 1])]
    return [n for n in found if _below(n, lines) in {0, *given}]


def _below(line: int, lines: list[str]) -> int:
    """The next line with code; 0 where the file ends."""
    code = (n for n in range(line + 1, len(lines) + 1) if not re.match(r"\s*(#|$)", lines[n - 1]))
    return next(code, 0)


def _end(place: ast.FunctionDef, lines: list[str]) -> int:
    """The last line of a function, with the comments below its last statement."""
    end = place.end_lineno or place.lineno
    while end < len(lines) and re.match(r"\s+#|\s*$", lines[end]):
        end += 1
    return end
