"""Where in the learner's file stands what a diagnosis says to look at: the lines behind its words."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from grader.judge.diagnosis.site import functions, in_kernels, jitted, last
from grader.judge.diagnosis.source import EXPONENTIALS

MOST = 4  # lines; more are no place to look at

Is = Callable[[ast.AST], bool]


def _call(*names: str) -> Is:
    return lambda node: isinstance(node, ast.Call) and last(node.func) in names


def _given(name: str) -> Is:
    return lambda node: isinstance(node, ast.keyword) and node.arg == name


def _named(pattern: str) -> Is:
    return lambda node: isinstance(node, ast.Name) and re.search(pattern, node.id) is not None


def _operator(*kinds: type[ast.operator]) -> Is:
    return lambda node: isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, kinds)


def _launch(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)


def _mask(node: ast.AST) -> bool:
    """A mask where it is made: in the access, or under a name that says so."""
    if isinstance(node, ast.keyword):
        return node.arg == "mask" and not isinstance(node.value, ast.Name)
    return isinstance(node, ast.Assign) and any("mask" in ast.unparse(target) for target in node.targets)


STORES = ("store", "atomic_add", "atomic_max", "atomic_min")
# What a look_at speaks of, and what of a kernel that is.
IN_KERNELS: tuple[tuple[str, Is], ...] = (
    ("other=", _given("other")),
    (r"\bmasks?\b", _mask),
    ("tl.program_id|program's number", _call("program_id")),
    ("rescale", _operator(ast.Mult)),
    (r"\bexp\b|-inf|\+inf", _call(*EXPONENTIALS)),
    ("maximum", _call("max", "maximum")),
    ("NaN", _call("max", "min", "maximum", "minimum", "where")),
    (r"\bsums?\b|reduction|accumulator", _call("sum", "dot", "reduce")),
    ("divi", _operator(ast.Div)),
    (r"\bscale\b", _named("scale")),
    (r"cast|\.to\(|dtype", _call("to")),
    ("stride", _named("stride")),
    (r"\boffsets?\b|block size|start of", _call("arange")),
    (r"\bloops?\b|comes back to|carries", lambda node: isinstance(node, ast.For | ast.While)),
    ("loads?|read before", _call("load")),
    (r"stored?\b|element|formula|factor|constant|result", _call(*STORES)),
)
# And what of the rest of the file.
OUTSIDE: tuple[tuple[str, Is], ...] = (
    (r"\bgrid\b|launch\b|hands over", _launch),
    ("torch.empty|allocation|memory", _call("empty", "empty_like", "new_empty")),
    ("launcher", _launch),
    ("prune_configs_by", _given("prune_configs_by")),
    ("key=", _given("key")),
    ("autotuner|configs$", _call("autotune")),
    ("returns?", lambda node: isinstance(node, ast.Return)),
)


def pointed(look_at: str, source: str) -> str:
    """`the mask of the store: line 14`; as it came where it names a line, or the file has no such thing."""
    if not look_at or re.search(r"\blines? \d", look_at):
        return look_at
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return look_at
    kernels = [*in_kernels(tree)]
    inside = {id(node) for node in kernels}
    outside = [node for node in ast.walk(tree) if id(node) not in inside]
    found = [*_behind(look_at, IN_KERNELS, kernels), *_behind(look_at, OUTSIDE, outside)]
    several = sorted(set().union(*found))
    lines = (
        several if len(several) <= MOST else next((sorted(each) for each in found if len(each) <= MOST), [])
    )
    if lines:
        return f"{look_at}: {_spelled(lines)}"
    launcher = any(re.search(pattern, look_at) for pattern, _ in OUTSIDE)
    only = [function for function in functions(tree) if jitted(function) != launcher]
    places = [f"{each.name}, from line {each.lineno} on" for each in only[:MOST]]
    return f"{look_at}: in {' and in '.join(places)}" if places else look_at


def _behind(look_at: str, words: tuple[tuple[str, Is], ...], nodes: list[ast.AST]) -> Iterator[set[int]]:
    """The lines of each word that stands there, where the file has some."""
    for pattern, fits in words:
        if re.search(pattern, look_at):
            lines = {node.lineno for node in nodes if fits(node) and hasattr(node, "lineno")}
            if lines:
                yield lines


def _spelled(lines: list[int]) -> str:
    if len(lines) == 1:
        return f"line {lines[0]}"
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
