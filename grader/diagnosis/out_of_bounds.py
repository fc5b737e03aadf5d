"""Loads and stores beside a tensor: which one, how far, and whether a mask let it through."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from grader.challenge.harness.compare import Finding
from grader.challenge.harness.trial import Trial
from grader.diagnosis.evidence import Diagnosis, Evidence
from grader.diagnosis.pointer_expressions import Part, assignments
from grader.diagnosis.source import accesses, keyword, limits, made, masked_at
from grader.diagnosis.source_context import functions, jitted, loops_around, quoted, spelled

MOST = 4  # lines; more are no place to look at


def out_of_bounds(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for loads and stores outside of their tensor."""
    if finding.kind != "overrun":
        return None
    # An access without a mask is a mistake for sure, and what it loads may be the limits of those with one.
    found = (found for found in trial.findings if found.kind == "overrun")
    facts = (finding := min(found, key=lambda each: bool(each.facts["masked"]))).facts
    line, source = _of_the_learner(facts, evidence), evidence.source
    masked = facts["masked"] or masked_at(source, facts["line"]) or masked_at(source, line)
    reason = finding.reason[0].upper() + finding.reason[1:]
    checked = any(keyword(call, "boundary_check") for _, call in accesses(source, line))
    guard = "boundary_check" if checked else "mask"
    though = f"{reason}, though it has a {guard}" if masked else reason
    if "before the start" in facts.get("where", "") and "nearest" not in facts["where"]:
        return (
            f"{though}: an offset is below 0 there. Is something subtracted, or has a number wrapped around?",
            f"how its place is counted, and limited: {_lines(line, evidence)}",
        )
    if told := _beyond(reason, facts, line, masked, evidence):
        return told
    if masked:
        said, look_at = _let_through(facts, line, guard, evidence)
        return f"{though}: {said}", look_at
    look_at = f"line {line}, which has no mask" if line else "the mask of the store"
    if line and "mask" not in source:
        look_at = f"the offsets on line {line}, and whether some lanes have no element"
    if facts["kind"] == "load":
        return f"Unmasked load: {finding.reason}. What lies there is not yours, and may be anything.", look_at
    if not line:  # the bytes beside the tensor have changed, and nobody saw by which store
        return f"{reason}, over whatever lies there: a mask, a stride or a start is wrong.", look_at
    return f"Unmasked store: {finding.reason}, over whatever lies there.", look_at


def _of_the_learner(facts: dict[str, Any], evidence: Evidence) -> int:
    """The line of the access; where it is handed out, the first that led there and is not. 0 is none."""
    mine = (n for n in facts.get("callers", ()) if n not in evidence.given)
    line: int = facts["line"]
    return next(mine, line) if line in evidence.given else line


def _beyond(
    reason: str, facts: dict[str, Any], line: int, masked: bool, evidence: Evidence
) -> Diagnosis | None:
    """An access of which every lane that takes part lies outside, so that no single limit is to blame."""
    every = (found.facts for trial in evidence.failed for found in trial.findings if found.kind == "overrun")
    here = [one for one in every if (one["line"], one["kind"]) == (facts["line"], facts["kind"])]
    # Of a block with one element that one may want a mask, which the block's other sizes show.
    always = all(one.get("beyond") for one in here)
    several = any(one.get("lanes", 0) > 1 for one in here)
    if not (facts.get("beyond") and masked if facts.get("tile") else always and (several or not masked)):
        return None
    # In a helper the start of its block may be made by who calls that.
    found = (starts(evidence.source, at, evidence.given) for at in (line, *facts.get("callers", ())) if at)
    lines = next(filter(None, found), [line])
    said = f"{reason} in program {tuple(facts['program'])}, and nothing of it lies inside"
    steps = [] if any(facts["program"]) else _steps(evidence.source, line)
    if steps and not evidence.given.issuperset(steps):
        why = "A wrong step or bound of the loop does that, or a wrong start."
        return f"{said}. {why}", f"the step of the loop: {spelled(steps)}"
    return (
        f"{said}: the block starts beyond it. A wrong start or stride does that, or a head, row or block "
        f"number that {facts['tensor'] or 'the tensor'} does not have.",
        f"how the start of the block is counted: {spelled(lines)}",
    )


def _let_through(facts: dict[str, Any], line: int, guard: str, evidence: Evidence) -> Diagnosis:
    """What may be wrong with a mask, or another guard, that let a lane through."""
    mask = f"the mask on line {line}{made(evidence.source, line)}"
    if not facts["masked"]:
        return "here that lets every lane through. Which limit belongs in it?", mask
    if facts["tile"] and (bare := _unlimited(evidence.source, line)):
        return (
            f"that limits one side of the tile, and not {bare}. A tile's mask needs both sides, rows and "
            "columns, each with its own limit.",
            f"the mask on line {line}",
        )
    look_at = f"which stride and which limit go with which offset: {_lines(line, evidence)}"
    look_at += _launched(facts, evidence)
    if facts["tile"]:
        return (
            f"a stride is wrong or multiplies the wrong offset, or a side of the {guard} has the wrong "
            "limit, or none.",
            look_at,
        )
    return "its limits are wrong, or its offsets are.", look_at


def _lines(line: int, evidence: Evidence) -> str:
    """`lines 18, 19 and 26`: where the mask of an access gets its limits, and its address is counted."""
    limited = limits(evidence.source, line)
    counted = starts(evidence.source, line, evidence.given, MOST - len(limited))
    return spelled(sorted({*counted, *limited} or {line}))


def _launched(facts: dict[str, Any], evidence: Evidence) -> str:
    """`, and the launch on line 34`, which hands limits and strides over; empty where that is handed out."""
    kernels = [one for one in functions(ast.parse(evidence.source)) if jitted(one)]
    inside = {at for one in kernels for at in range(one.lineno, (one.end_lineno or 0) + 1)}
    at = next((at for at in facts.get("callers", ()) if at not in inside), 0)
    return f", and the launch on line {at}" if at and at not in evidence.given else ""


def starts(source: str, line: int, given: frozenset[int], most: int = MOST) -> list[int]:
    """The lines that count the address of an access on this line; of more than `most` those nearest to it.

    Args:
        given: lines that are handed out, and never named.
    """
    parts = _parts(source, line)
    there = [call.args[0] for _, call in accesses(source, line) if call.args]
    here = [part for part in parts if part.line == line] + [Part(line, set(), each, False) for each in there]
    found, behind = [part for part in here if _counts(part.value)], here
    left = [part for part in parts if part.line < line]
    while more := [part for part in left if any(part.sets & one.names for one in behind)]:
        counted = found + [part for part in more if _counts(part.value)]
        if found and len({part.line for part in counted} - given) > most:
            break
        found, behind, left = counted, behind + more, [part for part in left if part not in more]
    return sorted({part.line for part in found} - given)


def _steps(source: str, line: int) -> list[int]:
    """The lines of the loop around this one that move what is accessed there."""
    read = {
        n.id for _, call in accesses(source, line) for n in ast.walk(call.args[0]) if isinstance(n, ast.Name)
    }
    loops = loops_around([line], source)
    adds = (part for part in _parts(source, line) if part.adds and loops and part.line > loops[-1])
    return [part.line for part in adds if part.sets & read]


def _counts(value: ast.expr) -> bool:
    """Whether something is multiplied or divided in it."""
    operators = (node.op for node in ast.walk(value) if isinstance(node, ast.BinOp))
    return any(isinstance(each, ast.Mult | ast.FloorDiv | ast.Mod) for each in operators)


def _unlimited(source: str, line: int) -> str:
    """The offsets of a tile, `offs_k[None, :]`, along whose axis the mask of an access limits nothing.

    Empty where there is no mask, or where it or the address does not tell axes by [:, None] and [None, :].
    """
    given = _parts(source, line)
    for _, call in accesses(source, line):
        mask = keyword(call, "mask")
        limited = {axis for axis, _ in _sides(mask, given)} if mask else set[int]()
        sides = _sides(call.args[0], given) if limited and call.args else ()
        for axis, node in sides:
            # What wraps around, (offs_n % n)[None, :], needs no limit.
            wraps = any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod) for one in ast.walk(node))
            if axis not in limited and not wraps:
                return quoted(node)
    return ""


def _sides(value: ast.expr, given: list[Part]) -> Iterator[tuple[int, ast.Subscript]]:
    """Each `offs[:, None]` behind an expression, with the axis along which it goes."""
    # What is loaded is no address.
    parts, left = [Part(value.lineno, set(), value, False)], [one for one in given if not one.has("load")]
    while more := [one for one in left if any(one.sets & part.names for part in parts)]:
        parts, left = parts + more, [one for one in left if one not in more]
    for node in (node for part in parts for node in ast.walk(part.value)):
        index = node.slice if isinstance(node, ast.Subscript) else None
        if isinstance(node, ast.Subscript) and isinstance(index, ast.Tuple) and len(index.elts) == 2:
            along = [axis for axis, one in enumerate(index.elts) if isinstance(one, ast.Slice)]
            if len(along) == 1:
                yield along[0], node


def _parts(source: str, line: int) -> list[Part]:
    """What is set in the function around a line."""
    around = [f for f in functions(ast.parse(source)) if f.lineno <= line <= (f.end_lineno or 0)]
    return [*assignments(around[-1])] if around else []
