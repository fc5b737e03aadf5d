"""The names of one function by what they hold: pointers, strides, sizes, masks, offsets, values."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeGuard, TypeVar

from grader.diagnosis.source_context import unread

Node = TypeVar("Node", bound=ast.AST)
NO_OPERANDS = ("", "mask", "tensor")
MAKES = ("store", "zeros", "full", "range", "cdiv", "")
INTEGERS = ("program", "offsets", "size", "constexpr", "stride", "scalar")
VALUES = ("load(", "dot(", "exp", "zeros(", "full(", "sum(")  # what a kernel makes values with
TENSORS = ("torch.", "empty", "zeros", ".contiguous")  # and a launcher tensors
MASKS = 24


def name_of(node: ast.AST) -> str:
    """The last part of what a call calls: load for tl.load(…); empty for anything else."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def is_read(node: Any) -> TypeGuard[ast.Name]:
    """Whether it is a name whose value is read."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def names(node: ast.AST, use: type[ast.expr_context]) -> set[str]:
    """Those that are read in it, or set."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, use)}


def alike(one: str, other: str) -> bool:
    """Whether two names are one letter or one word apart."""
    words, others = one.split("_"), other.split("_")
    letter = len(one) == len(other) and sum(map(str.__ne__, one, other)) == 1
    return letter or (len(words) == len(others) > 1 and sum(map(str.__ne__, words, others)) == 1)


def changed(node: Node, **fields: Any) -> Node:
    """A copy of this node alone, with other fields."""
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def given(call: ast.Call, **words: str) -> ast.Call:
    """The call with these keyword arguments, and its others."""
    kept = [each for each in call.keywords if each.arg not in words]
    return changed(call, keywords=[*kept, *(ast.keyword(word, parsed(text)) for word, text in words.items())])


def is_access(node: ast.AST) -> bool:
    """Whether it is a load, a store or an atomic."""
    return name_of(node) in ("load", "store") or name_of(node).startswith("atomic_")


def parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def spelled(node: ast.AST) -> str:
    return ast.unparse(node)


class Scope:
    """The names of a function.

    Args:
        constants: of the file, which the function may use.

    Attributes:
        kernel: it is compiled, and no launcher.
        language: the module whose `cdiv` it calls.
        stored: names that it assigns.
        blocks_of_rows: it has blocks with two axes.
        unread: names that it sets or is given, and that nothing reads.
        loops: that it runs.
    """

    def __init__(self, function: ast.FunctionDef, constants: Sequence[str] = ()) -> None:
        self.kernel = any("jit" in spelled(each) for each in function.decorator_list)
        self.language = "tl" if self.kernel else "triton"
        self.blocks_of_rows = self.kernel and "[:, None]" in spelled(function)
        self._sorts: dict[str, str] = dict.fromkeys(constants, "scalar")
        self._conditions: list[str] = []
        self.stored: dict[str, int] = {}
        self._counted = {
            name.id
            for node in ast.walk(function)
            if isinstance(node, ast.Compare)
            or name_of(node) in ("range", "static_range", "cdiv", "arange", "min", "max")
            for name in ast.walk(node)
            if isinstance(name, ast.Name)
        }
        written = (one.value for one in ast.walk(function) if isinstance(one, ast.Constant))
        self._integers = [str(one) for one in dict.fromkeys(written) if type(one) is int and one > 1]
        calls = (node for node in ast.walk(function) if isinstance(node, ast.Call) and node.args)
        self._pointers = {_leftmost(call.args[0]) for call in calls if is_access(call)}
        for parameter in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]:
            self._sorts[parameter.arg] = self._of_parameter(parameter)
        for node in ast.walk(function):
            self._note(node)
        self.loops = [node for node in ast.walk(function) if isinstance(node, ast.For | ast.While)]
        self.unread = [name for name in unread(function) if name in self._sorts]
        self._parents = {child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
        bodies = (
            body
            for node in ast.walk(function)
            for body in (getattr(node, "body", []), getattr(node, "orelse", []))
        )
        self._next = {
            one: other for body in bodies if isinstance(body, list) for one, other in pairwise(body)
        }

    def _of_parameter(self, parameter: ast.arg) -> str:
        name = parameter.arg
        if not self.kernel:
            return "size" if _is_scalar(parameter) else "tensor"
        if "constexpr" in spelled(parameter.annotation or ast.Constant("")):
            return "constexpr"
        if "ptr" in name or name in self._pointers:
            return "pointer"
        if "stride" in name:
            return "stride"
        if "pid" in name or "offs" in name:  # of what a kernel calls
            return "program" if "pid" in name else "offsets"
        return "size" if name in self._counted else "scalar"

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Compare):
            self._conditions.append(spelled(node))
        pairs: list[tuple[Any, ast.AST]] = []
        if isinstance(node, ast.Assign):
            for to in node.targets:
                if isinstance(to, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs += zip(to.elts, node.value.elts, strict=False)
                else:
                    pairs.append((to, node.value))
        if isinstance(node, ast.AugAssign | ast.AnnAssign) and node.value:
            pairs.append((node.target, node.value))
        if isinstance(node, ast.For):
            pairs.append((node.target, parsed("tl.program_id(0)")))  # a number alike: it counts blocks
        for to, value in pairs:
            names = to.elts if isinstance(to, ast.Tuple) else [to]
            for name in names:
                if isinstance(name, ast.Name):
                    self.stored.setdefault(name.id, name.lineno)
                    self._sorts.setdefault(name.id, self._of_value(value))

    def _of_value(self, value: ast.AST) -> str:
        text = spelled(value)
        if not self.kernel:
            return "tensor" if any(word in text for word in TENSORS) else "size"
        if isinstance(value, ast.Name):
            return self._sorts.get(value.id, "value")
        if isinstance(value, ast.Compare) or (
            isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitAnd | ast.BitOr)
        ):
            return "mask"
        if any(word in text for word in VALUES):
            return "value"
        if "program_id" in text and "arange" not in text:
            return "program"
        sorts = {self._sorts.get(n.id, "") for n in ast.walk(value) if isinstance(n, ast.Name)}
        if "pointer" in sorts:
            return "pointer"
        if "arange" in text or "offsets" in sorts:
            return "offsets"
        if "value" in sorts:
            return "value"
        return "program" if "program" in sorts else "scalar" if "scalar" in sorts else "size"

    def sort(self, name: str) -> str:
        """`pointer`, `stride`, `size`, `constexpr`, `program`, `offsets`, `mask`, `value` or `tensor`."""
        return self._sorts.get(name, "")

    def of(self, sort: str) -> list[str]:
        return [name for name, one in self._sorts.items() if one == sort]

    def like(self, name: str) -> list[str]:
        """Others of its sort."""
        return [other for other in self.of(self.sort(name)) if other != name] if self.sort(name) else []

    def beside(self, node: ast.AST) -> list[str]:
        """The names that an expression may be multiplied by, added to, or exchanged for."""
        if not self.kernel:
            return self.of("size") + self.of("scalar")
        if self.is_float(node):
            return self.of("value") + self.of("scalar")
        return [name for sort in INTEGERS for name in self.of(sort)]

    def is_float(self, node: ast.AST) -> bool:
        """Whether an expression holds values, and no offsets."""
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and self.sort(one.id) in ("value", "scalar"):
                return True
            if isinstance(one, ast.Constant) and isinstance(one.value, float):
                return True
            if name_of(one) in ("load", "dot", "exp", "exp2", "sum"):
                return True
        return False

    def is_value(self, node: ast.AST) -> bool:
        """Whether an expression is made of values alone, and no part of it says where they lie."""
        return self.kernel and self.is_float(node) and not any(map(is_access, ast.walk(node)))

    def masks(self) -> list[str]:
        """Conditions: those with a name, those that the function writes, and offsets held against sizes."""
        bounds = [
            f"{at} < {size}" for at in self.of("offsets") for size in self.of("size") if size in self._counted
        ]
        bounds += [f"{at} >= 0" for at in self.of("offsets")]
        return list(dict.fromkeys([*self.of("mask"), *self._conditions, *bounds]))[:MASKS]

    def sizes(self) -> list[str]:
        """What a number may be divided by: sizes, and the integers that the function writes."""
        return self.of("size") + self._integers

    def blocks(self) -> list[str]:
        """What a launcher calls its blocks, and numbers that it hands over under their names."""
        return [name for name in self._sorts if name.isupper()]

    def allocated(self) -> list[str]:
        return [name for name in self.of("tensor") if name in self.stored]

    def resets(self, node: ast.AST) -> bool:
        """Whether it assigns a name that an earlier line has assigned."""
        name = node.targets[0] if isinstance(node, ast.Assign) else None
        return isinstance(name, ast.Name) and self.stored.get(name.id, name.lineno) < name.lineno

    def is_pointer(self, node: ast.AST) -> bool:
        """Whether an expression is an address."""
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, ast.Add | ast.Sub) and (
                self.is_pointer(node.left) or self.is_pointer(node.right)
            )
        return is_read(node) and self.sort(node.id) == "pointer"

    def reads(self, node: ast.AST) -> bool:
        """Whether an address stands where it is neither accessed nor part of a longer one."""
        parent = self._parents.get(node)
        return not isinstance(parent, ast.Call) and not (
            isinstance(parent, ast.BinOp) and self.is_pointer(parent)
        )

    def next(self, node: ast.AST) -> Any:
        """The statement after a statement in its block."""
        return self._next.get(node)

    def whole(self, node: ast.AST) -> ast.AST:
        """The expression that it is part of."""
        while isinstance(parent := self._parents.get(node), ast.expr):
            node = parent
        return node

    def moved(self, loop: ast.AST | None) -> set[str]:
        """The pointers that a loop moves."""
        inside = ast.walk(loop) if loop in self.loops and loop else ()
        to = [one.target for one in inside if isinstance(one, ast.AugAssign)]
        return {one.id for one in to if isinstance(one, ast.Name) and self.sort(one.id) == "pointer"}

    def ended_by(self, node: ast.AST) -> ast.AST | None:
        """The loop, the branch or the function whose body ends with this statement."""
        parent = self._parents.get(node)
        body = getattr(parent, "body", None)
        return parent if isinstance(body, list) and body[-1] is node else None

    def is_operand(self, node: ast.AST) -> bool:
        """Whether a factor or a term may be missing here: a whole value, an argument, a part of a sum."""
        if not isinstance(node, ast.Name | ast.BinOp | ast.Subscript | ast.Call) or self.is_pointer(node):
            return False
        if isinstance(node, ast.Name) and not (is_read(node) and self.sort(node.id) not in NO_OPERANDS):
            return False
        if isinstance(node, ast.Call) and (name_of(node) in MAKES or name_of(node).startswith("atomic")):
            return False
        parent = self._parents.get(node)
        if isinstance(parent, ast.Assign | ast.AugAssign | ast.Return | ast.Tuple):
            return True
        if isinstance(parent, ast.BinOp):
            return isinstance(parent.op, ast.Add | ast.Sub | ast.Div)
        return (
            isinstance(parent, ast.Call)
            and node in parent.args
            and name_of(parent) not in ("zeros", "full", "arange", "program_id")
        )


def _is_scalar(parameter: ast.arg) -> bool:
    note = spelled(parameter.annotation) if parameter.annotation else ""
    return note.startswith(("int", "float", "bool", "str"))


def _leftmost(node: ast.AST) -> str:
    """The name that an address begins with."""
    while isinstance(node, ast.BinOp):
        node = node.left
    return node.id if isinstance(node, ast.Name) else ""
