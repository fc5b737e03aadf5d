"""The edits that are tried, in a table: each looks at a node, and offers what may stand in its place.

They undo what learners do wrong in kernels, as program repair does it for introductory courses: Singh,
Gulwani and Solar-Lezama, "Automated feedback generation for introductory programming assignments", 2013.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from grader.judge.repair.scope import (
    Scope,
    changed,
    given,
    is_access,
    is_read,
    name_of,
    names,
    parsed,
    spelled,
)

Other = ast.AST | str  # a node, or its text
Edits = Iterator[tuple[Any, Other]]  # a node of the function, and what stands in its place
FILLS = ("0.0", "-float('inf')", "float('inf')")
MASK_AT = {"load": 1, "store": 2}
FUNCTIONS = (
    ("exp", "exp2"), ("log", "log2"), ("max", "min", "sum"), ("maximum", "minimum"), ("sqrt", "rsqrt"),
    ("argmax", "argmin"), ("zeros", "empty"), ("zeros_like", "empty_like"), ("atomic_max", "atomic_min"),
    ("cumsum", "cumprod"), ("cos", "sin"), ("floor", "ceil"),
)  # fmt: skip
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
REDUCTIONS = {"sum", "max", "min", "argmax", "argmin", "cumsum", "cumprod", "reduce", "associative_scan"}
LOOPS = {"range", "static_range"}
ALLOCATIONS = {"empty", "zeros", "full", "empty_like", "zeros_like", "ones"}


# In kernels and launchers


def _shaped(node: Any, scope: Scope) -> Iterator[str]:
    """Names that may stand beside an expression, and those of values as columns and rows of a block."""
    for other in scope.beside(node):
        yield other
        if scope.kernel and scope.sort(other) == "value":
            yield f"{other}[:, None]"
            yield f"{other}[None, :]"


def name(node: Any, scope: Scope) -> Edits:
    """Another name of the same kind."""
    if is_read(node):
        for other in scope.like(node.id):
            yield node, other


def other_name(node: Any, scope: Scope) -> Edits:
    """A name of another kind."""
    if is_read(node) and scope.sort(node.id) not in ("", "pointer"):
        for other in scope.beside(node):
            if scope.sort(other) != scope.sort(node.id):
                yield node, other


def size_of_data(node: Any, scope: Scope) -> Edits:
    """A size in the place of a block's, which is padded."""
    if is_read(node) and scope.kernel and scope.sort(node.id) == "constexpr":
        for other in scope.of("size"):
            yield node, other


def constant(node: Any, scope: Scope) -> Edits:
    value = node.value if isinstance(node, ast.Constant) else None
    if type(value) is int:
        for one in dict.fromkeys([0, 1, 2, value + 1, value - 1, value * 2, -value, value // 2]):
            if one != value:
                yield node, repr(one)
    if isinstance(value, float):
        for other in dict.fromkeys([0.0, 1.0, value + 1, value - 1, value * 2, -value, value / 2]):
            if other != value:
                yield node, repr(other)
        yield node, "float('inf')"
        yield node, "float('-inf')"


def infinity(node: Any, scope: Scope) -> Edits:
    """The sign of an infinity, or 0 in its place."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node, node.operand
    if name_of(node) == "float":
        value = spelled(node.args[0]) if node.args else ""
        yield node, "float('inf')" if "-" in value else "float('-inf')"
        yield node, "0.0"


def named_number(node: Any, scope: Scope) -> Edits:
    """A name for a number that was written out."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        for other in scope.beside(node):
            yield node, other


def comparison(node: Any, scope: Scope) -> Edits:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for op in COMPARISONS:
            if not isinstance(node.ops[0], op):
                yield node, changed(node, ops=[op()])


def operator(node: Any, scope: Scope) -> Edits:
    if isinstance(node, ast.BinOp) and isinstance(node.op, OPERATORS):
        for op in OPERATORS:
            if not isinstance(node.op, op):
                yield node, changed(node, op=op())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        yield node, changed(node, op=ast.BitOr() if isinstance(node.op, ast.BitAnd) else ast.BitAnd())


def operands(node: Any, scope: Scope) -> Edits:
    """The two sides changed over."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod):
        yield node, changed(node, left=node.right, right=node.left)


def regrouped(node: Any, scope: Scope) -> Edits:
    """Parentheses elsewhere: a + b * c for (a + b) * c, or the other way round."""
    if isinstance(node, ast.BinOp):
        left, right = node.left, node.right
        if isinstance(left, ast.BinOp) and type(left.op) is not type(node.op):
            yield node, changed(left, right=changed(node, left=left.right))
        if isinstance(right, ast.BinOp) and type(right.op) is not type(node.op):
            yield node, changed(right, left=changed(node, right=right.left))
            if isinstance(left, ast.BinOp) and type(left.op) is type(node.op):
                inner = changed(node, left=left.right, right=right.left)
                yield node, changed(left, right=changed(right, left=inner))


def dropped(node: Any, scope: Scope) -> Edits:
    """A term, a factor, or a condition left out."""
    if isinstance(node, ast.BinOp):
        yield node, node.left
        yield node, node.right
    if isinstance(node, ast.UnaryOp):
        yield node, node.operand


def factor(node: Any, scope: Scope) -> Edits:
    """A number times a stride, a size, a block, or a value."""
    if scope.is_operand(node):
        for other in _shaped(node, scope):
            yield node, ast.BinOp(node, ast.Mult(), parsed(other))


def rounded_up(node: Any, scope: Scope) -> Edits:
    """`//` where `cdiv` is needed, or the other way round."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        yield node, f"{scope.language}.cdiv({spelled(node.left)}, {spelled(node.right)})"
    if name_of(node) == "cdiv" and len(node.args) == 2:
        yield node, ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1])


def function(node: Any, scope: Scope) -> Edits:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        for several in FUNCTIONS:
            if node.func.attr in several:
                for other in several:
                    if other != node.func.attr:
                        yield node.func, changed(node.func, attr=other)


def unwrapped(node: Any, scope: Scope) -> Edits:
    """A function that is not called."""
    if isinstance(node, ast.Call) and node.args and name_of(node) not in LOOPS | {"load", "store", "arange"}:
        yield node, node.args[0]
        if name_of(node) == "where" and len(node.args) == 3:
            yield node, node.args[1]


def _changed_over(each: list[ast.expr], apart: range) -> Iterator[list[ast.expr]]:
    """With two of them, so far apart, in each other's place."""
    for i, j in itertools.combinations(range(len(each)), 2):
        if j - i in apart:
            yield [*each[:i], each[j], *each[i + 1 : j], each[i], *each[j + 1 :]]


def arguments(node: Any, scope: Scope) -> Edits:
    """Two arguments of a call that stand side by side changed over."""
    for args in _changed_over(node.args, range(1, 2)) if isinstance(node, ast.Call) else ():
        yield node, changed(node, args=args)


def far_arguments(node: Any, scope: Scope) -> Edits:
    """Two others: of a launch, or of a function of the file."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript | ast.Name):
        for args in _changed_over(node.args, range(2, 24)):
            yield node, changed(node, args=args)


def pair(node: Any, scope: Scope) -> Edits:
    """Two of a tuple changed over: sizes, a grid, what is returned."""
    if isinstance(node, ast.Tuple) and not any(isinstance(each, ast.Slice) for each in node.elts):
        for elts in _changed_over(node.elts, range(1, 24)):
            yield node, changed(node, elts=elts)


def accumulation(node: Any, scope: Scope) -> Edits:
    """`=` where `+=` is needed, or the other way round; another operator."""
    if isinstance(node, ast.AugAssign):
        yield node, f"{spelled(node.target)} = {spelled(node.value)}"
        for sign in ("+", "-", "*", "/"):
            yield node, f"{spelled(node.target)} {sign}= {spelled(node.value)}"
    if scope.resets(node):
        to, value = node.targets[0].id, spelled(node.value)
        yield node, f"{to} += {value}"
        yield node, f"{to} = tl.maximum({to}, {value})"


def statement(node: Any, scope: Scope) -> Edits:
    """A line left out."""
    if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield node, "pass"
    if scope.resets(node):
        yield node, "pass"
    if isinstance(node, ast.If) and not node.orelse:
        yield node.test, "True"
        yield node.test, "False"
    if isinstance(node, ast.IfExp):
        yield node, node.body
        yield node, node.orelse


# In kernels


def axis(node: Any, scope: Scope) -> Edits:
    if name_of(node) in REDUCTIONS and node.args:
        named = any(each.arg == "axis" for each in node.keywords)
        for other in ("0", "1", "None"):
            if len(node.args) > 1 and not named and name_of(node) not in ("reduce", "associative_scan"):
                yield node.args[1], other
            elif named or other != "None":
                yield node, given(node, axis=other)


def broadcast(node: Any, scope: Scope) -> Edits:
    """`[:, None]` where `[None, :]` is needed, or the other way round; or none."""
    axes = node.slice if isinstance(node, ast.Subscript) else None
    if isinstance(axes, ast.Tuple) and "None" in spelled(axes):
        value, each = spelled(node.value), [spelled(one) for one in axes.elts]
        for at in range(1, len(each)):
            yield node, f"{value}[{', '.join([*each[at:], *each[:at]])}]"
        yield node, node.value


def turned_over(node: Any, scope: Scope) -> Edits:
    """Columns and rows of a whole line changed over."""
    if scope.kernel and isinstance(node, ast.Assign | ast.AugAssign | ast.Expr):
        text, column, row = spelled(node), "[:, None]", "[None, :]"
        if column in text and row in text:
            yield node, text.replace(column, "[…]").replace(row, column).replace("[…]", row)


def fill(node: Any, scope: Scope) -> Edits:
    """`other=` of a load."""
    if name_of(node) == "load":
        for other in (*FILLS, "1.0"):
            yield node, given(node, other=other)


def _accessed(node: Any) -> tuple[int, ast.expr | None] | None:
    """The place of an access's mask, and what stands there."""
    if not is_access(node):
        return None
    at = MASK_AT.get(name_of(node), 2)
    named = next((each.value for each in node.keywords if each.arg == "mask"), None)
    return at, named or (node.args[at] if len(node.args) > at else None)


def _masked(node: ast.Call, at: int, text: str) -> ast.Call:
    return given(changed(node, args=node.args[:at]), mask=text)


def mask(node: Any, scope: Scope) -> Edits:
    """A mask where none is, or another one."""
    if found := _accessed(node):
        for other in scope.masks():
            if found[1] is None or other != spelled(found[1]):
                yield node, _masked(node, found[0], other)


def mask_and_fill(node: Any, scope: Scope) -> Edits:
    if name_of(node) == "load" and (found := _accessed(node)) and found[1] is None:
        for other, value in itertools.product(scope.masks(), FILLS):
            yield node, given(node, mask=other, other=value)


def mask_term(node: Any, scope: Scope) -> Edits:
    """One condition more."""
    compares = isinstance(node, ast.Compare) and len(node.ops) == 1
    if compares or (is_read(node) and scope.sort(node.id) == "mask"):
        for other in scope.masks():
            if other != spelled(node):
                yield node, f"({spelled(node)}) & ({other})"
        for other in scope.masks():
            if other != spelled(node) and isinstance(node, ast.Compare):
                yield node, f"({spelled(node)}) | ({other})"


def cast(node: Any, scope: Scope) -> Edits:
    """A cast dropped, or to another dtype."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to":
        yield node, node.func.value
        for dtype in ("tl.float32", "tl.float16", "tl.int64", "tl.int32"):
            yield node, f"{spelled(node.func.value)}.to({dtype})"


def wider(node: Any, scope: Scope) -> Edits:
    """A cast to fp32, where a value is loaded or used."""
    if scope.kernel and scope.is_operand(node) and scope.is_float(node):
        yield node, f"({spelled(node)}).to(tl.float32)"
    if isinstance(node, ast.Attribute) and node.attr in ("float16", "bfloat16", "int8", "int32"):
        for dtype in ("float32", "int64"):
            yield node, changed(node, attr=dtype)


def precision(node: Any, scope: Scope) -> Edits:
    if name_of(node) == "dot":
        for value in ("'ieee'", "'tf32'"):
            yield node, given(node, input_precision=value)
        yield node, changed(node, keywords=[each for each in node.keywords if each.arg != "out_dtype"])


def dot_sum(node: Any, scope: Scope) -> Edits:
    """What a product is added to."""
    if name_of(node) == "dot" and len(node.args) == 2:
        for other in scope.of("value"):
            yield node, changed(node, args=[*node.args, ast.Name(other)])
    if name_of(node) == "dot" and len(node.args) == 3:
        yield node, changed(node, args=node.args[:2])


def transposed(node: Any, scope: Scope) -> Edits:
    if name_of(node) == "dot":
        for given in node.args[:2]:
            yield given, f"tl.trans({spelled(given)})"
    if name_of(node) == "trans" and node.args:
        yield node, node.args[0]
    if isinstance(node, ast.Attribute) and node.attr == "T":
        yield node, node.value


def maximum_subtracted(node: Any, scope: Scope) -> Edits:
    """exp of a difference from the largest."""
    if name_of(node) in ("exp", "exp2") and node.args:
        given = spelled(node.args[0])
        yield node.args[0], f"{given} - tl.max({given}, axis=0)"
        yield node.args[0], f"{given} - tl.max({given}, axis=1)[:, None]"
        for other in scope.of("value"):
            yield node.args[0], f"{given} - {other}"
            yield node.args[0], f"{given} - {other}[:, None]"


def loaded(node: Any, scope: Scope) -> Edits:
    """`tl.load` around a pointer that is used as a value."""
    place = node.value if isinstance(node, ast.Assign) else node
    alone = place is not node or (isinstance(node, ast.BinOp | ast.Name) and scope.reads(node))
    if scope.kernel and alone and scope.is_pointer(place):
        yield place, f"tl.load({spelled(place)})"
        for other in scope.masks():
            yield place, f"tl.load({spelled(place)}, mask={other})"


def bound(node: Any, scope: Scope) -> Edits:
    """Where a loop begins and ends, and its step."""
    if not isinstance(node, ast.Call) or name_of(node) not in LOOPS or not node.args:
        return
    begin, *rest = node.args if len(node.args) > 1 else [parsed("0"), *node.args]
    end, step = rest[0], rest[1:]
    each: list[list[ast.expr]] = [[parsed("0"), end, *step], [begin, end]]
    for number in map(parsed, ("1", "-1")):
        each.append([begin, ast.BinOp(end, ast.Add(), number), *step])
        each.append([ast.BinOp(begin, ast.Add(), number), end, *step])
    for other in [n for sort in ("size", "constexpr", "program", "stride") for n in scope.of(sort)]:
        named, blocks = ast.Name(other), parsed(f"{scope.language}.cdiv({spelled(end)}, {other})")
        each += [[begin, named, *step], [begin, end, named], [named, end, *step], [begin, blocks, *step]]
        each.append([begin, ast.BinOp(end, ast.Add(), named), *step])
    for args in each:
        yield node, changed(node, args=args)


def atomic(node: Any, scope: Scope) -> Edits:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "store":
            yield node.func, changed(node.func, attr="atomic_add")
        elif node.func.attr.startswith("atomic_"):
            yield node.func, changed(node.func, attr="store")


def offset(node: Any, scope: Scope) -> Edits:
    """One more term of an address."""
    place = node.args[0] if is_access(node) and node.args else None
    place = node.value if isinstance(node, ast.Assign) and scope.is_pointer(node.value) else place
    if scope.kernel and place is not None:
        for other in scope.of("offsets") + scope.of("program"):
            yield place, ast.BinOp(place, ast.Add(), ast.Name(other))
        for at in scope.of("program") + scope.of("offsets"):
            for apart in scope.of("stride") + scope.of("size") + scope.of("constexpr"):
                yield place, f"{spelled(place)} + {at} * {apart}"


def block_start(node: Any, scope: Scope) -> Edits:
    """`pid * BLOCK` before the offsets of a block, or for a `pid` that stands there."""
    sides: list[tuple[Any, Any]] = []
    if isinstance(node, ast.BinOp):
        sides = [(node.left, node.right), (node.right, node.left)]
    for one, other in sides:
        if is_read(one) and scope.sort(one.id) == "program" and name_of(other) == "arange":
            yield one, f"{one.id} * {spelled(other.args[-1])}"
    if scope.kernel and name_of(node) == "arange" and len(node.args) == 2:
        for program in scope.of("program"):
            yield node, f"{program} * {spelled(node.args[1])} + {spelled(node)}"


def step(node: Any, scope: Scope) -> Edits:
    """How far a pointer moves in a turn of the loop."""
    if isinstance(node, ast.AugAssign) and scope.is_pointer(ast.Name(spelled(node.target), ast.Load())):
        for apart in scope.of("stride") + scope.of("size") + scope.of("constexpr"):
            yield node.value, ast.BinOp(node.value, ast.Mult(), ast.Name(apart))
            yield node.value, apart


def rescaled(node: Any, scope: Scope) -> Edits:
    """What was summed up so far, times a factor, where more is added."""
    for by in [text for other in scope.of("value") for text in (other, f"{other}[:, None]")]:
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            yield node, f"{spelled(node.target)} = {spelled(node.target)} * {by} + {spelled(node.value)}"
        if name_of(node) == "dot" and len(node.args) == 3:
            yield node.args[2], f"{spelled(node.args[2])} * {by}"


# In launchers


def allocation(node: Any, scope: Scope) -> Edits:
    """What is allocated: from zeros, in another dtype or shape."""
    if scope.kernel or not isinstance(node, ast.Call) or name_of(node) not in ALLOCATIONS:
        return
    for other in [f"{one}.dtype" for one in scope.of("tensor")] + ["torch.float32"]:
        yield node, given(node, dtype=other)
    for other in scope.of("tensor"):
        yield node, f"torch.empty_like({other})"
    if name_of(node).endswith("_like") and node.args:
        like = spelled(node.args[0])
        yield node, f"torch.empty({like}.shape, dtype={like}.dtype, device={like}.device)"
        for size in scope.of("size"):
            yield node, f"torch.empty({size}, dtype={like}.dtype, device={like}.device)"


def grid(node: Any, scope: Scope) -> Edits:
    """One more factor of a number of programs; two axes made one."""
    if not scope.kernel and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        yield node.slice, f"({' * '.join(f'({spelled(each)})' for each in node.slice.elts)},)"
    if not scope.kernel and name_of(node) == "cdiv":
        for size in scope.of("size"):
            yield node, f"{spelled(node)} * {size}"
            for block in scope.blocks():
                yield node, f"{spelled(node)} * triton.cdiv({size}, {block})"


def advanced(node: Any, scope: Scope) -> Edits:
    """What every turn of a loop must move or keep, at its end."""
    if not (scope.kernel and isinstance(node, ast.For | ast.While)) or hasattr(node.body[-1], "body"):
        return
    last, indent = node.body[-1], " " * node.body[-1].col_offset
    inside, used = names(node, ast.Store), names(node, ast.Load)
    for pointer in scope.of("pointer"):
        if pointer in used - inside and pointer in scope.stored:
            for block in scope.of("constexpr"):
                yield last, f"{spelled(last)}\n{indent}{pointer} += {block}"
                for apart in scope.of("stride") + scope.of("size"):
                    yield last, f"{spelled(last)}\n{indent}{pointer} += {block} * {apart}"
    for old in scope.of("value"):
        if old in used - inside and old in scope.stored:
            for new in scope.of("value"):
                if new in inside:
                    yield last, f"{spelled(last)}\n{indent}{old} = {new}"


def returned(node: Any, scope: Scope) -> Edits:
    """What is returned."""
    if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call | ast.Constant):
        yield node, f"return {spelled(node.value)}"
    if scope.kernel:
        return
    if isinstance(node, ast.Return) and node.value is not None:
        for other in scope.of("tensor"):
            yield node.value, other
        for both in itertools.permutations(scope.allocated(), 2):
            yield node.value, ", ".join(both)
    if scope.ends(node) and isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        for name in scope.allocated():
            yield node, f"{spelled(node)}\n{' ' * node.col_offset}return {name}"


def of_tensor(node: Any, scope: Scope) -> Edits:
    """`x.stride(0)` of another tensor."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and not scope.kernel:
        for other in scope.of("tensor"):
            if other != node.value.id:
                yield node.value, other


@dataclass(frozen=True)
class Kind:
    """Edits of one kind.

    Args:
        edits: what may stand in the place of a node.
        says: what the edit is, so that it fits behind "with"; `{it}` is what stands there.
        rate: how many of a thousand such edits undid one of 490 planted mistakes and 200 slips; a guess where
            none did. Those with a high rate are tried first.
    """

    edits: Callable[[Any, Scope], Edits]
    says: str
    rate: float


KINDS: Mapping[str, Kind] = {
    one.__name__: Kind(one, says, rate)
    for one, says, rate in (
        (axis, "another axis", 2),
        (broadcast, "columns and rows changed over", 1),
        (turned_over, "columns and rows changed over", 2),
        (fill, "another `other=`", 0.85),
        (mask, "another mask", 0.58),
        (mask_and_fill, "a mask", 0.3),
        (mask_term, "one more condition beside `{it}`", 0.02),
        (cast, "another cast, or none,", 0.45),
        (wider, "fp32 in the place of a narrower dtype", 0.14),
        (precision, "another precision of the product", 4.3),
        (dot_sum, "the product added to something else", 2),
        (transposed, "a block transposed, or one not", 1),
        (maximum_subtracted, "a maximum subtracted", 0.2),
        (loaded, "tl.load around a pointer", 0.5),
        (bound, "other bounds of the loop", 0.085),
        (atomic, "an atomic for the store, or a store for the atomic,", 0.6),
        (offset, "one more term in the address", 0.02),
        (block_start, "the start of the program's block added", 0.4),
        (step, "another step of the pointer", 0.5),
        (rescaled, "what was summed up so far rescaled", 0.25),
        (allocation, "another dtype, shape or start of what is allocated", 1.1),
        (returned, "something else returned", 16),
        (grid, "more programs in the grid", 0.24),
        (advanced, "one more line at the end of the loop, which moves or keeps something,", 0.3),
        (of_tensor, "another tensor than `{it}`", 0.25),
        (name, "another name than `{it}`", 0.157),
        (other_name, "another name than `{it}`", 0.04),
        (size_of_data, "another name than `{it}`", 0.4),
        (constant, "another number than `{it}`", 0.085),
        (infinity, "another start than `{it}`", 1),
        (named_number, "a name in the place of `{it}`", 0.02),
        (comparison, "another comparison than `{it}`", 0.45),
        (operator, "another operator in `{it}`", 0.05),
        (operands, "the operands of `{it}` changed over", 0.5),
        (regrouped, "other parentheses in `{it}`", 0.5),
        (dropped, "less than `{it}`", 0.58),
        (factor, "one more factor beside `{it}`", 0.022),
        (rounded_up, "the division rounded the other way", 2.7),
        (function, "another function than `{it}`", 1.6),
        (unwrapped, "one function call less", 0.53),
        (arguments, "two arguments changed over", 2),
        (far_arguments, "two arguments changed over", 0.06),
        (pair, "two of `{it}` changed over", 0.36),
        (accumulation, "another kind of assignment, `=` or `+=`,", 0.7),
        (statement, "the line left out, or its condition fixed,", 0.6),
    )
}
