"""Whether what a suspect's sentence blames can be in the learner's source."""

from __future__ import annotations

import ast
import re

from grader.judge.diagnosis.reductions import one_of_a_block
from grader.judge.diagnosis.site import last
from grader.judge.diagnosis.source import takes_maximum

STARTS = re.compile(r"\bmaximum (starts|of 0)\b")


def has_subject(sentence: str, source: str) -> bool:
    """Whether what a sentence blames can be in this source: a maximum only where one is taken, and where it
    starts only if no row has that of another.
    """
    if "running maximum" in sentence.lower() and not takes_maximum(source):
        return False
    if STARTS.search(sentence) and one_of_a_block(ast.parse(source)):
        return False
    if "own terms are rescaled" in sentence and not _multiplies_sums(source):
        return False
    return "backward()" not in sentence or "backward" in source


def _multiplies_sums(source: str) -> bool:
    """Whether something is multiplied to which a reduction was just added: (l + tl.sum(p)) * alpha."""
    products = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.BinOp | ast.AugAssign))
    sides = [
        side
        for n in products
        if isinstance(n.op, ast.Mult)
        for side in ((n.left, n.right) if isinstance(n, ast.BinOp) else (n.target, n.value))
    ]
    added = {"sum", "dot", "reduce"}
    return any(
        isinstance(m, ast.Call) and last(m.func) in added
        for side in sides
        if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Add)
        for m in ast.walk(side)
    ) or any(isinstance(n, ast.AugAssign) and isinstance(n.op, ast.Mult) for n in ast.walk(ast.parse(source)))
