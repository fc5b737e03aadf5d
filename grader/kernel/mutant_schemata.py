"""Many edits of a kernel in one compilation, of which one is chosen whenever it is evaluated.

Mutant schemata, after Untch, Offutt and Harrold, "Mutation analysis using mutant schemata", 1993. Behind a
statement the front end visits what may stand in its place. Each value that comes of that is the second
operand of an `arith.select`, whose condition holds a program's number against one that no program has. Which
condition is taken for true decides what a machine runs.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest import mock

from triton import language
from triton.compiler.code_generator import CodeGenerator
from triton.runtime.jit import JITFunction

from grader.kernel import frontend
from grader.kernel.batch import Batch
from grader.kernel.evaluator import Machine, Step
from grader.kernel.ttir import Operation, operations
from grader.kernel.ttir_parser import LEAVES

NUMBERED = 1 << 30  # below minus this lies what stands for an edit's number: no program's is negative
EFFECTS = ("tt.store", "tt.atomic", "tt.assert", "tt.print", "tt.call", "scf.", "cf.")
HELD = "_held_{}_{}"  # the name of an operand that has others beside it, by its line and place
_MARKS = itertools.count()


@dataclass(frozen=True)
class Edit:
    """What may stand in the place of a statement.

    Attributes:
        number: from 1, of its own.
        function: the kernel, or what a kernel calls.
        line: of the file, where the statement begins.
        text: of the statement, or the statements, that take its place.
    """

    number: int
    function: str
    line: int
    text: str


class Schemata:
    """The edits of some kernels, compiled with them.

    Attributes:
        refused: those that the compiler does not take.
        chosen: the one that machines run; 0 for the kernel as it is.
    """

    def __init__(self, edits: list[Edit]) -> None:
        self.edits, self.refused, self.chosen = edits, set[int](), 0
        self._selections: dict[Machine, Selection] = {}
        self.renew()

    def renew(self) -> None:
        """Have all compiled again, without those that were refused."""
        self._known = {one.number for one in self.edits} - self.refused
        self._mark = next(_MARKS)

    def following(self, plain: Machine) -> Machine:
        """The machine, which runs the edit that is chosen."""
        if plain not in self._selections:
            self._selections[plain] = Selection(plain)
        self._selections[plain].choose(self.chosen)
        return plain

    @property
    def compiled(self) -> set[int]:
        """The edits that machines can run."""
        return {number for one in self._selections.values() for number in one.numbers.values()}

    @contextlib.contextmanager
    def planted(self, functions: dict[str, JITFunction[Any]]) -> Iterator[None]:
        """While the block runs, the front end visits these edits of these functions, too."""
        names = {one.function for one in self.edits if one.function in functions}
        sources = {name: functions[name].src for name in names}
        for name, source in sources.items():
            text = f"{source}\n# {self._mark}"  # what is compiled is kept by its text
            if text not in frontend._trees:
                frontend._trees[text] = self._annotated(functions[name], name)
            functions[name]._unsafe_update_src(text)
        try:
            with _wrapped("visit_Assign", self._visit), _wrapped("visit_AugAssign", self._visit):
                yield
        finally:
            for name, source in sources.items():
                functions[name]._unsafe_update_src(source)

    def _annotated(self, function: JITFunction[Any], name: str) -> ast.Module:
        """The function's tree, in which statements have their edits."""
        tree: ast.Module = ast.parse(function.src)
        before = frontend.begins(function) - 1
        edits: dict[int, list[tuple[int, list[ast.stmt]]]] = {}
        for edit in self.edits:
            if edit.function == name and edit.number in self._known:
                try:
                    body = ast.parse(textwrap.dedent(edit.text)).body
                except SyntaxError:
                    self.refused.add(edit.number)
                    continue
                for one in body:
                    ast.increment_lineno(one, edit.line - before - 1)
                edits.setdefault(edit.line - before, []).append((edit.number, body))
        for node in ast.walk(tree):
            for block in ("body", "orelse"):
                if isinstance(getattr(node, block, None), list):
                    held = [_held(one, edits.get(one.lineno, [])) for one in getattr(node, block)]
                    setattr(node, block, [each for several in held for each in several])
        return tree

    def _visit(self, stock: Callable[..., Any], front_end: CodeGenerator, node: Any) -> Any:
        """A statement, then its edits."""
        edits: list[tuple[int, list[ast.stmt]]] = getattr(node, "edits", [])
        if not edits:
            return stock(front_end, node)
        scope, before = front_end.lscope, dict(front_end.lscope)
        stock(front_end, node)
        after = dict(scope)
        names = _stored([node]) | (stored_by_edits(node) & before.keys())
        values = {name: after[name] for name in names}
        for number, statements in edits:
            scope.clear()
            scope.update(before)
            here = front_end._get_insertion_point_and_loc()
            try:
                for statement in statements:
                    front_end.visit(statement)
            except Exception:
                self.refused.add(number)
                front_end._set_insertion_point_and_loc(*here)
                continue
            made = {name: scope.get(name) for name in names}
            if _stored(statements) <= names and all(_alike(made[name], values[name]) for name in names):
                values = {name: _chosen(front_end, number, made[name], values[name]) for name in names}
        scope.clear()
        scope.update(after)
        for name, value in values.items():
            front_end.set_value(name, value)
        return None


def _wrapped(name: str, visit: Callable[..., Any]) -> Any:
    stock = getattr(CodeGenerator, name)
    return mock.patch.object(CodeGenerator, name, lambda front_end, node: visit(stock, front_end, node))


def stored_by_edits(node: ast.AST) -> set[str]:
    """The names that edits of a statement set, which are none of its tree."""
    return _stored([each for _, body in getattr(node, "edits", []) for each in body])


def _stored(statements: list[ast.stmt]) -> set[str]:
    every = (node for statement in statements for node in ast.walk(statement))
    return {node.id for node in every if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _alike(one: Any, other: Any) -> bool:
    """Whether they are tensors of one type."""
    return isinstance(one, language.tensor) and isinstance(other, language.tensor) and one.type == other.type


def _chosen(front_end: CodeGenerator, number: int, one: Any, other: Any) -> Any:
    """The one value where this edit is chosen, and otherwise the other."""
    if one.handle is other.handle:
        return other
    builder = front_end.builder
    condition = builder.create_icmpEQ(builder.create_get_program_id(0), builder.get_int32(-NUMBERED - number))
    return language.tensor(builder.create_select(condition, one.handle, other.handle), other.type)


def _held(statement: ast.stmt, edits: list[tuple[int, list[ast.stmt]]]) -> list[ast.stmt]:
    """The statement with its edits; an access, or a return, with its operands assigned before it."""
    if isinstance(statement, ast.Assign | ast.AugAssign):
        statement.edits = edits  # type: ignore[union-attr]
        return [statement]
    parts, held = _operands(statement), list[ast.stmt]()
    for place, part in parts.items():
        name = HELD.format(statement.lineno, place)
        others = [
            (n, _operands(body[0])) for n, body in edits if len(body) == 1 and _like(body[0], statement)
        ]
        mine = [
            (n, [_assigned(name, by[place])]) for n, by in others if ast.dump(by[place]) != ast.dump(part)
        ]
        if mine:
            held.append(_assigned(name, part))
            held[-1].edits = mine  # type: ignore[attr-defined]
            _put(statement, place, ast.copy_location(ast.Name(name, ast.Load()), part))
    return [*held, statement]


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    to = ast.copy_location(ast.Name(name, ast.Store()), value)
    return ast.copy_location(ast.Assign([to], value), value)


def _operands(statement: ast.stmt) -> dict[str, ast.expr]:
    """The arguments of an access by place or keyword, or what is returned."""
    value: Any = getattr(statement, "value", None)
    if isinstance(statement, ast.Return) and value is not None and not isinstance(value, ast.Tuple):
        return {"value": value}
    called = value.func.attr if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else ""
    if isinstance(statement, ast.Expr) and (called == "store" or called.startswith("atomic_")):
        named = {each.arg: each.value for each in value.keywords if each.arg}
        every = {**{str(n): each for n, each in enumerate(value.args)}, **named}
        return {place: each for place, each in every.items() if not isinstance(each, ast.Constant)}
    return {}


def _like(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether two statements are the same access of other operands, or both return."""
    if _operands(one).keys() != _operands(other).keys():
        return False
    of = [
        ast.dump(each.value.func)
        for each in (one, other)
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)
    ]
    return isinstance(other, ast.Return) or len(set(of)) == 1


def _put(statement: ast.stmt, place: str, name: ast.Name) -> None:
    value: Any = statement.value  # type: ignore[attr-defined]
    if isinstance(statement, ast.Return):
        statement.value = name
    elif place.isdigit():
        value.args[int(place)] = name
    else:
        next(each for each in value.keywords if each.arg == place).value = name


class Selection:
    """Which steps of a machine run when an edit is chosen.

    Attributes:
        numbers: of the edits that it holds, by the slots of their conditions.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine, self.chosen = machine, -1
        every = list(operations(machine.program))
        self.made = {out: one for one in every for out in one.outs}
        low = {one.outs[0]: _constant(one) for one in every if one.name == "arith.constant"}
        self.numbers: dict[int, int] = {}
        for one in every:
            numbers = [-low[slot] - NUMBERED for slot in one.ins if low.get(slot, 0) < -NUMBERED]
            if one.name == "arith.cmpi" and numbers:
                self.numbers[one.outs[0]] = numbers[0]
        made, code = machine.made, machine.code
        self.blocks = {number: [(made[id(step)], step) for step in steps] for number, steps in code.items()}
        self.roots = [one for one in every if one.name.startswith(EFFECTS) or one.name in LEAVES]
        self.needs = {id(one): self._needs(one) for one in every}

    def _needs(self, one: Operation) -> list[Operation]:
        """What makes what an operation reads, and what belongs to it."""
        slots = [*one.ins, *(slot for _, given in one.next for slot in given)]
        inside = operations(one) if one.regions and not one.name.startswith("scf.") else ()
        return [*self._made(*slots), *inside]

    def _made(self, *slots: int) -> list[Operation]:
        return [self.made[slot] for slot in slots if slot in self.made]

    def choose(self, chosen: int) -> None:
        """From now on the machine runs this edit, and nothing that only others need."""
        chosen = chosen if chosen in self.numbers.values() else 0
        if chosen == self.chosen:
            return
        self.chosen, live, waiting = chosen, set[int](), list(self.roots)
        while waiting:
            one = waiting.pop()
            if id(one) not in live:
                live.add(id(one))
                taken = self._taken(one) if one.name == "arith.select" else None
                waiting += self.needs[id(one)] if taken is None else self._made(taken)
        for number, steps in self.blocks.items():
            self.machine.code[number] = [self._step(one, step) for one, step in steps if id(one) in live]

    def _taken(self, one: Operation) -> int | None:
        """Of an edit's select the operand that is chosen."""
        number = self.numbers.get(one.ins[0])
        return None if number is None else one.ins[1 if number == self.chosen else 2]

    def _step(self, one: Operation, step: Step) -> Step:
        number = self.numbers.get(one.outs[0]) if one.outs else None
        if number is not None:  # of a select of two constants a pass makes an extension of its condition
            return partial(_decided, step, one.outs[0], number == self.chosen)
        taken = self._taken(one) if one.name == "arith.select" else None
        return step if taken is None else partial(_copied, one.outs[0], taken)


def _copied(to: int, of: int, batch: Batch) -> None:
    batch[to] = batch[of]


def _decided(step: Step, to: int, value: bool, batch: Batch) -> None:
    step(batch)
    batch[to] = batch[to] | value


def _constant(operation: Operation) -> int:
    """An integer's value; 0 of anything else."""
    word = operation.text.split(" ")[1] if " " in operation.text else ""
    return int(word) if word.lstrip("-").isdigit() else 0
