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


def to_do(source: str, *places: ast.FunctionDef) -> list[int]:
    """The lines of functions that say what is left to do."""
    lines = source.splitlines()
    inside = {n for place in places for n in range(place.lineno, _end(place, lines) + 1)}
    return [n for n in sorted(inside) if re.search(r"#\s*TODO\b", lines[n - 1])]


def _end(place: ast.FunctionDef, lines: list[str]) -> int:
    """The last line of a function, with the comments below its last statement."""
    end = place.end_lineno or place.lineno
    while end < len(lines) and re.match(r"\s+#|\s*$", lines[end]):
        end += 1
    return end
