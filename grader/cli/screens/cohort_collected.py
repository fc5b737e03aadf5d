"""The screen of `track cohort collect`: which files are graded, and why the others are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from grader.cli.screens.terminal import Terminal, counted
from grader.grading.cohort.file_selection import HIDDEN, OURS
from grader.grading.cohort.submission import Trouble
from grader.grading.cohort.submission_formats import HandIn
from grader.printable_names import visible

COUNTED = (OURS, HIDDEN)  # what nobody calls work


def layout(found: HandIn) -> str:
    """How it is laid out, in one line."""
    around = f", in {visible(found.around)}/" if found.around else ""
    other = "" if found.layout in ("match", "lines") else " --layout or --match sets another."
    return f"Layout: {found.layout}{around}.{other}"


def show(
    terminal: Terminal,
    found: HandIn,
    graded: Sequence[Mapping[str, Any]],
    left: Sequence[Trouble],
    again: str,
) -> None:
    """Prints both lists. Of what nobody calls work only the number is told.

    Args:
        graded: as `track cohort collect --json` has them.
        again: the command that grades them.
    """
    terminal.line(layout(found))
    learners, files = counted(len({row["id"] for row in graded}), "learner"), counted(len(graded), "file")
    rows = [("learner", "day", "handed in", "bytes", "file")] if graded else []
    for row in graded:
        when = (row["time"] or "")[:16].replace("T", " ")
        rows.append((visible(row["id"]), str(row["day"]), when, f"{row['size']:,}", visible(row["path"])))
    numbers = Counter(one.problem for one in left if one.problem in COUNTED)
    told = [one for one in left if one.problem not in COUNTED]
    work, rest = (
        [(visible(one.where), visible(one.problem)) for one in told if one.work is is_work]
        for is_work in (True, False)
    )
    for heading, table in (
        (f"Graded: {files} of {learners}", rows),
        (f"Not graded, and may be work: {len(work):,}", work),
        (f"Not graded: {len(rest):,}", rest),
    ):
        if table or table is rows:
            terminal.line()
            terminal.line((heading, "bold"))
            terminal.table(table)
    if numbers:
        terminal.line()
        either = (f"{number:,} × {problem}" for problem, number in numbers.most_common())
        terminal.line("Not graded either: ", ", ".join(either))
    if graded:
        return terminal.next(again, f"grades {files}")
    terminal.next("track cohort collect --help", "says what can be handed in")
