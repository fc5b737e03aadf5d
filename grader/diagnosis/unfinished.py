"""A TODO that is left where a wrong result comes from is told before whatever else the result looks like."""

from __future__ import annotations

import ast

from grader.challenge.harness.compare import Finding
from grader.challenge.harness.trial import Trial
from grader.diagnosis.evidence import Diagnosis, Evidence, Speech
from grader.diagnosis.launch_record import involved
from grader.diagnosis.skeleton import to_do
from grader.diagnosis.source_context import functions

KINDS = ("unwritten", "values", "nan", "inf", "special", "error")


def unfinished(
    told: Diagnosis | Speech, plain: str, trial: Trial, finding: Finding, evidence: Evidence
) -> Diagnosis | Speech:
    """What is told, or of what was left to do the line.

    Args:
        plain: what is seen of wrong values, and no cause.
    """
    nothing = "NoneType" in str(finding.facts.get("message", ""))
    if finding.kind not in KINDS or (finding.kind == "error" and not nothing):
        return told
    left = _left(trial, evidence)
    if not left:
        return told
    line = evidence.source.splitlines()[left[0] - 1]
    known = finding.kind == "error" or "no kernel yet" in told[0]
    seen = told[0] if known else told[0].partition(": ")[0] if finding.kind == "unwritten" else plain
    said = f"{seen.rstrip('.')}. Still in the file is “{line.split('#', 1)[1].strip()}”"
    return (said, f"line {left[0]}", *told[2:]) if finding.kind == "unwritten" else (said, f"line {left[0]}")


def _left(trial: Trial, evidence: Evidence) -> list[int]:
    """The TODOs in functions that took part, below which nothing was written."""
    tree = ast.parse(evidence.source)
    apart, within = involved(trial, evidence.source).elsewhere, _used(trial.challenge.entry, tree)
    places = [f for f in functions(tree) if f.name not in apart and any(f in ast.walk(one) for one in within)]
    return to_do(evidence.source, evidence.given, *places)


def _used(entry: str, tree: ast.Module) -> list[ast.stmt]:
    """What stands at the top of the file and the entry uses, however indirectly."""
    named = [(getattr(node, "name", ""), node) for node in tree.body]
    named += [(n.id, node) for node in tree.body if isinstance(node, ast.Assign) for n in _names(node)]
    found, queue = list[ast.stmt](), [entry]
    while queue:
        name = queue.pop()
        for node in (node for known, node in named if known == name and node not in found):
            found.append(node)
            queue += [n.id for n in _names(node)]
    return found


def _names(node: ast.AST) -> list[ast.Name]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Name)]
