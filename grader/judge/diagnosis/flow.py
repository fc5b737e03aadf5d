"""Which variables of a source may hold a maximum, or what was loaded: through its assignments and calls."""

from __future__ import annotations

import ast
from collections.abc import Callable

from grader.judge.diagnosis.site import last
from grader.judge.diagnosis.source import EXPONENTIALS, calls

MAXIMA = ("max", "maximum")
READ = ("load", "dot")
WEIGHTS = ("exp", "exp2", "exp10")
SUMS = ("sum", "dot", "reduce", "cumsum", "atomic_add")


def subtracts_maximum(source: str) -> bool:
    """Whether what an exponential is given may hold a tl.max or tl.maximum, however it came there.

    What is called lse is no less than one; and a maximum that is stored may be loaded again.
    """
    holders = _holders(ast.parse(source), _is_maximum)
    given = [call.args[0] if call.args else call.func for name, call in calls(source) if name in EXPONENTIALS]
    stored = [call.args[1] for name, call in calls(source) if name == "store" and len(call.args) > 1]
    return any(_holds(value, holders, _is_maximum) for value in given + stored)


def sums_exponentials(source: str) -> bool:
    """Whether exponentials themselves are added up, as in a softmax: not what a sigmoid makes of one."""
    tree = ast.parse(source)
    defined = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    returned = [
        (name, node.value)
        for name, function in defined.items()
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node.value
    ]
    passed, weights = [*_passed(tree, defined), *returned], set[str]()
    while more := {name for name, value in passed if _is_weight(value, weights)} - weights:
        weights |= more
    return any(_is_weight(call, weights) for name, call in calls(source) if name in SUMS)


def inverse_rescale(source: str) -> ast.Call | None:
    """The exponential of a new running maximum less the old one, where nothing is divided by it."""
    tree = ast.parse(source)
    given = [n for n in ast.walk(tree) if isinstance(n, ast.Assign) and len(n.targets) == 1]
    set_to = [(n.targets[0].id, n.value) for n in given if isinstance(n.targets[0], ast.Name)]
    carried = {(old, value.id) for old, value in set_to if isinstance(value, ast.Name)}  # m_i = m_new
    divisors = [n.right for n in ast.walk(tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)]
    for name, call in calls(source):
        less = call.args[0] if name in WEIGHTS and call.args else None
        if not isinstance(less, ast.BinOp) or not isinstance(less.op, ast.Sub):
            continue
        new, old = _held(less.left, set_to), {less.right.id} if isinstance(less.right, ast.Name) else set()
        kept = {holder for holder, value in set_to if ast.unparse(call) in ast.unparse(value)}
        divides = any(_names(by) & kept or ast.unparse(call) in ast.unparse(by) for by in divisors)
        if not divides and any(o in old and n in new and _takes(n, o, set_to) for o, n in carried):
            return call
    return None


def _held(node: ast.expr, set_to: list[tuple[str, ast.expr]]) -> set[str]:
    """The names in it, and those that these were made of."""
    names = _names(node)
    return names.union(*(_names(value) for name, value in set_to if name in names))


def _takes(new: str, old: str, set_to: list[tuple[str, ast.expr]]) -> bool:
    """Whether `new` is set to a maximum of `old` and something else."""
    made = (value for name, value in set_to if name == new and isinstance(value, ast.Call))
    return any(last(call.func) == "maximum" and old in _names(call) for call in made)


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _is_weight(node: ast.AST, weights: set[str]) -> bool:
    """Whether it holds an exponential, or a name of one, as a factor or a term: not below a fraction bar, nor
    beside a plain number, as in 1 / (1 + exp(-x)).
    """
    if isinstance(node, ast.Name):
        return node.id in weights
    if isinstance(node, ast.Call) and last(node.func) in WEIGHTS:
        return True
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Div):
            return _is_weight(node.left, weights)
        sides = (node.left, node.right)
        if isinstance(node.op, ast.Add | ast.Sub) and any(isinstance(each, ast.Constant) for each in sides):
            return False
    return any(_is_weight(child, weights) for child in ast.iter_child_nodes(node))


def meets_data(call: ast.Call, tree: ast.Module) -> bool:
    """Whether an argument of a call may hold what a kernel loaded, or a product: no number of a tile is."""
    holders = _holders(tree, _is_read)
    return any(_holds(value, holders, _is_read) for value in call.args)


def _holders(tree: ast.Module, seed: Callable[[ast.AST], bool]) -> set[str]:
    """Names that may hold what `seed` makes; those of all functions in one set, which is never too small."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    passed = list(_passed(tree, functions))
    found: set[str] = set()
    while True:
        more = {name for name, value in passed if _holds(value, found, seed)}
        more |= {name for name, function in functions.items() if _holds(function, found, seed)}
        if more <= found:
            return found
        found |= more


def _passed(tree: ast.Module, functions: dict[str, ast.FunctionDef]) -> list[tuple[str, ast.AST]]:
    """Each variable with what it is given, and each parameter with what a call in the file hands it."""
    pairs: list[tuple[str, ast.AST]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (each for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
            pairs += [(name.id, node.value) for name in names if isinstance(name.ctx, ast.Store)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
            parameters = functions[node.func.id].args.args
            pairs += [(p.arg, value) for p, value in zip(parameters, node.args, strict=False)]
            pairs += [(given.arg, given.value) for given in node.keywords if given.arg]
    return pairs


def _holds(node: ast.AST, holders: set[str], seed: Callable[[ast.AST], bool]) -> bool:
    """Whether it names a holder, or holds a seed itself."""
    return any((isinstance(each, ast.Name) and each.id in holders) or seed(each) for each in ast.walk(node))


def _is_maximum(node: ast.AST) -> bool:
    """A maximum by its name, or where it is taken; Python's own max() is none."""
    named = isinstance(node, ast.Name) and "lse" in node.id.lower()
    return named or (isinstance(node, ast.Attribute) and node.attr in MAXIMA)


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in READ
