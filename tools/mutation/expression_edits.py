"""Edits of what is computed: each looks at one node of a kernel, and offers what may stand in its place.

They are a learner's slips made systematic: DeMillo, Lipton and Sayward, "Hints on test data selection", 1978.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.diagnosis.source import keyword
from grader.judge.repair.variable_roles import changed, name_of

Edits = Iterator[ast.AST | tuple[ast.AST, ast.AST]]  # what stands in the node's place, or in that of a part

MASK_AT = {"load": 1, "store": 2}  # the place of an access's mask among its positional arguments
FUNCTIONS = {
    "max": "min", "min": "max", "sum": "max", "maximum": "minimum", "minimum": "maximum",
    "exp": "exp2", "exp2": "exp", "log": "log2", "log2": "log", "sqrt": "rsqrt", "rsqrt": "sqrt",
    "atomic_max": "atomic_min", "atomic_min": "atomic_max", "cumsum": "cumprod",
}  # fmt: skip
FILLED = {"zeros": "empty", "zeros_like": "empty_like", "new_zeros": "new_empty", "ones": "empty"}
DTYPES = {"float32": "float16", "float64": "float32"}
SIGNS: dict[type[ast.operator], ast.operator] = {ast.Add: ast.Sub(), ast.Sub: ast.Add()}
EDGES: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(), ast.LtE: ast.Lt(), ast.Gt: ast.GtE(), ast.GtE: ast.Gt(),
}  # fmt: skip
OPPOSITES: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.GtE(), ast.LtE: ast.Gt(), ast.Gt: ast.LtE(), ast.GtE: ast.Lt(),
    ast.Eq: ast.NotEq(), ast.NotEq: ast.Eq(),
}  # fmt: skip
# Calls that compute nothing.
IDLE = {"static_assert", "device_assert", "static_print", "device_print", "assume"}
IDLE |= {"multiple_of", "max_contiguous", "max_constancy"}


def without(call: ast.Call, *dropped: str) -> ast.Call:
    """The call less these keyword arguments."""
    return changed(call, keywords=[each for each in call.keywords if each.arg not in dropped])


def _replaced(values: list[ast.expr], at: int, value: ast.expr) -> list[ast.expr]:
    return [*values[:at], value, *values[at + 1 :]]


def drop_mask(node: ast.AST) -> Edits:
    name = name_of(node)
    if isinstance(node, ast.Call) and (name in MASK_AT or name.startswith("atomic_")):
        at = MASK_AT.get(name, 2)
        if keyword(node, "mask") or len(node.args) > at:
            yield without(changed(node, args=node.args[:at]), "mask", "other")


def drop_condition(node: ast.AST) -> Edits:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        yield from (node.left, node.right)
    if isinstance(node, ast.BoolOp):
        for at in range(len(node.values)):
            yield ast.BoolOp(node.op, [*node.values[:at], *node.values[at + 1 :]])


def drop_other(node: ast.AST) -> Edits:
    """Not of an `other` of 0: without one, an NVIDIA GPU gives 0 as well."""
    other = keyword(node, "other") if isinstance(node, ast.Call) and name_of(node) == "load" else None
    if isinstance(node, ast.Call) and other is not None and ast.unparse(other) not in ("0.0", "0"):
        yield without(node, "other")


def change_other(node: ast.AST) -> Edits:
    other = keyword(node, "other") if isinstance(node, ast.Call) and name_of(node) == "load" else None
    if other is not None and isinstance(node, ast.Call):
        value = "0.0" if "inf" in ast.unparse(other).lower() else "-float('inf')"
        given = ast.keyword("other", ast.parse(value, mode="eval").body)
        yield changed(node, keywords=[given if each.arg == "other" else each for each in node.keywords])


def drop_term(node: ast.AST) -> Edits:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield node.left
        # A pointer that is left out leaves no address, and of a longer sum the rest is a part of its own.
        if isinstance(node.op, ast.Add) and not ast.unparse(node.left).endswith(("ptr", "ptrs")):
            yield from () if isinstance(node.left, ast.BinOp) else (node.right,)


def drop_factor(node: ast.AST) -> Edits:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv | ast.Mod):
        yield node.left
        if isinstance(node.op, ast.Mult) and not isinstance(node.left, ast.BinOp):
            yield node.right


def turn_sign(node: ast.AST) -> Edits:
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in SIGNS:
        yield changed(node, op=SIGNS[type(node.op)])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield node.operand


def shrink_loop(node: ast.AST) -> Edits:
    """One turn less, at the end or at the beginning."""
    if not (isinstance(node, ast.Call) and name_of(node) in ("range", "static_range")) or not node.args:
        return
    step = node.args[2] if len(node.args) > 2 else ast.Constant(1)
    at = min(len(node.args) - 1, 1)
    yield changed(node, args=_replaced(node.args, at, ast.BinOp(node.args[at], ast.Sub(), step)))
    if at:
        yield changed(node, args=_replaced(node.args, 0, ast.BinOp(node.args[0], ast.Add(), step)))


def round_down(node: ast.AST) -> Edits:
    if isinstance(node, ast.Call) and name_of(node) == "cdiv" and len(node.args) == 2:
        yield ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1])


def move_edge(node: ast.AST) -> Edits:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in EDGES:
        yield changed(node, ops=[EDGES[type(node.ops[0])], *node.ops[1:]])


def turn_comparison(node: ast.AST) -> Edits:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPPOSITES:
        yield changed(node, ops=[OPPOSITES[type(node.ops[0])], *node.ops[1:]])


def change_constant(node: ast.AST) -> Edits:
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield ast.Constant(value + 1)


def lower_precision(node: ast.AST) -> Edits:
    if isinstance(node, ast.Attribute) and node.attr in DTYPES:
        yield changed(node, attr=DTYPES[node.attr])
    if isinstance(node, ast.Call) and name_of(node) == "dot":
        dropped = [name for name in ("input_precision", "out_dtype") if keyword(node, name)]
        yield from (without(node, name) for name in dropped)


def drop_cast(node: ast.AST) -> Edits:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        if node.func.attr == "to":
            yield node.func.value
        if node.func.attr == "cast":
            yield node.args[0]


def swap_function(node: ast.AST) -> Edits:
    name = name_of(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and name in FUNCTIONS:
        yield changed(node, func=changed(node.func, attr=FUNCTIONS[name]))


def drop_choice(node: ast.AST) -> Edits:
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    if isinstance(node, ast.Call) and name_of(node) in ("where", "maximum", "minimum"):
        yield from node.args[-2:]


def fix_branch(node: ast.AST) -> Edits:
    if isinstance(node, ast.If):
        yield from ((node.test, ast.Constant(value)) for value in (True, False))


def drop_statement(node: ast.AST) -> Edits:
    """A store or another call; an update, as `acc += …` or `m_i = m_new`, for it leaves an older value."""
    if isinstance(node, ast.AugAssign):
        yield ast.Pass()
    if isinstance(node, ast.Expr) and name_of(node.value) not in {"", "debug_barrier", *IDLE}:
        yield ast.Pass()
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        names = {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
        if isinstance(node.value, ast.Name) or node.targets[0].id in names:
            yield ast.Pass()


def drop_barrier(node: ast.AST) -> Edits:
    if isinstance(node, ast.Expr) and name_of(node.value) == "debug_barrier":
        yield ast.Pass()


def drop_atomic(node: ast.AST) -> Edits:
    if isinstance(node, ast.Call) and name_of(node).startswith("atomic_") and len(node.args) > 1:
        store = changed(node, func=changed(node.func, attr="store"))
        yield without(store, "sem", "scope")


def drop_fill(node: ast.AST) -> Edits:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILLED:
        yield changed(node, func=changed(node.func, attr=FILLED[node.func.attr]))
