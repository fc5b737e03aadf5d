"""Accesses beside a tensor: what their mask and their offsets say of the mistake."""

from __future__ import annotations

import ast
from typing import Any

from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.addresses import addresses
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.led import led
from grader.judge.diagnosis.site import functions, last, parameters, spelled
from grader.judge.diagnosis.source import accesses, keyword, limits, made, masked_at
from grader.judge.diagnosis.starts import MOST, starts


def overrun(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for loads and stores outside of their tensor."""
    if finding.kind != "overrun":
        return None
    # An access without a mask is a mistake for sure, and what it loads may be the limits of those with one.
    others = [found for found in trial.findings if found.kind == "overrun"]
    finding = min(others, key=lambda found: bool(found.facts["masked"]))
    facts, look_at = finding.facts, "the mask of the store"
    if facts["line"]:
        look_at = f"the mask on line {facts['line']}{made(evidence.source, facts['line'])}"
    reason = finding.reason[0].upper() + finding.reason[1:]
    masked = facts["masked"] or masked_at(evidence.source, facts["line"])
    if facts["kind"] == "store" and masked and led(ast.parse(evidence.source), facts["line"]):
        return (
            f"{reason}: it stores where loaded numbers say.",
            f"what the place on line {facts['line']} is made of",
        )
    elsewhere = facts["line"] and not accesses(evidence.source, facts["line"])
    if facts.get("beyond") and facts.get("tile") and (facts["masked"] or elsewhere):
        return _starts_beyond(reason, facts, evidence)
    if facts.get("beyond") and masked and _placed(evidence.source, facts["line"]):
        return _starts_beyond(reason, facts, evidence)
    if facts["masked"]:
        return _let_through(reason, facts, look_at, evidence.source)
    if not facts.get("tile", True) and 1 < facts["itemsize"] == facts["step"]:
        return (
            f"{reason}: the offsets are {facts['itemsize']} times too large. "
            "Triton counts elements, not bytes.",
            "the offsets",
        )
    if masked:
        return (
            f"{reason}, though it has a mask: here that lets every lane through. Which limit belongs in it?",
            look_at,
        )
    if elsewhere:
        return f"{reason}: the function that is called there goes past what it was given.", look_at
    if facts["line"] and "mask" not in evidence.source:
        look_at = f"the offsets on line {facts['line']}, and whether some lanes have no element"
    if facts["kind"] == "load":
        return f"Unmasked load: {finding.reason}. What lies there is not yours, and may be NaN.", look_at
    return f"Unmasked store: {finding.reason}, over whatever lies there.", look_at


def _starts_beyond(reason: str, facts: dict[str, Any], evidence: Evidence) -> Diagnosis:
    """Every lane that takes part lies outside, so no single limit is to blame."""
    tensor = facts["tensor"] or "the tensor"
    lines = starts(evidence.source, facts["line"], evidence.given) if facts["line"] else []
    return (
        f"{reason} in program {tuple(facts['program'])}, and nothing of it lies inside: the block starts "
        f"beyond it. A stride of another tensor does that, or a head, row or block number that {tensor} does "
        "not have.",
        f"how the start of the block is counted: {spelled(lines)}"
        if lines
        else "the start of the block, its strides, and the grid",
    )


def _let_through(reason: str, facts: dict[str, Any], look_at: str, source: str) -> Diagnosis:
    if facts["tile"] and facts["crowded"]:
        return (
            f"{reason}, though it has a mask: a tile's mask needs both sides, rows and columns, each with "
            "its own limit; with both, a stride is another tensor's.",
            look_at,
        )
    if facts["tile"]:
        return (
            f"{reason}, though it has a mask: a stride is wrong or multiplies the wrong offset, "
            "or a side of the mask has the wrong limit.",
            f"which stride and which limit go with which offset{_made_of(source, facts['line'])}",
        )
    if not (launched := _handed(source, facts["line"])):
        return f"{reason}, though it has a mask: its limits are wrong.", look_at
    return (
        f"{reason}, though it has a mask: its limits are wrong, there or as the launch hands them over.",
        f"{look_at}, and the launch on {spelled(launched)}",
    )


def _made_of(source: str, line: int) -> str:
    """`: lines 20, 21 and 26`: where the addresses and the mask of an access are made."""
    there = [one for one in addresses(ast.parse(source)) if one.line == line]
    moved = set[int]().union(*({*one.near, *one.far} for one in there))
    lines = {*limits(source, line), *(moved - {line} or moved)}
    return f": {spelled(sorted(lines))}" if 0 < len(lines) <= MOST else ""


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
