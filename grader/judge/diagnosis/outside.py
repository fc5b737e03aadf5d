"""What stands outside of kernels: launches, grids, and what a launcher chooses and hands over."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable

from grader.judge.diagnosis.site import assigned, functions, in_kernels, jitted, last, parameters

Where = Callable[[ast.Module, list[ast.AST]], set[int]]  # of a file, or of all that stands in a part of it


def each(fits: Callable[[ast.AST], bool]) -> Where:
    """The lines of the nodes that fit."""
    return lambda _, nodes: {node.lineno for node in nodes if fits(node) and hasattr(node, "lineno")}


def call(*names: str) -> Where:
    return each(lambda node: isinstance(node, ast.Call) and last(node.func) in names)


def outside(tree: ast.Module) -> list[ast.AST]:
    """All that stands in no kernel."""
    inside = {id(node) for node in in_kernels(tree)}
    return [node for node in ast.walk(tree) if id(node) not in inside]


def allocated(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where a call makes what is returned, under a name or in the return."""
    returned = [n.value for n in nodes if isinstance(n, ast.Return) and n.value]
    names = {n.id for value in returned for n in ast.walk(value) if isinstance(n, ast.Name)}
    return given_by_calls(names, nodes) or {value.lineno for value in returned}


def given_by_calls(names: set[str], nodes: Iterable[ast.AST]) -> set[int]:
    """The lines on which one of these is set to what a call gives: tl.zeros(…), torch.empty(…)."""
    set_to_call = (n for n in nodes if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call))
    return {n.lineno for n in set_to_call if assigned(n) & names}


def launch(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)


def grids(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where grids are made: at the launch, or under names that stand there."""
    launches = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)]
    return set().union(*(grid(launch, tree) for launch in launches))


def grid(launch: ast.Call, tree: ast.Module) -> set[int]:
    place = launch.func.slice if isinstance(launch.func, ast.Subscript) else launch
    names = {n.id for n in ast.walk(place) if isinstance(n, ast.Name)}
    own = (f for f in functions(tree) if any(n is launch for n in ast.walk(f)))
    known = [*tree.body, *(n for f in own for n in ast.walk(f))]  # not what another function calls so
    assignments = (n for n in known if isinstance(n, ast.Assign) and names & assigned(n))
    made = {n.lineno for n in assignments if not ast.unparse(n.value).endswith(".shape")}
    return {launch.lineno, place.lineno} | made


def kept(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where a forward() hands something to its backward()."""
    stored = each(
        lambda n: isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) and last(n.value) == "ctx"
    )
    return call("save_for_backward")(tree, nodes) | stored(tree, nodes)


def kept_elsewhere(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where something is kept that outlives a call: on a class, in a global, or by a cache."""
    stored = each(
        lambda n: (
            (isinstance(n, ast.Attribute | ast.Subscript) and isinstance(n.ctx, ast.Store))
            and last(n.value) != "ctx"
        )
    )
    cached = {f.lineno for f in functions(tree) if any("cache" in ast.unparse(by) for by in f.decorator_list)}
    return stored(tree, nodes) | each(lambda n: isinstance(n, ast.Global))(tree, nodes) | cached


def block_sizes(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where a launcher chooses a block; where none does, the blocks themselves."""
    return chosen("BLOCK", tree) or call("arange")(tree, [*in_kernels(tree)])


def by_dtype(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where a launcher compares or looks up a dtype, or its size."""
    asked = [n for n in nodes if isinstance(n, ast.Compare | ast.Subscript)]
    words = ("dtype", "itemsize", "element_size")
    return {
        n.lineno for n in asked if any(isinstance(m, ast.Attribute) and m.attr in words for m in ast.walk(n))
    }


def chosen(start: str, tree: ast.Module) -> set[int]:
    """Where names that start so get what is no other name, outside of kernels."""
    lines = set[int]()
    for node in outside(tree):
        if isinstance(node, ast.Assign) and any(name.startswith(start) for name in assigned(node)):
            lines.add(node.lineno)
        if isinstance(node, ast.keyword) and str(node.arg).startswith(start):
            lines |= set() if isinstance(node.value, ast.Name) else {node.lineno}
    return lines


def guards(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """The conditions under which something is launched."""
    return {n.lineno for n in nodes if isinstance(n, ast.If) and any(map(launch, ast.walk(n)))}


def skips(tree: ast.Module) -> set[int]:
    """Where a function that launches returns before it does, and the conditions under which it launches."""
    lines = guards(tree, [*outside(tree)])
    for launcher in (f for f in functions(tree) if not jitted(f) and any(map(launch, ast.walk(f)))):
        first = min(n.lineno for n in ast.walk(launcher) if isinstance(n, ast.Call) and launch(n))
        ifs = (n for n in ast.walk(launcher) if isinstance(n, ast.If) and n.lineno < first)
        lines |= {n.lineno for n in ifs if any(isinstance(m, ast.Return) for m in ast.walk(n))}
    return lines


def handed_as_strides(names: Collection[str], tree: ast.Module) -> set[int]:
    """Where a launch hands something over for the strides of these tensors, which kernels call stride_am; a
    starred argument is taken to be all of those of one tensor.
    """
    kernels = {function.name: [*parameters(function)] for function in functions(tree) if jitted(function)}
    lines = set[int]()
    for node in outside(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)):
            continue
        left = kernels.get(last(node.func.value), [])
        for given in node.args:
            alike = [name for name in left if name[:-1] == left[0][:-1]] if left else []
            taken = alike if isinstance(given, ast.Starred) else left[:1]
            left = left[len(taken) :]
            named = {stride[1] for name in taken if (stride := re.fullmatch(r"stride_(.+?)[a-z0-9]?", name))}
            lines |= {given.lineno} if named & {*names} else set()
    return lines


def handed_over(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where a launcher takes strides, and not where a function that launches nothing asks for them; in a file
    that takes none, where it launches.
    """
    launching = [[*ast.walk(f)] for f in functions(tree) if any(map(launch, ast.walk(f)))]
    inside = {id(node) for every in launching for node in every}
    taken = each(lambda n: isinstance(n, ast.Attribute) and n.attr == "stride")
    own = taken(tree, [node for node in nodes if id(node) in inside])
    return own or taken(tree, nodes) or each(launch)(tree, nodes)
