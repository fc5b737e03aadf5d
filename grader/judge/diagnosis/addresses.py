"""How the file's kernels make the addresses that they load from and store to, line by line."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from grader.judge.diagnosis.site import functions, jitted, last, parameters
from grader.judge.diagnosis.source import keyword

WORDS = ("load", "store", "atomic_add", "atomic_max", "atomic_min")
Lines = dict[int, set[str]]  # with the names that stand on each


VALUES = "load", "rand", "rand4x", "randint", "randint4x"  # what gives values that no address has


@dataclass(frozen=True)
class Address:
    """The address of one load, store or atomic.

    Attributes:
        line: of the access.
        pointers: parameters of the kernel that it is made of, and that are called pointers.
        names: all that it is made of.
        declared: the strides that the kernel has for these pointers: stride_xm for x_ptr.
        near: the lines on which something is added to a pointer.
        far: the lines on which an offset is made as a product with a name.
        masked: the access has a mask.
        block: it is made of a tl.arange.
    """

    kind: str
    line: int
    pointers: set[str]
    names: set[str]
    declared: set[str]
    near: Lines
    far: Lines
    masked: bool
    block: bool


@dataclass(frozen=True)
class Part:
    """An expression that an address is made of: in the access, or what a name is set to."""

    line: int
    sets: set[str]
    value: ast.expr
    adds: bool  # to what the name holds: +=

    @property
    def names(self) -> set[str]:
        names = {n.id for n in ast.walk(self.value) if isinstance(n, ast.Name)}
        return names | (self.sets if self.adds else set())

    def has(self, *words: str) -> bool:
        return any(isinstance(n, ast.Call) and last(n.func) in words for n in ast.walk(self.value))

    @property
    def product(self) -> bool:
        """Whether a product stands in it, of two things that are no plain numbers."""
        times = [n for n in ast.walk(self.value) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)]
        return any(not any(isinstance(side, ast.Constant) for side in (n.left, n.right)) for n in times)


def addresses(tree: ast.AST) -> list[Address]:
    """Of all accesses in the file's kernels."""
    return [address for kernel in functions(tree) if jitted(kernel) for address in _of(kernel)]


def unstrided(tree: ast.AST, *kinds: str) -> set[int]:
    """The lines that move an address which lacks a stride of its tensor; if some name none, those alone."""
    lines: set[int] = set()
    for address in addresses(tree):
        if address.kind in kinds and address.declared - address.names:
            wide = {line: names for line, names in address.near.items() if len(names) > 2}
            lines |= _without(address.far) or _without(wide) or set(address.near)
    return lines


def passed_on(pointer: str, tree: ast.Module) -> set[int]:
    """The lines on which a kernel hands a pointer, or an address made of it, to a function of its own."""
    lines = set[int]()
    for kernel in filter(jitted, functions(tree)):
        made = [part for part in assignments(kernel) if not isinstance(part.value, ast.Call)]
        held = _on_the_way({pointer} & parameters(kernel).keys(), made)
        calls = (n for n in ast.walk(kernel) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))
        lines |= {n.lineno for n in calls if any(_names(given) & held for given in n.args)}
    return lines


def formed(tree: ast.Module, lines: Collection[int]) -> set[int]:
    """The lines on which what is stored on these lines is computed; those themselves, where it is there."""
    found = set[int]()
    for kernel in filter(jitted, functions(tree)):
        stores = (n for n in ast.walk(kernel) if isinstance(n, ast.Call) and n.lineno in lines)
        for call in (n for n in stores if last(n.func) in WORDS[1:] and len(n.args) > 1):
            found.add(_formed(call.args[1], call.lineno, [*assignments(kernel)]))
    return found or {*lines}


def _formed(value: ast.expr, line: int, given: list[Part]) -> int:
    """The line on which a value is computed that is read on this one, cast and shaped as it may be since."""
    while True:
        if isinstance(value, ast.Subscript):
            value = value.value
        elif (
            isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "to"
        ):
            value = value.func.value
        elif made := [part for part in given if last(value) in part.sets and part.line < line]:
            value, line = max(made, key=lambda part: part.line).value, max(part.line for part in made)
        else:
            return line


def _names(node: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _without(lines: Lines) -> set[int]:
    return {line for line, names in lines.items() if not any("stride" in name for name in names)}


def strided(tree: ast.AST, kind: str) -> set[int]:
    """The lines that move an address by a stride which the kernel does not have for that tensor."""
    return {
        line
        for address in addresses(tree)
        if address.kind == kind
        for line, names in {**address.far, **address.near}.items()
        if any("stride" in name for name in names - address.declared)
    }


def _of(kernel: ast.FunctionDef) -> Iterator[Address]:
    known, given = parameters(kernel), [*assignments(kernel)]
    pointers = {name for name, constant in known.items() if "ptr" in name and not constant}
    for call in ast.walk(kernel):
        if not (isinstance(call, ast.Call) and last(call.func) in WORDS and call.args):
            continue
        parts = parts_of(Part(call.lineno, set(), call.args[0], False), given)
        names = set().union(*(part.names for part in parts))
        stems = [name.replace("_ptr", "").removesuffix("s") for name in pointers & names]
        held = _on_the_way(pointers, parts)
        near = [part for part in parts if part.names & held]
        far = [part for part in parts if part not in near and part.product and not part.has("arange")]
        yield Address(
            last(call.func),
            call.lineno,
            pointers & names,
            names,
            {name for name in known if any(stem and name.startswith(f"stride_{stem}") for stem in stems)},
            {part.line: part.names for part in near},
            {part.line: part.names for part in far},
            keyword(call, "mask") is not None or len(call.args) > (1 if last(call.func) == "load" else 2),
            any(part.has("arange") for part in parts),
        )


def assignments(kernel: ast.AST) -> Iterator[Part]:
    """What its names are set to."""
    for node in ast.walk(kernel):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
            yield Part(node.lineno, named, node.value, isinstance(node, ast.AugAssign))


MASK = {"load": 1, "store": 2}  # which argument it is


def decided(source: str, line: int) -> bool:
    """Whether the mask of an access on this line is made of what was loaded or drawn before."""
    return _by_values(source, line, lambda call: call.args[MASK[last(call.func)] :][:1], "mask")


def placed(source: str, line: int) -> bool:
    """Whether the address of an access on this line is."""
    return _by_values(source, line, lambda call: call.args[:1], "pointer")


def _by_values(source: str, line: int, given: Callable[[ast.Call], list[ast.expr]], keyword: str) -> bool:
    for kernel in (one for one in functions(ast.parse(source)) if jitted(one)):
        known = [*assignments(kernel)]
        for call in (node for node in ast.walk(kernel) if isinstance(node, ast.Call)):
            if last(call.func) in MASK and call.lineno <= line <= (call.end_lineno or 0):
                named = [word.value for word in call.keywords if word.arg == keyword]
                behind = [Part(line, set(), made, adds=False) for made in named or given(call)]
                while more := [p for p in known if p not in behind and any(p.sets & b.names for b in behind)]:
                    behind += more
                if any(part.has(*VALUES) for part in behind):
                    return True
    return False


def parts_of(access: Part, given: list[Part]) -> list[Part]:
    """The access and all assignments behind it, but those of loaded values: what is loaded is no address."""
    found, left = [access], [part for part in given if not part.has("load")]
    while more := [part for part in left if any(part.sets & one.names for one in found)]:
        found, left = found + more, [part for part in left if part not in more]
    return found


def _on_the_way(pointers: set[str], parts: list[Part]) -> set[str]:
    """The pointers, and the names of what is made of them."""
    held = set(pointers)
    while more := {name for part in parts if part.names & held for name in part.sets} - held:
        held |= more
    return held
