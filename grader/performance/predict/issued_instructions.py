"""How often each instruction of a compiled kernel is issued: its loops, held against those that were counted.

What an `if` skips counts as if it ran.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from grader.performance.compiler.instructions import Stretch, Units
from grader.performance.meter.counts import LaunchCounts

REST = 0.5  # of the longest loop that was made of one `for`; a shorter one does the steps that are left over


def issued(launch: LaunchCounts, code: Sequence[Stretch]) -> Units:
    """What the first warps of all programs issue."""
    total = Counter[str]()
    for stretch, times in zip(code, _times(launch, code), strict=True):
        for unit, count in stretch.units.items():
            total[unit] += times * count  # type: ignore[assignment]
    return dict(total)


def _times(launch: LaunchCounts, code: Sequence[Stretch]) -> list[float]:
    """How often each stretch is run through by all programs."""
    times = list[float]()
    lines = _lines(launch, code)
    for stretch, line in zip(code, lines, strict=True):
        if not times:
            times.append(float(launch.programs))
        elif line:
            same = [other.length for other, its in zip(code, lines, strict=True) if its == line]
            whole = [length for length in same if length >= REST * max(same)]
            times.append(launch.trips[line] / len(whole) if stretch.length >= min(whole) else 0.0)
        else:  # a `while`, or a loop of the compiler's own: as often as its lines load and store
            calls = [site.calls for site in launch.sites if site.line in stretch.lines]
            times.append(max(calls, default=times[stretch.outer]))
    return times


def _lines(launch: LaunchCounts, code: Sequence[Stretch]) -> list[int]:
    """The line of the `for` that each stretch was made from; 0 where none is known.

    A loop has the lines of those inside of it as well, so the innermost choose first; and of what is left
    the first line is that of the loop, those behind it were unrolled.
    """
    inside: list[set[int]] = [set() for _ in code]
    found = [0] * len(code)
    for index in range(len(code) - 1, 0, -1):
        known = [line for line in code[index].lines if line in launch.trips and line not in inside[index]]
        found[index] = min(known, default=0)
        inside[code[index].outer] |= inside[index] | {found[index]}
    return found
