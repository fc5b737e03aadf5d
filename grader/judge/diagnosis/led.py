"""Stores whose places are numbers that a kernel loads, lane by lane: those of a sort, of a scatter.

Where such an element is missing, or one lies outside, neither grid nor mask is the first to be asked.
"""

from __future__ import annotations

import ast

from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.addresses import Part, assignments
from grader.judge.diagnosis.behind import behind
from grader.judge.diagnosis.evidence import Diagnosis
from grader.judge.diagnosis.site import functions, last, spelled

NUMBERS = ("load", "gather")


def led(tree: ast.Module, line: int) -> bool:
    """Whether a store on this line takes its places from blocks that its kernel loads."""
    for kernel in functions(tree):
        given = [*assignments(kernel)]
        made = [part for place in _places(kernel, line) for part in _reached(place, given)]
        if any(_has_lanes(loaded, given) for part in made for loaded in _loads(part)):
            return True
    return False


def misled(trial: Trial, finding: Finding, source: str) -> Diagnosis | None:
    """What is said of elements that no such store reached; None where others store the result."""
    tree = ast.parse(source)
    known = behind(trial, tree)
    lines = sorted(frozenset().union(*known.stores.values())) if known else []
    if not lines or not all(led(tree, line) for line in lines):
        return None
    where = finding.facts.get("at", finding.facts["index"])
    return (
        f"{finding.reason[0].upper()}{finding.reason[1:]}, the first at {where}: {spelled(lines)} "
        f"store{'s' * (len(lines) == 1)} where loaded numbers say, and none says there. Two that say the "
        "same place do that, one that is too large, or a mask that leaves one out.",
        f"what the place on {spelled(lines)} is made of",
    )


def _places(kernel: ast.FunctionDef, line: int) -> list[Part]:
    calls = (n for n in ast.walk(kernel) if isinstance(n, ast.Call) and n.lineno == line and n.args)
    return [Part(line, set(), call.args[0], False) for call in calls if last(call.func) == "store"]


def _reached(part: Part, given: list[Part]) -> list[Part]:
    """An expression, and all that its names are set to."""
    found, left = [part], given
    while more := [other for other in left if any(other.sets & one.names for one in found)]:
        found, left = found + more, [other for other in left if other not in more]
    return found


def _loads(part: Part) -> list[Part]:
    calls = (n for n in ast.walk(part.value) if isinstance(n, ast.Call) and last(n.func) in NUMBERS)
    return [Part(part.line, set(), call, False) for call in calls]


def _has_lanes(part: Part, given: list[Part]) -> bool:
    return any(one.has("arange") for one in _reached(part, given))
