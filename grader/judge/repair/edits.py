"""The edits that are tried, in a table: each looks at a node, and offers what may stand in its place.

They undo what learners do wrong in kernels, as program repair does it for introductory courses: Singh,
Gulwani and Solar-Lezama, "Automated feedback generation for introductory programming assignments", 2013.
"""

from __future__ import annotations

import ast
import difflib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from triton.language.extra import libdevice

from grader.judge.repair.variable_roles import (
    INTEGERS,
    Scope,
    alike,
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
LEAST_BLOCK = 16  # elements: smaller numbers of a launcher are no blocks
FILLS = ("0.0", "-float('inf')", "float('inf')")
NUMBERS = ("2", "0.5", "1.4426950408889634")  # the last turns a power of e into one of 2
MASK_AT = {"load": 1, "store": 2}
FUNCTIONS = (
    ("exp", "exp2"), ("log", "log2"), ("max", "min", "sum"), ("maximum", "minimum"), ("sqrt", "rsqrt"),
    ("argmax", "argmin"), ("zeros", "empty"), ("zeros_like", "empty_like"), ("atomic_max", "atomic_min"),
    ("cumsum", "cumprod"), ("cos", "sin"), ("floor", "ceil"), ("reshape", "view", "expand"),
)  # fmt: skip
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
REDUCTIONS = {"sum", "max", "min", "argmax", "argmin", "cumsum", "cumprod", "reduce", "associative_scan"}
LOOPS = {"range", "static_range"}
CALLED = {*LOOPS, "load", "store", "arange", "cdiv"}  # what nobody calls needlessly
ALLOCATIONS = {"empty", "zeros", "full", "empty_like", "zeros_like", "ones"}


# In kernels and launchers


def name(node: Any, scope: Scope, near: bool = True) -> Edits:
    """Another name of the same kind, which is one letter or one word apart."""
    for other in scope.like(node.id) if is_read(node) else ():
        if alike(node.id, other) == near:
            yield node, other


def far_name(node: Any, scope: Scope) -> Edits:
    """Another name of the same kind, which is further apart."""
    yield from name(node, scope, near=False)


def other_name(node: Any, scope: Scope) -> Edits:
    """A name of another kind."""
    if is_read(node) and scope.sort(node.id) not in ("", "pointer"):
        for other in scope.beside(node):
            if scope.sort(other) != scope.sort(node.id) and "offsets" not in map(
                scope.sort, (other, node.id)
            ):
                yield node, other


def unread(node: Any, scope: Scope) -> Edits:
    """A name that nothing reads: for another one or a number, as a factor or a term, in an address."""
    for one in scope.unread:
        sort, counts = scope.sort(one), scope.sort(one) in INTEGERS
        if is_read(node) and (scope.sort(node.id) == sort or (counts and scope.sort(node.id) in INTEGERS)):
            yield node, one
        if counts and isinstance(node, ast.Constant) and type(node.value) is int and node.value > 1:
            yield node, one
        for place in _addresses(node, scope) if counts else ():
            for times in ("", *(f" * {other}" for other in scope.of("stride") + scope.of("size"))):
                yield place, f"{spelled(place)} + {one}{times}"
        fits = sort == "scalar" or (
            sort in (*INTEGERS, "value") and scope.is_float(node) == (sort == "value")
        )
        if scope.is_operand(node) and fits:
            axes = ("", "[:, None]", "[None, :]") if scope.blocks_of_rows and not counts else ("",)
            for axis, sign in itertools.product(axes, (ast.Mult(), ast.Sub(), ast.Add())):
                yield node, ast.BinOp(node, sign, parsed(one + axis))


def size_of_data(node: Any, scope: Scope) -> Edits:
    """A size in the place of a block's, which is padded."""
    if is_read(node) and scope.kernel and scope.sort(node.id) == "constexpr":
        for other in scope.of("size"):
            yield node, other


def constant(node: Any, scope: Scope) -> Edits:
    if isinstance(node, ast.Subscript) and spelled(node.value).endswith(".shape"):
        yield node, spelled(node.value).replace(".shape", ".numel()")
    value = node.value if isinstance(node, ast.Constant) else None
    if type(value) is int:
        for one in dict.fromkeys([0, 1, 2, value + 1, value - 1, value * 2, -value, value // 2]):
            if one != value:
                yield node, repr(one)
        for size in scope.of("size") if value >= LEAST_BLOCK and not scope.kernel else ():
            yield node, f"triton.next_power_of_2({size})"
    if isinstance(value, float):
        for other in dict.fromkeys([0.0, 1.0, value + 1, value - 1, value * 2, -value, value / 2]):
            if other != value:
                yield node, repr(other)


def flag(node: Any, scope: Scope) -> Edits:
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield node, repr(not node.value)


def infinity(node: Any, scope: Scope) -> Edits:
    """The sign of an infinity, or 0 in its place, or the other way round."""
    if isinstance(node, ast.Constant) and type(node.value) is float:
        yield node, "float('inf')"
        yield node, "float('-inf')"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node, node.operand
    if name_of(node) == "float":
        value = spelled(node.args[0]) if node.args else ""
        yield node, "float('inf')" if "-" in value else "float('-inf')"
        yield node, "0.0"


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
        if isinstance(node.op, ast.Sub) and isinstance(node.left, ast.BinOp):
            yield node, changed(node, left=changed(node.left, right=node.right), right=node.left.right)


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
    """A number times a stride, a size, a block, or a scalar; a result divided by a size."""
    whole = _result(node) if scope.kernel else None
    if whole and scope.is_float(whole):
        for size in scope.of("size"):
            yield whole, ast.BinOp(whole, ast.Div(), parsed(size))
    if scope.is_operand(node):
        numbers = NUMBERS if scope.kernel and scope.is_float(node) else ()
        for other in (*scope.beside(node), *numbers):
            if scope.sort(other) not in ("offsets", "program", "value"):
                yield node, ast.BinOp(node, ast.Mult(), parsed(other))


def step(node: Any, scope: Scope) -> Edits:
    """How far a pointer moves, times a stride."""
    to = node.target if scope.kernel and isinstance(node, ast.AugAssign) else None
    if isinstance(to, ast.Name) and scope.sort(to.id) == "pointer":
        for stride in scope.of("stride"):
            yield node.value, ast.BinOp(node.value, ast.Mult(), parsed(stride))


def value_factor(node: Any, scope: Scope) -> Edits:
    """A value times another one, or times a column of a block."""
    if scope.kernel and scope.is_operand(node) and scope.is_float(node):
        for other in scope.of("value"):
            for text in (other, f"{other}[:, None]") if scope.blocks_of_rows else (other,):
                yield node, ast.BinOp(node, ast.Mult(), parsed(text))


def term(node: Any, scope: Scope) -> Edits:
    """One more term: of a value another one, of a number 1, of an address an offset."""
    if scope.kernel and is_read(node) and scope.sort(node.id) in ("program", "offsets", "size"):
        yield node, f"{node.id} + 1"
        yield node, f"{node.id} - 1"
    whole = _result(node)
    if scope.kernel and whole and scope.is_float(whole):
        for other, sign in itertools.product(scope.of("value"), "+-"):
            yield whole, f"{spelled(whole)} {sign} {other}"
    for place in _addresses(node, scope):
        for other in scope.of("offsets") + (scope.of("program") or ["tl.program_id(0)"]):
            yield place, f"{spelled(place)} + {other}"


def _result(node: Any) -> ast.expr | None:
    """What a line sets a name to, returns or stores."""
    if isinstance(node, ast.Assign | ast.Return):
        return node.value
    return node.args[1] if is_access(node) and name_of(node) != "load" and len(node.args) > 1 else None


def _addresses(node: Any, scope: Scope) -> list[ast.expr]:
    """What a node accesses, or the address that it gives a name."""
    if scope.kernel and is_access(node):
        return list(node.args[:1])
    return [node.value] if isinstance(node, ast.Assign) and scope.is_pointer(node.value) else []


def rescaled(node: Any, scope: Scope) -> Edits:
    """A sum that a loop adds to, times a value of this turn: so an online softmax keeps to its maximum."""
    to = node.target if isinstance(node, ast.AugAssign) else node.targets[0] if scope.resets(node) else None
    if not isinstance(to, ast.Name) or scope.sort(to.id) != "value":
        return
    for value in scope.of("value"):
        for factor in (value, f"{value}[:, None]") if scope.blocks_of_rows else (value,):
            if isinstance(node, ast.AugAssign):
                yield node, f"{to.id} = {to.id} * {factor} + {spelled(node.value)}"
            else:
                yield node, re.sub(rf"(= .*?)\b{to.id}\b", rf"\1{to.id} * {factor}", spelled(node), count=1)


def divided(node: Any, scope: Scope) -> Edits:
    """A program's number, or another one, less the whole rounds of a size, or these alone."""
    program = name_of(node) == "program_id"
    if program or (is_read(node) and scope.sort(node.id) == "program"):
        numbers = [spelled(node), *(scope.of("program") if program else ())]
        for one, size, sign in itertools.product(numbers, scope.sizes(), ("//", "%")):
            if one != size:
                yield node, f"{one} {sign} {size}"


def exchanged(node: Any, scope: Scope) -> Edits:
    """Two names of the same kind, one letter or one word apart, in each other's place in a whole line."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr):
        for one, other in itertools.combinations(sorted(names(node, ast.Load)), 2):
            if other in scope.like(one) and alike(one, other):
                parts = re.split(rf"\b({one}|{other})\b", spelled(node))
                yield node, "".join({one: other, other: one}.get(part, part) for part in parts)


def other_axis(node: Any, scope: Scope) -> Edits:
    """All names of a line that stand for one axis, for those of another: m, BLOCK_M for n, BLOCK_N."""
    if isinstance(node, ast.Assign):
        words = re.split(r"(\w+)", spelled(node.value))
        for one, other in itertools.permutations("mnk", 2):
            turned = [_along(word, one, other) for word in words]
            new = [word for word, before in zip(turned, words, strict=True) if word != before]
            if len(new) > 1 and all(map(scope.sort, new)):
                yield node.value, "".join(turned)


def _along(name: str, one: str, other: str) -> str:
    """The name with this letter, which ends it or a word of it, for that one."""
    turned = re.sub(rf"{one}(?![^_])", other, name)
    return re.sub(rf"{one.upper()}(?![^_])", other.upper(), turned)


def reordered(node: Any, scope: Scope) -> Edits:
    """A line and the next one changed over; or what they assign."""
    follower = scope.next(node)
    simple = ast.Assign | ast.AugAssign | ast.Expr
    if not (isinstance(node, simple) and isinstance(follower, simple)):
        return
    both = changed(node, end_lineno=follower.end_lineno, end_col_offset=follower.end_col_offset)
    yield both, _followed(follower, spelled(node))
    if isinstance(node, ast.Assign) and isinstance(follower, ast.Assign):
        one, other = (changed(to, value=of.value) for to, of in ((node, follower), (follower, node)))
        yield both, _followed(one, spelled(other))


def _followed(node: Any, line: str) -> str:
    """A statement, and a line behind it."""
    return f"{spelled(node)}\n{' ' * node.col_offset}{line}"


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
        if spelled(node.func.value) == "libdevice":
            for other in difflib.get_close_matches(node.func.attr, dir(libdevice)):
                yield node.func, changed(node.func, attr=other)


def unwrapped(node: Any, scope: Scope) -> Edits:
    """A function that is not called."""
    if isinstance(node, ast.Call) and node.args and name_of(node) not in CALLED:
        yield node, node.args[0]
        if name_of(node) == "where" and len(node.args) == 3:
            yield node, node.args[1]


def arguments(node: Any, scope: Scope) -> Edits:
    """Arguments of a call that stand side by side changed over: two, or two runs, as of strides."""
    # A seed and a counter in each other's place are other draws, which may be right by luck.
    given = node.args if isinstance(node, ast.Call) and not name_of(node).startswith("rand") else []
    for run, at in itertools.product((1, 2, 3), range(len(given))):
        if at + 2 * run <= len(given):
            turned = [*given[at + run : at + 2 * run], *given[at : at + run]]
            yield node, changed(node, args=[*given[:at], *turned, *given[at + 2 * run :]])


def pair(node: Any, scope: Scope) -> Edits:
    """Two of a tuple changed over: sizes, a grid, what is returned."""
    if isinstance(node, ast.Tuple) and not any(isinstance(each, ast.Slice) for each in node.elts):
        each = node.elts
        for i, j in itertools.combinations(range(len(each)), 2):
            yield node, changed(node, elts=[*each[:i], each[j], *each[i + 1 : j], each[i], *each[j + 1 :]])


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


# In kernels


def axis(node: Any, scope: Scope) -> Edits:
    if name_of(node) in REDUCTIONS and node.args:
        named = any(each.arg == "axis" for each in node.keywords)
        for other in "01":
            if len(node.args) > 1 and not named and name_of(node) not in ("reduce", "associative_scan"):
                yield node.args[1], other
            else:
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
        for other in (*FILLS, "1.0", *scope.of("scalar")):
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
    """Another mask of an access, or another one with a name, or one more condition in that."""
    if (found := _accessed(node)) and found[1]:
        for other in scope.masks():
            if other != spelled(found[1]):
                yield node, _masked(node, found[0], other)
    if isinstance(node, ast.Assign) and scope.kernel and scope.sort(spelled(node.targets[0])) == "mask":
        for other in scope.masks():
            yield node.value, other
            yield node.value, ast.BinOp(node.value, ast.BitAnd(), parsed(f"({other})"))


def unmasked(node: Any, scope: Scope) -> Edits:
    """A mask where none is."""
    if (found := _accessed(node)) and not found[1]:
        for other in scope.masks():
            yield node, given(node, mask=other)


def mask_and_fill(node: Any, scope: Scope) -> Edits:
    if name_of(node) == "load" and (found := _accessed(node)) and found[1] is None:
        for other, value in itertools.product(scope.masks(), FILLS):
            yield node, given(node, mask=other, other=value)
    wholes = [node.value] if isinstance(node, ast.Assign) and scope.is_float(node.value) else []
    wholes += node.args[:1] if name_of(node) in REDUCTIONS else []
    for whole in wholes if scope.kernel else ():
        for other, value in itertools.product(scope.of("mask"), FILLS[:2]):
            yield whole, f"tl.where({other}, {spelled(whole)}, {value})"


def cast(node: Any, scope: Scope) -> Edits:
    """A cast dropped, or to another dtype, or to fp32 where none is."""
    if scope.kernel and scope.is_operand(node) and scope.is_float(node):
        yield node, f"({spelled(node)}).to(tl.float32)"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to":
        yield node, node.func.value
        for dtype in ("tl.float32", "tl.float16", "tl.int64", "tl.int32"):
            yield node, f"{spelled(node.func.value)}.to({dtype})"
    if isinstance(node, ast.Attribute) and node.attr in ("float16", "bfloat16", "int8", "int32"):
        for dtype in ("float32", "int64"):
            yield node, changed(node, attr=dtype)


def precision(node: Any, scope: Scope) -> Edits:
    if name_of(node) == "dot":
        for value in ("'ieee'", "'tf32'"):
            yield node, given(node, input_precision=value)
        yield node, changed(node, keywords=[each for each in node.keywords if each.arg != "out_dtype"])


def transposed(node: Any, scope: Scope) -> Edits:
    if name_of(node) == "dot":
        for given in node.args[:2]:
            yield given, f"tl.trans({spelled(given)})"
    if is_read(node) and scope.blocks_of_rows and scope.sort(node.id) in ("mask", "value"):
        yield node, f"tl.trans({node.id})"
    if name_of(node) == "trans" and node.args:
        yield node, node.args[0]
    if isinstance(node, ast.Attribute) and node.attr == "T":
        yield node, node.value


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
    """Where the program's part begins: its number times a stride, as one more term of an address."""
    counted = isinstance(node, ast.Assign) and scope.sort(spelled(node.targets[0])) == "offsets"
    for place in [node.value] if counted and scope.kernel else _addresses(node, scope):
        sizes = scope.of("size")
        apart = [*scope.of("stride"), *sizes, *map(" * ".join, itertools.combinations(sizes, 2))]
        for at, each in itertools.product(scope.of("program"), apart):
            yield place, f"{spelled(place)} + {at} * {each}"


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
    if scope.kernel and isinstance(node, ast.Assign) and scope.sort(spelled(node.targets[0])) == "program":
        for block in scope.of("constexpr"):
            yield node.value, ast.BinOp(node.value, ast.Mult(), ast.Name(block))


# In launchers


def allocation(node: Any, scope: Scope) -> Edits:
    """What is allocated: from zeros, in another dtype or shape."""
    copied = node.value if isinstance(node, ast.Assign) and not scope.kernel else None
    if is_read(copied) and scope.sort(copied.id) == "tensor":
        yield copied, f"torch.empty_like({copied.id})"
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
    """One more factor of a number of programs; or one axis for several."""
    if not scope.kernel and name_of(node) == "cdiv":
        counted = names(scope.whole(node), ast.Load)  # more programs of these sides have nothing to do
        for size in [one for one in scope.of("size") if one not in counted]:
            yield node, f"{spelled(node)} * {size}"
            for block in scope.blocks():
                yield node, f"{spelled(node)} * triton.cdiv({size}, {block})"
    launch = isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)
    programs = node.func.slice if launch else getattr(node, "value", None)
    if not launch and not (isinstance(node, ast.Assign) and "cdiv" in spelled(node.value)):
        return
    if not scope.kernel and isinstance(programs, ast.Tuple):
        each = [f"({spelled(one)})" if isinstance(one, ast.BinOp) else spelled(one) for one in programs.elts]
        if len(each) > 1:
            yield programs, f"({' * '.join(each)},)"
        for size in scope.of("size") if len(each) == 1 and "cdiv" not in each[0] else ():
            yield programs, f"({each[0]} * {size},)"


def advanced(node: Any, scope: Scope) -> Edits:
    """What every turn of a loop must keep for the next one, at its end."""
    loop = scope.ended_by(node)
    if scope.kernel and isinstance(loop, ast.For | ast.While) and not hasattr(node, "body"):
        inside, used = names(loop, ast.Store), names(loop, ast.Load)
        kept = [old for old in scope.of("value") if old in used - inside and old in scope.stored]
        lines = [f"{old} = {new}" for old in kept for new in scope.of("value") if new in inside]
        steps = [*scope.of("constexpr"), *scope.of("size")]
        ways = steps + [f"{step} * {stride}" for step in steps for stride in scope.of("stride")]
        still = [one for one in scope.of("pointer") if one in used - inside and one in scope.stored]
        lines += [f"{pointer} += {way}" for pointer, way in itertools.product(still, ways)]
        for line in lines:
            yield node, _followed(node, line)


def restarted(node: Any, scope: Scope) -> Edits:
    """A pointer that two loops move, set before the second to where it began."""
    loop = scope.next(node)
    again = scope.moved(loop) & set().union(*(scope.moved(one) for one in scope.loops if one is not loop))
    for one, start in itertools.product(sorted(again), scope.of("pointer")) if scope.kernel else ():
        if start not in scope.moved(loop):
            yield node, _followed(node, f"{one} = {start}")


def returned(node: Any, scope: Scope) -> Edits:
    """What is returned."""
    if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call | ast.Constant):
        yield node, f"return {spelled(node.value)}"
    if scope.kernel:
        return
    if isinstance(node, ast.Return) and node.value is not None:
        each = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        for more in range(1, 4):
            yield node.value, ", ".join([*map(spelled, each), *["None"] * more])
        for other in scope.of("tensor"):
            yield node.value, other
        for both in itertools.permutations(scope.allocated(), 2):
            yield node.value, ", ".join(both)
    if (
        isinstance(scope.ended_by(node), ast.FunctionDef)
        and isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
    ):
        for name in scope.allocated():
            yield node, _followed(node, f"return {name}")


@dataclass(frozen=True)
class Kind:
    """Edits of one kind.

    Args:
        edits: what may stand in the place of a node.
        says: what the edit is, so that it fits behind "with"; `{it}` is what stands there.
        rate: how many of a thousand such edits undid one of some 900 planted mistakes and 250 slips; a guess
            where none did. Those with a high rate are tried first.
    """

    edits: Callable[[Any, Scope], Edits]
    says: str
    rate: float


KINDS: Mapping[str, Kind] = {
    one.__name__: Kind(one, says, rate)
    for one, says, rate in (
        (axis, "another axis", 2.5),
        (broadcast, "columns and rows swapped", 0.7),
        (turned_over, "columns and rows swapped", 2),
        (fill, "another `other=`", 0.85),
        (mask, "another mask", 0.4),
        (unmasked, "a mask", 0.4),
        (mask_and_fill, "a mask", 0.2),
        (cast, "another cast, or none,", 0.45),
        (precision, "another precision of the product", 3),
        (transposed, "one more, or one less, tl.trans", 1.5),
        (loaded, "tl.load around a pointer", 0.5),
        (bound, "other bounds of the loop", 0.12),
        (atomic, "an atomic for the store, or a store for the atomic,", 1.3),
        (offset, "one more term in the address", 0.07),
        (block_start, "the program's number times its block", 0.5),
        (allocation, "another dtype, shape or start of what is allocated", 4),
        (returned, "something else returned", 8),
        (grid, "another grid", 0.6),
        (advanced, "one more line at the end of the loop, which keeps something,", 0.3),
        (restarted, "a pointer set back behind this line,", 4),
        (reordered, "this line and the next one, or what they assign, swapped,", 0.4),
        (other_axis, "the names of another axis", 1.5),
        (name, "another name than `{it}`", 0.25),
        (far_name, "another name than `{it}`", 0.07),
        (other_name, "another name than `{it}`", 0.04),
        (unread, "a name that nothing reads so far,", 4),
        (size_of_data, "another name than `{it}`", 0.4),
        (constant, "another number than `{it}`", 0.08),
        (flag, "the opposite of `{it}`", 2),
        (infinity, "another number than `{it}`", 0.8),
        (comparison, "another comparison than `{it}`", 0.45),
        (operator, "another operator in `{it}`", 0.05),
        (operands, "the operands of `{it}` swapped", 0.9),
        (regrouped, "other parentheses in `{it}`", 1.2),
        (dropped, "a part of `{it}` left out,", 0.6),
        (factor, "one more factor beside `{it}`", 0.05),
        (step, "one more factor beside `{it}`", 2),
        (value_factor, "one more factor beside `{it}`", 0.02),
        (term, "one more term beside `{it}`", 0.15),
        (rescaled, "what is kept rescaled in every turn", 0.6),
        (divided, "a division of `{it}`, or its remainder,", 0.28),
        (exchanged, "two names swapped", 0.8),
        (rounded_up, "the division rounded the other way", 4),
        (function, "another function than `{it}`", 3),
        (unwrapped, "one function call less", 0.65),
        (arguments, "two arguments swapped", 1.2),
        (pair, "two of `{it}` swapped", 0.5),
        (accumulation, "another kind of assignment, `=` or `+=`,", 0.9),
        (statement, "the line left out, or its condition fixed,", 0.6),
    )
}
