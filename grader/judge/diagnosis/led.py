"""Stores whose places are numbers that a kernel loads or draws, lane by lane: those of a sort, of a scatter.

Where such an element is missing, or one lies outside, neither grid nor mask is the first to be asked.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

import torch

from grader.judge.case.compare import Expected, Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.addresses import Part, assignments
from grader.judge.diagnosis.behind import behind
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.site import functions, last, spelled

LOADED, DRAWN = ("load", "gather"), ("atomic_add",)


def led(tree: ast.Module, line: int, by: Sequence[str] = LOADED) -> bool:
    """Whether a store on this line takes its places from blocks that its kernel loads, or draws."""
    for kernel in functions(tree):
        given = [*assignments(kernel)]
        made = [part for place in _places(kernel, line) for part in _reached(place, given)]
        if any(_has_lanes(loaded, given) for part in made for loaded in _calls(part, by)):
            return True
    return False


def misled(trial: Trial, finding: Finding, source: str) -> Diagnosis | None:
    """What is said of elements that no such store reached; None where others store the result."""
    lines = _stores(trial, finding, source, LOADED)
    if not lines:
        return None
    where = finding.facts.get("at", finding.facts["index"])
    return (
        f"{finding.reason[0].upper()}{finding.reason[1:]}, the first at {where}: {spelled(lines)} "
        f"store{'s' * (len(lines) == 1)} where loaded numbers say, and none says there. Two that say the "
        "same place do that, one that is too large, or a mask that leaves one out.",
        f"what the place on {spelled(lines)} is made of",
    )


def raced(trial: Trial, finding: Finding, source: str) -> Diagnosis | None:
    """What is said of a race. Where loaded numbers lead two programs to one place, these may be wrong
    themselves: then nothing, if the finding is of another result.
    """
    race = next((found for found in trial.findings if found.kind == "race"), None)
    line = race.facts.get("line", 0) if race and race.facts["kind"] == "store" else 0
    if race is None or not led(ast.parse(source), line):
        return race.told if race else None
    if line not in _stores(trial, finding, source, LOADED):
        return None
    return (
        f"A race between programs: line {line} stores where loaded numbers say, and those of two programs "
        "say the same place. On a GPU either may come last.",
        f"what the place on line {line} is made of",
    )


def too_soon(trial: Trial) -> Diagnosis | None:
    """What is said where a program reads what another one of its launch stores, before or after that."""
    met = (found for found in trial.findings if found.kind == "race" and found.facts["kind"] == "load")
    return next((found.told for found in met), None)


def drawn(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for right numbers in another order, whose places were drawn."""
    number = finding.facts.get("result")
    if finding.kind != "values" or number is None or trial.answer is None:
        return None
    got, want = trial.answer.outputs[number], trial.expected[number]
    right = want.right.to(got.device) if isinstance(want, Expected) else got[:0]
    if right.shape != got.shape or not torch.equal(*(each.flatten().sort().values for each in (got, right))):
        return None
    lines = _stores(trial, finding, evidence.source, DRAWN)
    if not lines:
        return None
    name = finding.facts.get("at", "").partition("[")[0] or "The result"
    return (
        f"{name} holds the right numbers in another order: {spelled(lines)} "
        f"store{'s' * (len(lines) == 1)} where tl.atomic_add says, and that gives places to whoever comes "
        "first. Programs come in any order.",
        f"what the place on {spelled(lines)} is made of",
    )


def _stores(trial: Trial, finding: Finding, source: str, by: Sequence[str]) -> list[int]:
    """The lines that store this one result, where all of them take its places from such numbers."""
    tree = ast.parse(source)
    known = behind(replace(trial, findings=[finding]), tree)
    lines = sorted(next(iter(known.stores.values()), ())) if known else []
    return lines if all(led(tree, line, by) for line in lines) else []


def _places(kernel: ast.FunctionDef, line: int) -> list[Part]:
    calls = (n for n in ast.walk(kernel) if isinstance(n, ast.Call) and n.lineno == line and n.args)
    return [Part(line, set(), call.args[0], False) for call in calls if last(call.func) == "store"]


def _reached(part: Part, given: list[Part]) -> list[Part]:
    """An expression, and all that its names are set to."""
    found, left = [part], given
    while more := [other for other in left if any(other.sets & one.names for one in found)]:
        found, left = found + more, [other for other in left if other not in more]
    return found


def _calls(part: Part, words: Sequence[str]) -> list[Part]:
    calls = (n for n in ast.walk(part.value) if isinstance(n, ast.Call) and last(n.func) in words)
    return [Part(part.line, set(), call, False) for call in calls]


def _has_lanes(part: Part, given: list[Part]) -> bool:
    return any(one.has("arange") for one in _reached(part, given))
