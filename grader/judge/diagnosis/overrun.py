"""Accesses beside a tensor: what their mask and their offsets say of the mistake."""

from __future__ import annotations

from typing import Any

from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.source import accesses, made, masked_at
from grader.judge.diagnosis.starts import starts


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
    elsewhere = facts["line"] and not accesses(evidence.source, facts["line"])
    if facts.get("beyond") and facts.get("tile") and (facts["masked"] or elsewhere):
        return _starts_beyond(reason, facts, evidence)
    if facts["masked"]:
        return _let_through(reason, facts, look_at)
    if not facts.get("tile", True) and 1 < facts["itemsize"] == facts["step"]:
        return (
            f"{reason}: the offsets are {facts['itemsize']} times too large. "
            "Triton counts elements, not bytes.",
            "the offsets",
        )
    if masked_at(evidence.source, facts["line"]):
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
    listed = ", ".join(map(str, lines))
    return (
        f"{reason} in program {tuple(facts['program'])}, and nothing of it lies inside: the block starts "
        f"beyond it. A stride of another tensor does that, or a head, row or block number that {tensor} does "
        "not have.",
        f"how the start of the block is counted: line{'s' * (len(lines) > 1)} {listed}"
        if lines
        else "the start of the block, its strides, and the grid",
    )


def _let_through(reason: str, facts: dict[str, object], look_at: str) -> Diagnosis:
    if facts["tile"] and facts["crowded"]:
        return (
            f"{reason}, though it has a mask: a tile's mask needs both sides, rows and columns, each with "
            "its own limit; with both, a stride is another tensor's.",
            look_at,
        )
    if facts["tile"]:
        return (
            f"{reason}, though it has a mask: a stride multiplies the wrong offset, "
            "or a side of the mask has the wrong limit.",
            "which stride and which limit go with which offset",
        )
    return f"{reason}, though it has a mask: its limits are wrong.", look_at
