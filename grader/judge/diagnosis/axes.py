"""Axes of a grid that the kernel never asks for."""

from __future__ import annotations

import ast

from grader.judge.case.trial import Trial
from grader.judge.diagnosis.behind import reached
from grader.judge.diagnosis.evidence import Diagnosis
from grader.judge.diagnosis.launched import involved, launches
from grader.judge.diagnosis.site import functions, last


def unread_axis(trial: Trial, source: str) -> Diagnosis | None:
    """Where a launch that took part has several programs along an axis that its kernel never asks for."""
    tree, apart = ast.parse(source), involved(trial, source).elsewhere
    for launch in launches(trial):
        read = _read(launch.kernel, tree)
        several = [axis for axis, count in enumerate(launch.grid) if count > 1]
        unread = [axis for axis in several if read and axis not in read]
        if unread and launch.kernel not in apart:
            axis = unread[0]
            return (
                f"The grid of {launch.kernel} has {launch.grid[axis]} programs along axis {axis}, and the "
                f"kernel never reads tl.program_id({axis}): all of these do the same.",
                "tl.program_id, and the axes of the grid",
            )
    return None


def _read(kernel: str, tree: ast.Module) -> set[int]:
    """The axes that a kernel, or what it calls, asks for; none where one of them is not known."""
    names = reached([kernel], tree)
    inside = (node for f in functions(tree) if f.name in names for node in ast.walk(f))
    calls = [n for n in inside if isinstance(n, ast.Call) and last(n.func) == "program_id"]
    given = [
        call.args[0] if call.args else call.keywords[0].value for call in calls if call.args or call.keywords
    ]
    axes = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, int)]
    return {*axes} if len(axes) == len(calls) else set()
