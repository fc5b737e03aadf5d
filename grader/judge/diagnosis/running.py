"""Running maxima: what was summed under the old one is rescaled to the new one, and not the other way."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.behind import reached
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.flow import WEIGHTS, set_to
from grader.judge.diagnosis.site import functions, last, quoted
from grader.judge.diagnosis.source import calls

Given = list[tuple[str, ast.expr]]  # variables, and what each is set to


def unscaled(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for a loop that adds terms of the new maximum to those of the old one."""
    if finding.kind != "values":
        return None
    for loop in _loops(ast.parse(evidence.source)):
        given = set_to(loop)
        for _, new in _carried(given):
            weights = _made_of(new, given)
            for total, line, term in _added(loop):
                if _weighs(term, weights, {new}) and not _rescaled(total, loop):
                    return (
                        f"Line {line} adds terms of the new maximum to {total}, which holds those of the old "
                        f"one: multiply {total} by exp(old maximum - new one) first.",
                        f"line {line}",
                    )
    return None


def by_own_maximum(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for a block that is shifted by its own maximum, where the sum that it is
    added to goes by the running one.
    """
    if finding.kind != "values":
        return None
    for loop in _loops(ast.parse(evidence.source)):
        given, shifts = set_to(loop), [*_shifts(loop)]
        carried = _carried(given)
        running = {name for pair in carried for name in pair}
        own = _own_maxima(given, running)
        merged = set().union(*(_names(less.left) for _, less in shifts)) & own  # exp(own - new one)
        for _, new in carried:
            for call, less in shifts:
                if _is_own(less.right, own, running) and not merged:
                    return (
                        f"Line {call.lineno} shifts a block by its own maximum, and the sum that it is added "
                        f"to goes by {new}, the running one: subtract {new}.",
                        f"line {call.lineno}",
                    )
    return None


def _own_maxima(given: Given, running: Set[str]) -> Set[str]:
    """Names that hold the maximum of a block, as it is or made safe, and of nothing before it."""
    found = set[str]()
    while more := {name for name, value in given if _is_own(value, found, running)} - found:
        found |= more
    return found


def _is_own(node: ast.expr, own: Set[str], running: Set[str]) -> bool:
    """A tl.max of what is no running maximum, or a name that holds one; with another axis, or a number where
    it is infinite.
    """
    if isinstance(node, ast.Subscript):
        return _is_own(node.value, own, running)
    if isinstance(node, ast.Call) and last(node.func) == "where":
        return any(_is_own(value, own, running) for value in node.args[1:])
    if isinstance(node, ast.Call):
        return last(node.func) == "max" and not _names(node) & running
    return isinstance(node, ast.Name) and node.id in own


def _shifts(loop: ast.For) -> Iterator[tuple[ast.Call, ast.BinOp]]:
    """Each exponential of a difference, with that."""
    for call in _exponentials(loop):
        for less in (node for given in call.args for node in ast.walk(given)):
            if isinstance(less, ast.BinOp) and isinstance(less.op, ast.Sub):
                yield call, less


def _loops(tree: ast.Module) -> list[ast.For]:
    """The innermost ones."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    return [loop for loop in loops if sum(isinstance(node, ast.For) for node in ast.walk(loop)) == 1]


def runs_along(source: str) -> bool:
    """Whether some loop takes a running maximum and exponentials as well: an online softmax, whose sums need
    a rescale. In two passes they need none.
    """
    tree = ast.parse(source)
    for loop in _loops(tree):
        called = [last(n.func) for n in ast.walk(loop) if isinstance(n, ast.Call)]
        bodies = [loop, *(f for f in functions(tree) if f.name in reached(called, tree))]
        running = any(_running(node) for body in bodies for node in ast.walk(body))
        if running and any(map(_exponentials, bodies)):
            return True
    return False


def _running(node: ast.AST) -> bool:
    """A maximum of two variables, and not of one and 0 as in a ReLU."""
    if not (isinstance(node, ast.Call) and last(node.func) == "maximum"):
        return False
    return not any(isinstance(given, ast.Constant) for given in node.args)


def inverse_rescale(source: str) -> ast.Call | None:
    """The exponential of a new running maximum less the old one, where nothing is divided by it."""
    tree = ast.parse(source)
    given, carried = set_to(tree), _carried(set_to(tree))
    divisors = [n.right for n in ast.walk(tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)]
    for name, call in calls(source):
        if name not in WEIGHTS or not call.args:
            continue
        holders = {holder for holder, value in given if ast.unparse(call) in ast.unparse(value)}
        divides = any(_names(by) & holders or ast.unparse(call) in ast.unparse(by) for by in divisors)
        for less in (
            n for n in ast.walk(call.args[0]) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Sub)
        ):
            new, old = _held(less.left, given), quoted(less.right)
            if not divides and any(o == old and n in new for o, n in carried):
                return call
    return None


def _carried(given: Given) -> list[tuple[str, str]]:
    """Pairs of old and new: `m_new = tl.maximum(m_i, …)`, and later `m_i = m_new`."""
    pairs = [(old, value.id) for old, value in given if isinstance(value, ast.Name)]
    return [(old, new) for old, new in pairs if any(n == new and _maximum_of(old, v) for n, v in given)]


def _maximum_of(old: str, node: ast.expr) -> bool:
    """Whether a maximum of `old` and something else is taken in it."""
    made = (n for n in ast.walk(node) if isinstance(n, ast.Call) and last(n.func) == "maximum")
    return any(old in _names(call) for call in made)


def _held(node: ast.expr, given: Given) -> set[str]:
    """The names in it, and those that these were made of."""
    names = _names(node)
    return names.union(*(_names(value) for name, value in given if name in names))


def _made_of(new: str, given: Given) -> set[str]:
    """Names that hold exponentials of something less the new maximum, or less what that was made safe to."""
    safe = {new, *(name for name, value in given if new in _names(value) and not _exponentials(value))}
    found = set[str]()
    while more := {name for name, value in given if _weighs(value, found, safe)} - found:
        found |= more
    return found


def _weighs(node: ast.expr, weights: set[str], shifts: set[str]) -> bool:
    return bool(_names(node) & weights) or any(_names(call) & shifts for call in _exponentials(node))


def _exponentials(node: ast.AST) -> list[ast.Call]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Call) and last(n.func) in WEIGHTS]


def _added(loop: ast.For) -> Iterator[tuple[str, int, ast.expr]]:
    """What each variable is added to itself, with its line: l += t, l = l + t, acc = tl.dot(p, v, acc)."""
    for node in ast.walk(loop):
        if (
            isinstance(node, ast.AugAssign)
            and isinstance(node.op, ast.Add)
            and isinstance(node.target, ast.Name)
        ):
            yield node.target.id, node.lineno, node.value
    for name, value in set_to(loop):
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            for own, term in ((value.left, value.right), (value.right, value.left)):
                if _is(own, name):
                    yield name, value.lineno, term
        if isinstance(value, ast.Call) and last(value.func) == "dot":
            yield from ((name, value.lineno, value) for given in value.args[2:] if _is(given, name))


def first_sum(source: str) -> tuple[str, str, int] | None:
    """A sum of exponentials that does not start from 0 before its loop: its name, from what, on what line."""
    before = set_to(ast.parse(source))
    for loop in _loops(ast.parse(source)):
        given = set_to(loop)
        weights = {name for name, value in given if _exponentials(value)}
        weights |= {name for name, value in given if _names(value) & weights}
        grown = [(name, line) for name, line, term in _added(loop) if _weighs(term, weights, set())]
        grown += [(name, value.lineno) for name, value in given if _grows(name, value, weights)]
        for name, value in before:
            number = _number(value)
            if number and name in dict(grown) and value.lineno < loop.lineno:
                return name, f"{number:g}", value.lineno
    return None


def _grows(name: str, value: ast.expr, weights: set[str]) -> bool:
    """Whether it is a sum of weights and of itself, rescaled or not."""
    added = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add)
    return added and name in _names(value) and bool(_names(value) & weights - {name})


def _number(value: ast.expr) -> float:
    """The number that a variable starts from, or a block is filled with; 0 where it is no plain one."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        zeros = isinstance(value.left, ast.Call) and last(value.left.func) == "zeros"
        return _number(value.right) if zeros else 0.0
    if isinstance(value, ast.Call):
        filled = last(value.func) == "full" and len(value.args) > 1
        return _number(value.args[1]) if filled else float(last(value.func) == "ones")
    plain = isinstance(value, ast.Constant) and type(value.value) in (int, float)
    return float(ast.literal_eval(value)) if plain else 0.0


def _rescaled(total: str, loop: ast.For) -> bool:
    """Whether a product or a quotient of it stands in the loop."""
    for node in ast.walk(loop):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Mult | ast.Div):
            sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target,)
            if any(_is(side, total) for side in sides):
                return True
    return False


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
