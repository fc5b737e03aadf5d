"""Which variables of a source may hold a maximum, or what was loaded: through its assignments and calls."""

from __future__ import annotations

import ast
from collections.abc import Callable

from grader.judge.diagnosis.site import last
from grader.judge.diagnosis.source import EXPONENTIALS, accesses, calls

MAXIMA = ("max", "maximum")
READ = ("load", "dot")
WEIGHTS = ("exp", "exp2", "exp10")
SAME = ("to", "cast", "reshape", "view", "trans", "broadcast_to", "expand_dims")  # the numbers as they are
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
    return bool(weighed(ast.parse(source)))


def sums_weights_alone(source: str) -> bool:
    """Whether exponentials are added up, and no tl.sum adds up anything else."""
    found = weighed(ast.parse(source))
    lines = {(call.lineno, call.col_offset) for call in found}
    sums = [call for name, call in calls(source) if name == "sum"]
    return bool(found) and all((call.lineno, call.col_offset) in lines for call in sums)


def weighed(tree: ast.Module) -> list[ast.Call]:
    """The sums and products of exponentials themselves."""
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
    found = (n for n in ast.walk(tree) if isinstance(n, ast.Call) and last(n.func) in SUMS)
    return [call for call in found if _is_weight(call, weights)]


def _is_weight(node: ast.AST, weights: set[str]) -> bool:
    """Whether it is an exponential or a name of one, chosen, converted, times a number or over something: not
    what a formula makes of one, as 1 / (1 + exp(-x)) or a loss.
    """
    if isinstance(node, ast.Name):
        return node.id in weights
    if isinstance(node, ast.Subscript):
        return _is_weight(node.value, weights)
    if isinstance(node, ast.Call):
        name, given = last(node.func), node.args
        if name in (*WEIGHTS, *weights):
            return not is_power(node)
        method = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        kept = given[1:] if name == "where" else [*method, *given] if name in (*SUMS, *SAME) else []
        return any(_is_weight(each, weights) for each in kept)
    if not isinstance(node, ast.BinOp):
        return False
    left, right = (_is_weight(side, weights) for side in (node.left, node.right))
    if isinstance(node.op, ast.Div) or left == right:
        return left
    other = node.right if left else node.left
    return isinstance(other, ast.Constant if isinstance(node.op, ast.Mult) else ast.Name)


def is_power(call: ast.Call) -> bool:
    """exp2(y * log2(x)) is x to the power of y."""
    inside = (n for given in call.args for n in ast.walk(given) if isinstance(n, ast.Call))
    return any(last(n.func) in ("log", "log2") for n in inside)


def may_overflow(source: str) -> bool:
    """Whether some exponential is given what may be large: neither -|x| nor the exponent of a power."""
    tree = ast.parse(source)
    variables = dict(set_to(tree))
    given = [call for name, call in calls(source) if name in EXPONENTIALS - {"sigmoid", "softmax"}]
    return any(
        not is_power(call) and not (call.args and _below_zero(call.args[0], variables)) for call in given
    )


def set_to(tree: ast.AST) -> list[tuple[str, ast.expr]]:
    """Each variable that is set by itself, and to what."""
    given = (n for n in ast.walk(tree) if isinstance(n, ast.Assign) and len(n.targets) == 1)
    return [(n.targets[0].id, n.value) for n in given if isinstance(n.targets[0], ast.Name)]


def _below_zero(node: ast.expr, set_to: dict[str, ast.expr]) -> bool:
    """-|x|, or a number times that."""
    if isinstance(node, ast.Name) and node.id in set_to:
        return _below_zero(set_to[node.id], {})
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _below_zero(node.left, set_to) or _below_zero(node.right, set_to)
    inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else None
    inner = set_to.get(inner.id, inner) if isinstance(inner, ast.Name) else inner
    return isinstance(inner, ast.Call) and last(inner.func) == "abs"


def meets_data(call: ast.Call, tree: ast.Module) -> bool:
    """Whether an argument of a call may hold what a kernel loaded, or a product: no number of a tile is."""
    return any(read(value, tree) for value in call.args)


def read(value: ast.AST, tree: ast.Module) -> bool:
    """Whether an expression may hold what a kernel loaded, or a product."""
    return _holds(value, _holders(tree, _is_read), _is_read)


def compares_extremum(tree: ast.Module) -> bool:
    """Whether what tl.max or tl.min makes of a block is compared with something."""
    holders = _holders(tree, _is_extremum)
    compared = (node for node in ast.walk(tree) if isinstance(node, ast.Compare))
    return any(_holds(node, holders, _is_extremum) for node in compared)


def in_block(source: str, line: int) -> bool:
    """Whether the place of an access on a line may be that of a block, however many lanes it has."""
    tree = ast.parse(source)
    holders = _holders(tree, _is_arange)
    places = (place for _, call in accesses(source, line) for place in call.args[:1])
    return any(_holds(place, holders, _is_arange) for place in places)


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


def _is_arange(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "arange"


def _is_extremum(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("max", "min")
