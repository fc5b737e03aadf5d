"""A merge of three texts by lines: what two sides made of the same beginning, both kept.

Between lines that all three share stands a stretch that one side changed, or both. What one changed is taken;
where both did, and not alike, there is no merge. Source: Khanna, Kunal and Pierce, A Formal Investigation of
Diff3 (2007), section 2. Changes that touch each other count as one, as for `git merge-file`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher

Stretch = tuple[Sequence[bytes], Sequence[bytes], Sequence[bytes]]


def merged(mine: bytes, before: bytes, theirs: bytes) -> bytes | None:
    """Both changes to `before` in one text; None where they clash."""
    lines = [text.splitlines(keepends=True) for text in (before, mine, theirs)]
    found: list[bytes] = []
    for old, one, other in _stretches(*lines):
        if one != old and other not in (old, one):
            return None
        found += one if other == old else other
    return b"".join(found)


def _stretches(before: list[bytes], mine: list[bytes], theirs: list[bytes]) -> Iterator[Stretch]:
    """The texts cut at the same places: by turns what all three share, and what lies between."""
    at = in_mine = in_theirs = 0
    for start, mine_start, theirs_start, count in _shared(before, mine, theirs):
        yield before[at:start], mine[in_mine:mine_start], theirs[in_theirs:theirs_start]
        at, in_mine, in_theirs = start + count, mine_start + count, theirs_start + count
        yield before[start:at], before[start:at], before[start:at]


def _shared(
    before: list[bytes], mine: list[bytes], theirs: list[bytes]
) -> Iterator[tuple[int, int, int, int]]:
    """Runs of lines that stand in all three: where in each, and how many; last the end of all."""
    for one in _matches(before, mine):
        for other in _matches(before, theirs):
            start, end = max(one.a, other.a), min(one.a + one.size, other.a + other.size)
            if start < end:
                yield start, one.b + start - one.a, other.b + start - other.a, end - start
    yield len(before), len(mine), len(theirs), 0


def _matches(before: list[bytes], after: list[bytes]) -> list[Match]:
    return SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
