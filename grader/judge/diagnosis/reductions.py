"""Along what a softmax takes its maximum and its sum, what that starts from, and what it is given."""

from __future__ import annotations

import ast
import math
from collections import Counter

from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.flow import weighed
from grader.judge.diagnosis.site import assigned, functions, in_kernels, last
from grader.judge.diagnosis.source import keyword

EXPONENTIALS = ("exp", "exp2")
FILLED = ("zeros", "zeros_like", "full")
KINDS = ("values", "nan", "inf", "special")


def axes_apart(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for a softmax that takes its maximum and its sum along different axes."""
    tree = ast.parse(evidence.source)
    if _lost(trial, finding) and (found := one_of_a_block(tree)):
        return _of_a_block(*found)
    along, sums = _along("max", maxima(tree)), _along("sum", weighed(tree))
    if finding.kind not in KINDS or {*along} & {*sums} or not (len(along) == len(sums) == 1):
        return None
    (of_max, max_line), (of_sum, sum_line) = *along.items(), *sums.items()
    return (
        f"tl.max on line {max_line} goes along axis {of_max}, and tl.sum of the exponentials on line "
        f"{sum_line} along axis {of_sum}: a softmax takes both along one axis.",
        f"lines {min(max_line, sum_line)} and {max(max_line, sum_line)}",
    )


def maxima(tree: ast.Module) -> list[ast.Call]:
    """The calls that exponentials hang on; one of something else, as of where the rows of a tile end, is none
    of the softmax.
    """
    nodes = [*in_kernels(tree)]
    calls = [n for n in nodes if isinstance(n, ast.Call)]
    powers = {name for call in calls if last(call.func) in EXPONENTIALS for name in _names(call)}
    kept = {id(n): assigned(node) for node in nodes if isinstance(node, ast.Assign) for n in ast.walk(node)}
    return [call for call in calls if (_names(call) | kept.get(id(call), set())) & powers]


def _lost(trial: Trial, finding: Finding) -> bool:
    """Whether a row has nothing left, 0 / 0 or the logarithm of 0, or in 16 bits too few digits."""
    if finding.kind == "values":
        return finding.facts["got"] == 0 or trial.case.dtype.itemsize == 2
    return finding.kind == "nan" or finding.facts.get("got") == -math.inf


def one_of_a_block(tree: ast.Module) -> tuple[int, int, int] | None:
    """One maximum for all rows of a block, whose exponentials are added up row by row, in a function or in
    several: its line, and the axis and the line of the sum.
    """
    alone = [ast.Module([function], []) for function in functions(tree)]
    return next((found for part in [*alone, tree] if (found := _of_all_rows(part))), None)


def _of_all_rows(tree: ast.Module) -> tuple[int, int, int] | None:
    calls, sums = maxima(tree), _along("sum", weighed(tree))
    whole = [n.lineno for n in calls if last(n.func) == "max" and len(n.args) == 1 and not n.keywords]
    if not whole or _along("max", calls) or [*sums] not in ([1], [2]):  # along axis 0 there may be no other
        return None
    ((axis, line),) = sums.items()
    return whole[0], axis, line


def _of_a_block(of_max: int, axis: int, of_sum: int) -> Diagnosis:
    return (
        f"tl.max on line {of_max} takes one maximum of the whole block, and tl.sum of the exponentials on "
        f"line {of_sum} goes along axis {axis}: in a row far below another one they come out as 0, or "
        f"without their digits. Each row needs a maximum of its own, axis={axis}.",
        f"line {of_max}",
    )


def _names(node: ast.AST) -> set[str]:
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)} - {"tl"}


def _along(word: str, calls: list[ast.Call]) -> dict[int, int]:
    """The axes that are named as plain numbers, each with the line of the first call; of none of the blocks
    that are reduced as a whole.
    """
    found = dict[int, int]()
    for call in calls:
        axis = keyword(call, "axis") or (call.args[1] if len(call.args) > 1 else None)
        if last(call.func) == word and isinstance(axis, ast.Constant) and isinstance(axis.value, int):
            found.setdefault(axis.value, call.lineno)
    return found


def first_maximum(tree: ast.Module) -> tuple[str, int] | None:
    """A running maximum that is 0 before anything is compared with it, and the line of that."""
    nodes = [*in_kernels(tree)]
    compared = [n for n in nodes if isinstance(n, ast.Call) and last(n.func) == "maximum"]
    names = {given.id for call in compared for given in call.args if isinstance(given, ast.Name)}
    sets = [pair for node in nodes if isinstance(node, ast.Assign) for pair in _pairs(node)]
    times = Counter(name for name, _ in sets)
    starts = [(v.lineno, name) for name, v in sets if name in names and times[name] > 1 and _is_zero(v)]
    return min(((name, line) for line, name in starts), key=lambda start: start[1], default=None)


def _pairs(node: ast.Assign) -> list[tuple[str, ast.expr]]:
    """Each name that an assignment sets by itself, and to what: `m, l = 0.0, 1.0` sets two."""
    target, value = node.targets[0], node.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=False))
    return [(one.id, given) for one, given in pairs if isinstance(one, ast.Name)]


def _is_zero(value: ast.expr) -> bool:
    """Whether it is 0, or a block filled with it."""
    if isinstance(value, ast.Call) and last(value.func) in FILLED:
        value = value.args[1] if last(value.func) == "full" and len(value.args) > 1 else ast.Constant(0)
    return isinstance(value, ast.Constant) and value.value == 0


def scores(tree: ast.Module) -> list[int]:
    """The lines on which products begin a sum of their own, and are not added to one."""
    added = [n.value for n in ast.walk(tree) if isinstance(n, ast.AugAssign)]
    inside = {id(n) for value in added for n in ast.walk(value)}
    dots = (n for n in in_kernels(tree) if isinstance(n, ast.Call) and last(n.func) == "dot")
    alone = (n for n in dots if len(n.args) < 3 and keyword(n, "acc") is None and id(n) not in inside)
    return sorted({call.lineno for call in alone})


def infinite_factor(tree: ast.Module) -> int | None:
    """The line of a load whose masked lanes hold Inf of either sign, and that a tl.dot multiplies."""
    nodes = [*in_kernels(tree)]
    dots = (n for n in nodes if isinstance(n, ast.Call) and last(n.func) == "dot")
    factors = {
        n.id for call in dots for given in call.args[:2] for n in ast.walk(given) if isinstance(n, ast.Name)
    }
    for node in (n for n in nodes if isinstance(n, ast.Assign)):
        loads = isinstance(node.value, ast.Call) and last(node.value.func) == "load"
        other = keyword(node.value, "other") if loads and isinstance(node.value, ast.Call) else None
        if other is not None and "inf" in ast.unparse(other).lower() and assigned(node) & factors:
            return node.lineno
    return None
