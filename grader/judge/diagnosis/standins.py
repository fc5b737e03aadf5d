"""Large numbers that stand for infinity in a file, and come out where nothing else was met."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from grader.judge.case.compare import Finding, gate
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.fit import out_dtype

LARGE = 100.0  # what stands for infinity is no size and no factor
LOWEST, LOW = -3e38, -1e3  # numbers that stand for -inf, and are above what rows may hold


def stands_in(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for a number of the file's own where Inf or -Inf is right."""
    expected, got = finding.facts.get("expected", 0.0), finding.facts.get("got", 0.0)
    if finding.kind != "special" or not math.isinf(expected) or not LARGE <= abs(got) < math.inf:
        return None
    near = gate(out_dtype(trial))  # it was rounded to the output's dtype
    alike = (one for one in numbers(evidence.source) if math.isclose(one[1], got, rel_tol=near))
    line, number = next(alike, (0, 0.0))
    if not line:
        return None
    where = finding.facts.get("at", "an element")
    return (
        f"{where} is {got:.6g} where {expected:g} is right, and {number:.6g} stands on line {line}: as a "
        f"number in the place of {expected:g} it comes out itself where nothing else was met.",
        f"line {line}",
    )


def floor(source: str) -> tuple[float, int] | None:
    """The lowest number that stands for -inf and may be above what a row holds, and its line."""
    return min(((number, line) for line, number in numbers(source) if LOWEST < number <= LOW), default=None)


def numbers(source: str) -> Iterator[tuple[int, float]]:
    """The numbers of a file, with their lines."""
    for node in ast.walk(ast.parse(source)):
        minus = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        value = node.operand if isinstance(node, ast.UnaryOp) and minus else node
        if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
            yield value.lineno, -value.value if minus else value.value
