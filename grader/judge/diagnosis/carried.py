"""What a loop is to carry along: a maximum or a sum that no turn sets, or that each turn makes anew."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.addresses import Part, assignments, parts_of
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.launched import involved
from grader.judge.diagnosis.site import functions, jitted, last, quoted
from grader.judge.diagnosis.source import keyword

KINDS = ("values", "nan", "inf", "special")
EXTREMA = ("maximum", "minimum")
REDUCTIONS = ("max", "min", "sum", "dot")
NOTHING = re.compile(r"^tl\.zeros|^tl\.full\(.*, -?0(\.0)?, |^-?0\.0$")  # what sums start from
FARTHEST = re.compile(r"inf|lowest|\bmin\b|\bmax\b|e\+\d", re.IGNORECASE)  # what maxima and minima start from


def not_carried(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for a loop that works out the next sum or maximum, and does not keep it."""
    for kernel in _behind(trial, finding, evidence):
        for start, step in _stuck(kernel):
            name, to = ast.unparse(start.targets[0]), _kept_in(step)
            cure = f"{name} = {to}" if to else f"{name} = {quoted(step.value)}"
            return (
                f"Line {step.lineno} works out what follows on {name}, and no turn of the loop sets {name}: "
                f"it stays what line {start.lineno} made it. Keep it: {cure}.",
                f"line {step.lineno}",
            )
    return None


def made_anew(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for a loop whose every turn sets a sum or a maximum to its own."""
    for kernel in _behind(trial, finding, evidence):
        for name, part in _overwritten(kernel):
            return (
                f"Each turn of the loop sets {name} to {quoted(part.value)}, and nothing of what {name} was "
                f"goes into that: after the loop {name} is what the last turn gave.",
                f"line {part.line}",
            )
    return None


def _behind(trial: Trial, finding: Finding, evidence: Evidence) -> list[ast.FunctionDef]:
    """The kernels behind wrong numbers."""
    apart = involved(trial, evidence.source).elsewhere
    kernels = [kernel for kernel in functions(ast.parse(evidence.source)) if jitted(kernel)]
    return [kernel for kernel in kernels if kernel.name not in apart and finding.kind in KINDS]


def _kept_in(step: ast.Assign | ast.Expr) -> str:
    """What its result is called, if anything."""
    return ast.unparse(step.targets[0]) if isinstance(step, ast.Assign) else ""


def _stuck(kernel: ast.FunctionDef) -> Iterator[tuple[ast.Assign, ast.Assign | ast.Expr]]:
    """Where a variable is set, once and for all, and where a loop after it goes on from it. It is wanted
    when the loop has ended.
    """
    names = [node for node in ast.walk(kernel) if isinstance(node, ast.Name)]
    sets = [node.id for node in names if isinstance(node.ctx, ast.Store)]
    for loop, start, name in _wanted(kernel):
        steps = (n for n in ast.walk(loop) if isinstance(n, ast.Assign | ast.Expr) and sets.count(name) == 1)
        yield from ((start, step) for step in steps if _follows(step.value, name, start.value))


def _wanted(kernel: ast.FunctionDef) -> Iterator[tuple[ast.For | ast.While, ast.Assign, str]]:
    """Each loop, with where a variable is set before it that is read after it."""
    reads = [n for n in ast.walk(kernel) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    starts = [n for n in ast.walk(kernel) if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)]
    for loop in (node for node in ast.walk(kernel) if isinstance(node, ast.For | ast.While)):
        wanted = {read.id for read in reads if read.lineno > (loop.end_lineno or 0)}
        for start in (one for one in starts if one.lineno < loop.lineno):
            if (name := ast.unparse(start.targets[0])) in wanted:
                yield loop, start, name


def _overwritten(kernel: ast.FunctionDef) -> Iterator[tuple[str, Part]]:
    """What a sum or a maximum starts from, and each turn of a loop sets to a reduction without it; how."""
    for loop, start, name in _wanted(kernel):
        first, given = ast.unparse(start.value), [*assignments(loop)]
        mine = [part for part in given if name in part.sets]
        behind = [part for one in mine for part in parts_of(one, given)]
        starts = NOTHING.match(first) or FARTHEST.search(first)
        reduced = any(part.has(*REDUCTIONS) for part in behind)
        if starts and reduced and not _asked(loop, name) and not any(name in part.names for part in behind):
            yield name, mine[-1]


def _asked(loop: ast.For | ast.While, name: str) -> bool:
    """Whether not each turn sets it, or the loop goes by what it holds: `if here > top: top = here` is a
    maximum.
    """
    whiles: list[ast.AST] = [n.test for n in ast.walk(loop) if isinstance(n, ast.While)]
    branches = [n for n in ast.walk(loop) if isinstance(n, ast.If)]
    return any(isinstance(n, ast.Name) and n.id == name for one in whiles + branches for n in ast.walk(one))


def _follows(value: ast.expr, name: str, start: ast.expr) -> bool:
    """Whether it is a maximum of a variable and something else, or a sum that goes on from it."""
    first = ast.unparse(start)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and NOTHING.match(first):
        return _is(value.left, name) or _is(value.right, name)
    if not isinstance(value, ast.Call):
        return False
    if last(value.func) == "dot" and NOTHING.match(first):
        acc = value.args[2] if len(value.args) > 2 else keyword(value, "acc")
        return acc is not None and _is(acc, name)
    if last(value.func) not in EXTREMA or not any(_is(given, name) for given in value.args):
        return False
    # A maximum of a block and 0 is a ReLU; that of what tl.max gave goes on.
    reduced = any(isinstance(n, ast.Call) and last(n.func) in ("max", "min") for n in ast.walk(value))
    return FARTHEST.search(first) is not None or (reduced and NOTHING.match(first) is not None)


def _is(node: ast.expr, name: str) -> bool:
    """The variable, or a product with it."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _is(node.left, name) or _is(node.right, name)
    return isinstance(node, ast.Name) and node.id == name
