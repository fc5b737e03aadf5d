"""On which lines of the learner's file stands what a diagnosis says to look at.

A sentence that comes with its line keeps it. Of a few words, such as "the grid" or "the loop", the lines are
looked up in the source. Lines that are handed out are never named, and where many lines fit, none is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable

from grader.diagnosis.launch_record import NOBODY, Involved
from grader.diagnosis.pointer_expressions import formed, strides_of
from grader.diagnosis.skeleton import to_do
from grader.diagnosis.source_context import (
    assigned,
    function,
    functions,
    in_kernels,
    jitted,
    last,
    launch,
    outside_kernels,
    spelled,
    unread,
)

MOST = 4  # lines; more are no place to look at
FEW = 2  # lines, or names: of more nobody knows which
PLACES = 2  # functions
STORES = ("store", "atomic_add", "atomic_max", "atomic_min")
Where = Callable[[ast.Module, list[ast.AST]], set[int]]  # of a file, and of all that stands in a part of it


def pointed(look_at: str, source: str, given: frozenset[int] = frozenset(), part: Involved = NOBODY) -> str:
    """`the mask of the store: line 14`; as it came where it names a line, or nothing is known of the file.

    Args:
        given: lines that are handed out.
        part: what took part in what failed.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return look_at
    if not look_at or re.search(r"(?<!from )\blines? \d", look_at):
        return look_at
    sound = frozenset().union(*(_whole(tree, name) for name in part.right))
    apart = [one for one in functions(tree) if one.name in part.elsewhere - part.wrong]
    known = given.union(sound, *(_lines(one) for one in apart), _launched(tree, part))
    begins = "from line" in look_at  # a whole function
    lines = [] if begins else sorted(_spoken_of(look_at, tree, part, sound) - known)
    left = to_do(source, given, *(f for f in functions(tree) if jitted(f) != _outside(look_at)))
    unsure = part is not NOBODY and len(lines) not in range(1, FEW + 1)
    if unsure and not left and (said := _idle(tree, known - given)):
        return said
    if begins:
        return look_at
    if 0 < len(lines) <= MOST:
        return f"{look_at}: {spelled(lines)}"
    if 0 < len(left) <= MOST:
        return f"{look_at}: the TODO on {spelled(left)}"
    where = _within(look_at, tree, known, part)
    if not where:
        return look_at if part == NOBODY else ""
    return f"{look_at}: {where}"


def _idle(tree: ast.Module, right: frozenset[int]) -> str:
    """Names that nothing reads, in words; empty where there are none, or many.

    Args:
        right: lines that are known to be.
    """
    loops = {ast.unparse(one.target) for one in ast.walk(tree) if isinstance(one, ast.For)}
    told = [
        (name, line)
        for one in functions(tree)
        for name, line in unread(one).items()
        if line not in right and name not in loops and name.strip("_")
    ]
    names = " and ".join(f"`{name}`" for name, _ in told)
    said = f"{names}, which nothing reads: {spelled(sorted({line for _, line in told}))}" if told else ""
    return said if len(told) <= FEW else ""


def lines_named(look_at: str) -> list[int]:
    """The lines that it names: `lines 18, 19 and 26`."""
    listed = re.findall(r"\blines? (\d[\d, and]*)", look_at)
    return [int(number) for numbers in listed for number in re.findall(r"\d+", numbers)]


def _spoken_of(look_at: str, tree: ast.Module, part: Involved, sound: frozenset[int]) -> set[int]:
    """The lines of what the words speak of, as far as these are no more than MOST."""
    kernels = [node for node in in_kernels(tree) if getattr(node, "lineno", 0) not in sound]
    rest = outside_kernels(tree)
    if known := re.search(r"\.(\w+)\(\) in the launcher", look_at):
        return _call(known[1].strip("_"))(tree, rest)
    if known := re.search(r"the strides of (?!the\b)(\w+)", look_at):
        return strides_of(known[1], tree)
    if known := re.search(r"the load of (\w+) in (\w+)", look_at):
        loads = (n for n in ast.walk(function(tree, known[2]) or tree) if isinstance(n, ast.Call))
        return {n.lineno for n in loads if last(n.func) == "load" and known[1] in ast.unparse(n.args[0])}
    if known := re.search(r"what (\w+)(?:\(\))? returns", look_at):
        own = function(tree, known[1])
        return _each(ast.Return)(tree, [*ast.walk(own)] if own else rest)
    found = list[tuple[int, set[int]]]()  # where a word stands, and its lines
    for words, nodes in ((IN_KERNELS, kernels), (OUTSIDE, rest)):
        for pattern, where in words:
            if word := re.search(pattern, look_at):
                found.append((word.start(), where(tree, nodes)))
    if word := re.search(r"\bstored?\b|element|formula", look_at):
        stored = {*part.stores} if part.stores else _call(*STORES)(tree, kernels)
        made = formed(tree, stored)
        found.append((word.start(), {"store": stored, "stored": stored | made}.get(word[0], made)))
    lines = set[int]()
    for _, more in sorted(found, key=lambda one: one[0]):  # what is spoken of first is named first
        lines |= more if len(lines | more) <= MOST else set()
    return lines


def _each(*kinds: type[ast.AST]) -> Where:
    return lambda _, nodes: {node.lineno for node in nodes if isinstance(node, kinds)}  # type: ignore[attr-defined]


def _call(*names: str) -> Where:
    return lambda _, nodes: {n.lineno for n in nodes if isinstance(n, ast.Call) and last(n.func) in names}


def _masks(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where masks are made: in the access, or under a name that says so."""
    given = (n for n in nodes if isinstance(n, ast.keyword) and n.arg == "mask")
    made = {n.lineno for n in given if not isinstance(n.value, ast.Name)}
    named = (n for n in nodes if isinstance(n, ast.Assign))
    return made | {n.lineno for n in named if any("mask" in ast.unparse(target) for target in n.targets)}


def _keyword(name: str) -> Where:
    return lambda _, nodes: {n.lineno for n in nodes if isinstance(n, ast.keyword) and n.arg == name}


def _casts(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Conversions to floats; where none is, what adds up."""
    calls = (n for n in nodes if isinstance(n, ast.Call) and last(n.func) in ("to", "cast"))
    found = {n.lineno for n in calls if not re.search(r"\bu?int\d*", ast.unparse(n).rpartition("(")[2])}
    return found or _call("sum", "dot", "cumsum")(tree, nodes)


def _numbers(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where numbers of programs come from, and where any are divided as integers."""
    divided = (n for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.FloorDiv | ast.Mod))
    return {n.lineno for n in divided} or _call("program_id")(tree, nodes)


def _loops(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Loops, and where it is made from, to and by what they count."""
    loops = [n for n in nodes if isinstance(n, ast.For | ast.While)]
    ends = [n.iter if isinstance(n, ast.For) else n.test for n in loops]
    names = {n.id for end in ends for n in ast.walk(end) if isinstance(n, ast.Name)}
    made = {n.lineno for n in nodes if isinstance(n, ast.Assign) and assigned(n) & names}
    return {n.lineno for n in loops} | made


def _added(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """What each turn of a loop adds to."""
    loops = (n for n in nodes if isinstance(n, ast.For | ast.While))
    return {n.lineno for loop in loops for n in ast.walk(loop) if isinstance(n, ast.AugAssign)}


def _compared(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    return {n.lineno for n in nodes if isinstance(n, ast.Compare) and re.search(r"\bp\b", ast.unparse(n))}


def launches(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    return {node.lineno for node in nodes if isinstance(node, ast.Call) and launch(node)}


def _launched(tree: ast.Module, part: Involved) -> set[int]:
    """The lines of the launches of kernels that took no part, and of no other."""
    theirs, others = set[int](), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            apart = last(node.func.value) in part.elsewhere - part.wrong
            (theirs if apart else others).update(grids(tree, [node]), [node.lineno])
    return theirs - others


def _tuners(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    return {n.lineno for f in functions(tree) for n in f.decorator_list if "autotune" in ast.unparse(n)}


def grids(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where grids are made: at the launch, or under names that stand there."""
    lines = set[int]()
    for call in (node for node in nodes if isinstance(node, ast.Call) and launch(node)):
        place = call.func.slice if isinstance(call.func, ast.Subscript) else call
        names = {n.id for n in ast.walk(place) if isinstance(n, ast.Name)}
        own = (f for f in functions(tree) if any(n is call for n in ast.walk(f)))
        around = [*tree.body, *(n for f in own for n in ast.walk(f))]  # not what another function calls so
        made = (n for n in around if isinstance(n, ast.Assign) and names & assigned(n))
        lines |= {place.lineno} | {n.lineno for n in made if not ast.unparse(n.value).endswith(".shape")}
    return lines


def _allocated(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where a call makes what is returned, under a name or in the return."""
    returned = [n.value for n in nodes if isinstance(n, ast.Return) and n.value]
    names = {n.id for value in returned for n in ast.walk(value) if isinstance(n, ast.Name)}
    made = (n for n in nodes if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call))
    return {n.lineno for n in made if assigned(n) & names} or {value.lineno for value in returned}


def _kept(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where a forward() hands something to its backward()."""
    stored = (n for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    return _call("save_for_backward")(tree, nodes) | {n.lineno for n in stored if last(n.value) == "ctx"}


def _kept_elsewhere(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where something is kept that outlives a call: in a global, or on what is not ctx."""
    stored = (
        n for n in nodes if isinstance(n, ast.Attribute | ast.Subscript) and isinstance(n.ctx, ast.Store)
    )
    return _each(ast.Global)(tree, nodes) | {n.lineno for n in stored if last(n.value) != "ctx"}


# What words speak of in a kernel, and in the rest of the file.
IN_KERNELS: tuple[tuple[str, Where], ...] = (
    ("other=", _keyword("other")),
    (r"\bmasks?\b", _masks),
    (r"cast|\.to\(", _casts),
    (r"\bloops?\b", _loops),
    ("each turn adds", _added),
    ("program's number", _numbers),
    ("random numbers are drawn", _call("rand", "rand4x", "randint", "randint4x")),
    ("comparison with p", _compared),
    (r"\bloads?\b", _call("load")),
)
OUTSIDE: tuple[tuple[str, Where], ...] = (
    (r"^(key|prune_configs_by)\b", _tuners),
    (r"\bgrid\b", grids),
    ("allocat|torch.empty|the memory", _allocated),
    (r"\bctx\b", _kept),
    ("keeps elsewhere", _kept_elsewhere),
    (r"returns?\b", _each(ast.Return)),
    (r"\blauncher\b|\blaunch\b", launches),
)


def _outside(look_at: str) -> bool:
    return any(re.search(pattern, look_at) for pattern, _ in OUTSIDE)


def _within(look_at: str, tree: ast.Module, given: frozenset[int], part: Involved) -> str:
    """In which functions: kernels, or what launches them where that is asked for, or no line of those is the
    learner's.
    """
    mine = [one for one in functions(tree) if not _lines(one) <= given]
    wrong = {name.rpartition(".")[2] for name in part.wrong}
    mine = [one for one in mine if one.name in wrong] or mine
    kernels, launchers = ([f for f in mine if jitted(f) == inside] for inside in (True, False))
    launchers = [f for f in launchers if any(map(launch, ast.walk(f)))] or launchers
    places = launchers or kernels if _outside(look_at) or not kernels else kernels
    if len(places) > PLACES:  # less the functions that others of them call
        called = {last(n.func) for f in places for n in ast.walk(f) if isinstance(n, ast.Call)}
        places = [f for f in places if f.name not in called]
    if len(places) > PLACES:
        return ""
    return "in " * bool(places) + ", and ".join(f"{f.name}, from line {f.lineno} on" for f in places)


def _whole(tree: ast.Module, name: str) -> Iterable[int]:
    """All lines of a function, or of `Class.method`."""
    owner, _, own = name.rpartition(".")
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == owner)
    found = function(next(classes, tree), own)
    return range(found.lineno, (found.end_lineno or 0) + 1) if found else ()


def _lines(one: ast.FunctionDef) -> set[int]:
    nodes = (node for statement in one.body for node in ast.walk(statement))
    return {node.lineno for node in nodes if hasattr(node, "lineno")}
