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

    Of a function with lines of the learner's, none where that is so of several TODOs and all: then what they
    ask for stands elsewhere.

    Args:
        given: lines that are handed out.
    """
    lines, found = source.splitlines(), set[int]()
    for place in places:
        inside = range(place.lineno, _end(place, lines) + 1)
        todos = [n for n in inside if n in given and _todo(lines[n - 1])]
        left = {n for n in todos if _nothing_below(n, lines, given)}
        begun = any(n not in given and not re.match(r"\s*(#|$)", lines[n - 1]) for n in inside)
        found |= set() if begun and len(left) == len(todos) > 1 else left
    return sorted(found)


def bare(source: str, given: frozenset[int], place: ast.FunctionDef) -> list[str]:
    """The TODOs of a function with no line of code right below them, as `TODO 8`; none where those are all.

    Two that stand one below the other may both be done by the code that follows.
    """
    lines = source.splitlines()
    inside = range(place.lineno, _end(place, lines) + 1)
    todos = {n: label for n in inside if n in given and (label := _todo(lines[n - 1]))}
    found = [
        label
        for n, label in todos.items()
        if (after := next((m for m in todos if m > n), 0)) == 0 or todos[after] != label
        if _nothing_below(n, lines, given) or n < after < _below(n, lines)
    ]
    every = {*todos.values()}
    return [] if len(found) == len(every) > 1 else found


def _todo(line: str) -> str:
    """`TODO 8` of a line that is one; empty of others."""
    found = re.search(r"#\s*(TODO\b(?: \d+)?)", line)
    return found[1] if found else ""


def _nothing_below(line: int, lines: list[str], given: frozenset[int]) -> bool:
    """Whether no line of the learner's follows, or one that only returns what was there, unasked."""
    below = _below(line, lines)
    if below in {0, *given}:
        return True
    returns = re.fullmatch(r"\s*return( \w+(, \w+)*)?\s*", lines[below - 1])
    return returns is not None and "return" not in lines[line - 1]


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
