"""Accesses beside a tensor: what their mask and their offsets say of the mistake."""

from __future__ import annotations

import ast
from typing import Any

from grader.judge.case.compare import Expected, Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.addresses import addresses
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.flow import in_block
from grader.judge.diagnosis.launched import programs
from grader.judge.diagnosis.led import led
from grader.judge.diagnosis.sides import by_name, unlimited, unmasked, wrapped
from grader.judge.diagnosis.site import functions, last, parameters, spelled
from grader.judge.diagnosis.source import accesses, keyword, limits, made, masked_at
from grader.judge.diagnosis.starts import MOST, starts

BEFORE = "before the start"
SUBTRACTED = "Is something subtracted, or has a number wrapped around?"


def overrun(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for loads and stores outside of their tensor."""
    if finding.kind != "overrun":
        return None
    # An access without a mask is a mistake for sure, and what it loads may be the limits of those with one.
    others = [found for found in trial.findings if found.kind == "overrun"]
    finding = min(others, key=lambda found: bool(found.facts["masked"]))
    facts, look_at = finding.facts, "the mask of the store"
    line = _of_the_learner(facts, evidence)
    if line:
        look_at = f"the mask on line {line}{made(evidence.source, line)}"
    reason = finding.reason[0].upper() + finding.reason[1:]
    masked = facts["masked"] or masked_at(evidence.source, line)
    if facts["kind"] == "store" and masked and led(ast.parse(evidence.source), line):
        return f"{reason}: it stores where loaded numbers say.", f"what the place on line {line} is made of"
    elsewhere = line and not accesses(evidence.source, line)
    if facts.get("beyond") and facts.get("tile") and (facts["masked"] or elsewhere):
        return _starts_beyond(reason, facts, line, trial, evidence)
    if elsewhere:
        return _by_another(reason, facts, line, evidence)
    if facts.get("beyond") and masked and _placed(evidence.source, line):
        return _starts_beyond(reason, facts, line, trial, evidence)
    if not facts.get("tile", True) and _always_beyond(facts, evidence):
        return _starts_beyond(reason, facts, line, trial, evidence)
    if facts["masked"] and (checked := _unchecked(evidence.source, line)):
        return f"{reason}: {checked}", f"boundary_check on line {line}, and what decides that it is this load"
    if facts["masked"]:
        return _let_through(reason, facts, look_at, line, evidence.source)
    alone = facts.get("beyond") and facts.get("lanes") == 1 and not in_block(evidence.source, line)
    if alone and not masked and not _empty(trial):
        return _alone(reason, facts, line, evidence)
    if not facts.get("tile", True) and 1 < facts["itemsize"] == facts["step"]:
        return (
            f"{reason}: the offsets are {facts['itemsize']} times too large. "
            "Triton counts elements, not bytes.",
            "the offsets",
        )
    if masked:
        through = f"{reason}, though it has a mask: here that lets every lane through"
        if not facts.get("tile", True) and (beside := unmasked(evidence.source, line)):
            text, at = beside
            return (
                f"{through}. Line {at} moves the address by {text}: either that is wrong, or a limit is.",
                f"{f'line {at}, ' if at != line else ''}{look_at}",
            )
        return f"{through}. Which limit belongs in it?", look_at
    if BEFORE in facts.get("where", "") and (around := wrapped(evidence.source, line)):
        return _around(reason, facts, around)
    if line and "mask" not in evidence.source:
        look_at = f"the offsets on line {line}, and whether some lanes have no element"
    if facts["kind"] == "load":
        return f"Unmasked load: {finding.reason}. What lies there is not yours, and may be anything.", look_at
    return f"Unmasked store: {finding.reason}, over whatever lies there.", look_at


def _always_beyond(facts: dict[str, Any], evidence: Evidence) -> bool:
    """Whether in all cases every lane of this access lies outside, and there are some of several lanes: one
    alone may be the only one that its block has.
    """
    every = (found.facts for trial in evidence.failed for found in trial.findings if found.kind == "overrun")
    here = [one for one in every if (one["line"], one["kind"]) == (facts["line"], facts["kind"])]
    return all(one.get("beyond") for one in here) and any(one.get("lanes", 0) > 1 for one in here)


def _of_the_learner(facts: dict[str, Any], evidence: Evidence) -> int:
    """The line of the access; where it is handed out, the first that led there and is not. 0 is none."""
    mine = (n for n in facts.get("callers", ()) if n not in evidence.given)
    line: int = facts["line"]
    return next(mine, line) if line in evidence.given else line


def _by_another(reason: str, facts: dict[str, Any], line: int, evidence: Evidence) -> Diagnosis:
    """A function, handed out or of another file, was handed what leads it out of the tensor."""
    where = "there" if line == facts["line"] else f"on line {line}"
    lines = sorted({line, *starts(evidence.source, line, evidence.given)})
    return (
        f"{reason}: the function that is called {where} goes past what it was given. A start, a limit or a "
        "stride that it is handed is wrong.",
        f"what line {line} hands over" if len(lines) == 1 else f"what is handed over there: {spelled(lines)}",
    )


def _starts_beyond(
    reason: str, facts: dict[str, Any], line: int, trial: Trial, evidence: Evidence
) -> Diagnosis:
    """Every lane that takes part lies outside, so no single limit is to blame."""
    if _empty(trial):
        return (
            f"{reason} in program {tuple(facts['program'])}, and nothing of it lies inside: with "
            f"{trial.case.id} the result has no element, and the grid has programs all the same.",
            "the grid",
        )
    tensor = facts["tensor"] or "the tensor"
    # Where an access is handed out, or in a helper, the start of its block may be made by who calls that.
    calls = facts.get("callers", ())[:-1]
    found = (starts(evidence.source, at, evidence.given) for at in (facts["line"], line, *calls) if at)
    lines = next(filter(None, found), [line] * (line != facts["line"]))
    lines = sorted({*lines, *([line] if _moved_by_a_number(evidence.source, line) else [])})
    if BEFORE in facts.get("where", ""):
        return (
            f"{reason} in program {tuple(facts['program'])}, and nothing of it lies inside: what its place "
            f"is made of is below 0 there. {SUBTRACTED}",
            f"how its place is counted: {spelled(sorted({*lines, line} - {0}))}",
        )
    why = f"A stride of another tensor does that, or a head, row or block number that {tensor} does not have."
    if programs(trial) == 1:
        why = "Its start or a stride is another number, or is added a second time."
    return (
        f"{reason} in program {tuple(facts['program'])}, and nothing of it lies inside: the block starts "
        f"beyond it. {why}",
        f"how the start of the block is counted: {spelled(lines)}"
        if lines
        else "the start of the block, its strides, and the grid",
    )


def _moved_by_a_number(source: str, line: int) -> bool:
    """Whether the place of an access has a number in it."""
    nodes = [n for _, call in accesses(source, line) for place in call.args[:1] for n in ast.walk(place)]
    return any(isinstance(n, ast.Constant) and isinstance(n.value, int | float) for n in nodes)


def _alone(reason: str, facts: dict[str, Any], line: int, evidence: Evidence) -> Diagnosis:
    """One element and no block, which needs no mask where each program has one."""
    lines = sorted({line, *starts(evidence.source, line, evidence.given)} - {0})
    return (
        f"{reason} in program {tuple(facts['program'])}: it is a single element, whose place is wrong, or "
        "there are more programs than elements.",
        f"how its place is counted{': ' * bool(lines)}{spelled(lines) if lines else ''}, and the grid",
    )


def _around(reason: str, facts: dict[str, Any], around: str, though: str = "") -> Diagnosis:
    """A remainder of a negative number, which a program without a tile has."""
    return (
        f"{reason} in program {tuple(facts['program'])}{though}: {around} is below 0 there, as the remainder "
        "of a negative number is. Is there a tile for each program of the grid?",
        "the grid, and how a program's number becomes the numbers of its tile",
    )


def _empty(trial: Trial) -> bool:
    """Whether the result has no element."""
    return not any(want.exact.numel() for want in trial.expected if isinstance(want, Expected))


def _let_through(reason: str, facts: dict[str, Any], look_at: str, line: int, source: str) -> Diagnosis:
    if BEFORE in facts.get("where", "") and (around := wrapped(source, line)):
        return _around(reason, facts, around, ", though it has a mask")
    if facts["tile"] and (bare := unlimited(source, line)):
        return (
            f"{reason}, though it has a mask: that limits one side of the tile, and not {bare[0]}. A tile's "
            "mask needs both sides, rows and columns, each with its own limit.",
            f"the mask on line {line}",
        )
    if facts["tile"] and any(keyword(call, "boundary_check") for _, call in accesses(source, line)):
        return (
            f"{reason}, though it has a boundary_check: the block pointer's shape or its strides are wrong, "
            "or in the wrong order.",
            f"the shape and the strides of the block pointer{_made_of(source, line)}",
        )
    if facts["tile"]:
        why = "a stride is wrong or multiplies the wrong offset, or a side of the mask has the wrong limit"
        if facts["crowded"]:
            why = (
                "a tile's mask needs both sides, rows and columns, each with its own limit; with both, a "
                "limit is wrong, or a stride is another tensor's"
            )
        return (
            f"{reason}, though it has a mask: {why}.",
            f"which stride and which limit go with which offset{_made_of(source, line)}",
        )
    if BEFORE in facts.get("where", ""):
        said = f"{reason}, though it has a mask: an offset is below 0 there, and the mask lets it through."
        return f"{said} {SUBTRACTED}", f"the offsets on line {line}, and {look_at}"
    launched = _handed(source, line)
    handed = ", there or as the launch hands them over" * bool(launched)
    there = f", and the launch on {spelled(launched)}" if launched else ""
    if beside := unmasked(source, line):
        text, at = beside
        return (
            f"{reason}, though it has a mask: line {at} moves the address by {text}. Either that is wrong, "
            f"or the mask's limits are{handed}.",
            f"{f'line {at}, ' if at != line else ''}{look_at}{there}",
        )
    return f"{reason}, though it has a mask: its limits are wrong{handed}.", f"{look_at}{there}"


def _unchecked(source: str, line: int) -> str:
    """What a boundary_check on this line leaves out, where that is one side of a tile; else nothing."""
    checks = [keyword(call, "boundary_check") for _, call in accesses(source, line)]
    if len(checks) != 1 or not isinstance(checks[0], ast.Tuple | ast.List):
        return ""
    named = [axis.value for axis in checks[0].elts if isinstance(axis, ast.Constant)]
    if len(named) != 1 or len(checks[0].elts) != 1 or named[0] not in (0, 1):
        return ""
    return (
        f"its boundary_check names axis {named[0]} alone, so what lies past the end of axis "
        f"{1 - named[0]} is let through."
    )


def _made_of(source: str, line: int) -> str:
    """`: lines 20, 21 and 26, and the launch on line 40`: where the addresses and the mask of an access are
    made, and what they are made of is handed over. Where the names of strides and offsets fit, the address is
    left out; where they do not, the launch.
    """
    there = [one for one in addresses(ast.parse(source)) if one.line == line]
    moved = set[int]().union(*({*one.near, *one.far} for one in there))
    right = by_name(source, line)
    lines = {*limits(source, line), *(() if right else moved - {line} or moved)}
    launched = [] if right is False else _handed(source, line)
    said = [spelled(sorted(lines))] if 0 < len(lines) <= MOST else []
    said += [f"the launch on {spelled(launched)}"] if launched else []
    return f": {', and '.join(said)}" if said else ""


def _placed(source: str, line: int) -> bool:
    """Whether the address of an access on this line has a product of variables: where its block starts."""
    tree = ast.parse(source)
    constants = {n for f in functions(tree) for n, constant in parameters(f).items() if constant}
    lines = {at for one in addresses(tree) if one.line == line for at in (*one.near, *one.far)}
    products = (n for n in ast.walk(tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult))
    sides = ((n.left, n.right) for n in products if n.lineno in lines)
    return any(
        all(isinstance(side, ast.Name) and side.id not in constants for side in pair) for pair in sides
    )


def _handed(source: str, line: int) -> list[int]:
    """The lines of the launches that hand over a limit of the mask of an access; none where none is one."""
    tree = ast.parse(source)
    kernel = next((f for f in functions(tree) if f.lineno <= line <= (f.end_lineno or 0)), None)
    masks = [keyword(call, "mask") for _, call in accesses(source, line)]
    where = {line, *limits(source, line)}
    compared = [n for n in ast.walk(tree) if isinstance(n, ast.Compare) and n.lineno in where]
    names = {last(each) for n in compared for each in n.comparators}
    if kernel is None or not any(masks) or not names & parameters(kernel).keys():
        return []
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Subscript)]
    return sorted({call.lineno for call in calls if last(call.func.value) == kernel.name})  # type: ignore[attr-defined]
