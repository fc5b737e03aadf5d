"""What stands in the learner's file where an exception was raised, and on the lines that led there."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

BODIES = (ast.stmt, ast.ExceptHandler, ast.match_case)  # where a statement can stand
LONGEST = 60  # characters of an expression that a sentence quotes


@dataclass(frozen=True)
class Site:
    """One line of the learner's file.

    Attributes:
        tree: the file.
        line: counted from 1.
        function: the innermost function around the line, None at the top of the file.
        nodes: all that stands in its statement; of a loop or a branch in its head.
    """

    tree: ast.Module
    line: int
    function: ast.FunctionDef | None
    nodes: list[ast.AST]

    @property
    def in_kernel(self) -> bool:
        """Whether @triton.jit stands above the function."""
        return self.function is not None and jitted(self.function)

    @property
    def parameters(self) -> dict[str, bool]:
        """Of the function: whether each is a tl.constexpr."""
        return parameters(self.function) if self.function else {}

    @property
    def launch(self) -> ast.Call | None:
        """`kernel[grid](…)`."""
        return next((call for call in self.calls() if isinstance(call.func, ast.Subscript)), None)

    def calls(self, *names: str) -> list[ast.Call]:
        """Calls of functions whose last part is one of these names; of all functions without names."""
        found = [node for node in self.nodes if isinstance(node, ast.Call)]
        return [call for call in found if not names or last(call.func) in names]


@dataclass(frozen=True)
class Scene:
    """Where an exception was raised, and the learner's lines that led there, innermost first."""

    here: Site
    callers: Sequence[Site]

    @property
    def launch(self) -> Site | None:
        """The line of the launch."""
        return next((place for place in [self.here, *self.callers] if place.launch), None)


# What must stand there for a sentence to be true. A finder takes the scene and the exception's words as they
# matched. It answers with what the sentence names, and with `line` where not the line that raised is to be
# changed; with None where it does not fit.
Found = dict[str, Any]
Finder = Callable[[Scene, re.Match[str]], Found | None]


def scene(tree: ast.Module, line: int, traceback: Sequence[str]) -> Scene:
    """The scene of an exception.

    Args:
        traceback: a runner_answers.Fault's.
    """
    frames = (re.match(r"line (\d+), in ", frame) for frame in reversed(traceback))
    lines = [int(frame[1]) for frame in frames if frame]
    return Scene(site(tree, line), [site(tree, number) for number in lines if number != line])


def site(tree: ast.Module, line: int) -> Site:
    """What stands on a line."""
    statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    around = [s for s in statements if _start(s) <= line <= (s.end_lineno or 0)]
    functions = [s for s in around if isinstance(s, ast.FunctionDef)]
    nodes = [*_head(around[-1])] if around else []
    return Site(tree, line, functions[-1] if functions else None, nodes)


def _start(statement: ast.stmt) -> int:
    """Its first line: a function begins with its decorators."""
    decorators = statement.decorator_list if isinstance(statement, ast.FunctionDef) else []
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _head(statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement's nodes without those of statements in it."""
    queue: list[ast.AST] = [statement]
    for node in queue:
        yield node
        queue += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]


def in_kernels(tree: ast.Module) -> Iterator[ast.AST]:
    """All that stands in the bodies of the file's kernels."""
    for kernel in functions(tree):
        for statement in kernel.body if jitted(kernel) else ():
            yield from ast.walk(statement)


def outside_kernels(tree: ast.Module) -> list[ast.AST]:
    """All that stands in no kernel."""
    inside = {id(node) for node in in_kernels(tree)}
    return [node for node in ast.walk(tree) if id(node) not in inside]


def launch(node: ast.AST) -> bool:
    """Whether it is `kernel[grid](…)`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)


def has_loop(tree: ast.Module) -> bool:
    """Whether a kernel of the file has one."""
    return any(isinstance(node, ast.For | ast.While) for node in in_kernels(tree))


def functions(tree: ast.AST) -> list[ast.FunctionDef]:
    """Its functions and those within, outer ones first; no expression has any."""
    every = [tree]
    for node in every:
        every += [child for child in ast.iter_child_nodes(node) if isinstance(child, BODIES)]
    return [node for node in every if isinstance(node, ast.FunctionDef)]


def function(tree: ast.AST, name: str) -> ast.FunctionDef | None:
    """The file's function of a name."""
    return next((node for node in functions(tree) if node.name == name), None)


def returns(node: ast.FunctionDef) -> list[ast.Return]:
    """Where it returns a value."""
    return [one for one in ast.walk(node) if isinstance(one, ast.Return) and one.value is not None]


def jitted(node: ast.FunctionDef) -> bool:
    return any("jit" in ast.unparse(decorator) for decorator in node.decorator_list)


def parameters(node: ast.FunctionDef) -> dict[str, bool]:
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return {a.arg: a.annotation is not None and "constexpr" in ast.unparse(a.annotation) for a in given}


def assigned(node: ast.AST) -> set[str]:
    """Names that get a value somewhere in it."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def unread(node: ast.FunctionDef) -> dict[str, int]:
    """Names that a function is given, or sets, and that nothing in it reads; where they first stand."""
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    places = {one.arg: one.lineno for one in given}
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    for one in names:
        places.setdefault(one.id, one.lineno)
    read = {one.id for one in names if isinstance(one.ctx, ast.Load)}
    return {name: line for name, line in places.items() if name not in read}


def last(node: ast.expr) -> str:
    """`load` of tl.load; empty where it is no name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def root(node: ast.expr) -> str:
    """`tl` of tl.load and of tl.math.exp; empty where it is no name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def quoted(node: ast.AST) -> str:
    """The expression as text, its end left out where it is long."""
    text = ast.unparse(node)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def loops_around(lines: Sequence[int], source: str) -> list[int]:
    """Where the loops begin that stand around any of these lines."""
    loops = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.For | ast.While))
    return sorted(
        {loop.lineno for loop in loops if any(loop.lineno <= at <= (loop.end_lineno or 0) for at in lines)}
    )


def stores_in_loops(source: str) -> bool:
    """Whether a kernel stores in a loop, as one does that takes several blocks."""
    nodes = in_kernels(ast.parse(source))
    stores = [n.lineno for n in nodes if isinstance(n, ast.Call) and last(n.func) == "store"]
    return bool(loops_around(stores, source))


def spelled(lines: Sequence[int]) -> str:
    """`line 18`, `lines 18, 19 and 26`."""
    if len(lines) == 1:
        return f"line {lines[0]}"
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
