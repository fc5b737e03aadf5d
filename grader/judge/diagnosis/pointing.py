"""Where in the learner's file stands what a diagnosis says to look at: the lines behind its words.

Lines that are handed out are never named, nor functions of which nothing else is left; where nothing is
known, no line is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from grader.judge.diagnosis.addresses import addresses, strided, unstrided
from grader.judge.diagnosis.flow import meets_data
from grader.judge.diagnosis.handed import to_do
from grader.judge.diagnosis.launched import NOBODY, Involved
from grader.judge.diagnosis.site import assigned, function, functions, in_kernels, jitted, last, parameters
from grader.judge.diagnosis.source import EXPONENTIALS

MOST = 4  # lines; more are no place to look at
MOST_PLACES = 2  # functions

Where = Callable[[ast.Module, list[ast.AST]], set[int]]  # of a file, or of all that stands in a part of it


def _each(fits: Callable[[ast.AST], bool]) -> Where:
    """The lines of the nodes that fit."""
    return lambda _, nodes: {node.lineno for node in nodes if fits(node) and hasattr(node, "lineno")}


def _call(*names: str) -> Where:
    return _each(lambda node: isinstance(node, ast.Call) and last(node.func) in names)


def _given(name: str) -> Where:
    return _each(lambda node: isinstance(node, ast.keyword) and node.arg == name)


def _named(pattern: str) -> Where:
    return _each(lambda node: isinstance(node, ast.Name) and re.search(pattern, node.id) is not None)


def _operator(*kinds: type[ast.operator]) -> Where:
    return _each(lambda node: isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, kinds))


def _launch(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)


def _grids(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where grids are made: at the launch, or under names that stand there."""
    launches = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)]
    return set().union(*(_grid(launch, tree) for launch in launches))


def _grid(launch: ast.Call, tree: ast.Module) -> set[int]:
    place = launch.func.slice if isinstance(launch.func, ast.Subscript) else launch
    names = {n.id for n in ast.walk(place) if isinstance(n, ast.Name)}
    made = {n.lineno for n in ast.walk(tree) if isinstance(n, ast.Assign) and names & assigned(n)}
    return {launch.lineno, place.lineno} | made


def _mask(node: ast.AST) -> bool:
    """A mask where it is made: in the access, or under a name that says so."""
    if isinstance(node, ast.keyword):
        return node.arg == "mask" and not isinstance(node.value, ast.Name)
    return isinstance(node, ast.Assign) and any("mask" in ast.unparse(target) for target in node.targets)


def _to_float(node: ast.AST) -> bool:
    """A conversion, and not of an offset: those become integers."""
    called = isinstance(node, ast.Call) and last(node.func) in ("to", "cast")
    return called and not re.search(r"\bu?int\d*", ast.unparse(node).rpartition("(")[2])


def _kept(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where a forward() hands something to its backward()."""
    stored = _each(
        lambda n: isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) and last(n.value) == "ctx"
    )
    return _call("save_for_backward")(tree, nodes) | stored(tree, nodes)


def _conversions(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """To floats; where there is none, what wants one before it: what adds up."""
    return _each(_to_float)(tree, nodes) or _call("sum", "dot", "cumsum")(tree, nodes)


def _masks(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where masks are made; and accesses of blocks that have none, where others have one."""
    made, every = _each(_mask)(tree, nodes), addresses(tree)
    bare = {one.line for one in every if one.block and not one.masked}
    return made | (bare if made or any(one.masked for one in every) else set())


def _moved(name: str, tree: ast.Module) -> set[int]:
    """Where the addresses of loads are made, of a tensor if a pointer is called so; more than MOST: without a
    stride, where others have one.
    """
    loads = [one for one in addresses(tree) if one.kind == "load"]
    others = {f"{other}_ptr" for other in _beside(name, tree)}
    mine = [one for one in loads if f"{name}_ptr" in one.pointers]
    loads = mine or [one for one in loads if not one.pointers & others]
    moved = [pair for one in loads for pair in (*one.far.items(), *one.near.items())]
    every = {line: names for line, names in moved if len(names) > 2} or dict(moved)
    bare = {line for line, names in every.items() if not any("stride" in name for name in names)}
    return set(every) if len(every) <= MOST else bare


def _beside(name: str, tree: ast.Module) -> set[str]:
    """What else is handed to a function of the file that has such a parameter."""
    given = [set(parameters(function)) for function in functions(tree)]
    return set().union(*(names for names in given if name in names)) - {name}


def _stored_strides(tree: ast.Module) -> set[int]:
    """Where a stride of another tensor moves the address of a store; else where any does."""
    moved = [{**one.far, **one.near} for one in addresses(tree) if one.kind == "store"]
    every = {line for lines in moved for line, names in lines.items() if any("stride" in n for n in names)}
    return strided(tree, "store") or every


def _data_meets(*names: str) -> Where:
    """Calls of such words with data in them, not with the numbers of tiles."""
    return lambda tree, nodes: {
        node.lineno
        for node in nodes
        if isinstance(node, ast.Call) and last(node.func) in names and meets_data(node, tree)
    }


STORES = ("store", "atomic_add", "atomic_max", "atomic_min")
# What a look_at speaks of, and what of a kernel that is.
IN_KERNELS: tuple[tuple[str, Where], ...] = (
    ("other=", _given("other")),
    (r"\bmasks?\b", _masks),
    ("tl.program_id|program's number", _call("program_id")),
    ("rescale", _operator(ast.Mult)),
    (r"\bexp\b|-inf|\+inf", _call(*EXPONENTIALS)),
    ("maximum", _call("max", "maximum")),
    ("NaN", _data_meets("max", "min", "maximum", "minimum", "where")),
    (r"\bsums?\b|reduction|accumulator", _call("sum", "dot", "reduce")),
    ("divi", _operator(ast.Div)),
    (r"\bscale\b", _named("scale")),
    (r"cast|\.to\(|dtype", _conversions),
    ("stride", _named("stride")),
    (r"\boffsets?\b|block size|start of", _call("arange")),
    (r"\bloops?\b|comes back to|carries", _each(lambda node: isinstance(node, ast.For | ast.While))),
    ("loads?|read before", _call("load")),
)
OF_STORES = r"stored?\b|element|formula|factor|constant|result"
# And what of the rest of the file.
OUTSIDE: tuple[tuple[str, Where], ...] = (
    (r"\bgrid\b", _grids),
    (r"launch\b|hands over", _each(_launch)),
    ("torch.empty|allocation|memory", _call("empty", "empty_like", "new_empty")),
    ("launcher", _each(_launch)),
    ("prune_configs_by", _given("prune_configs_by")),
    ("key=", _given("key")),
    ("autotuner|configs$", _call("autotune")),
    (r"\bapply\b", _call("apply")),
    (r"\bctx\b", _kept),
    ("returns?", _each(lambda node: isinstance(node, ast.Return))),
)


def pointed(
    look_at: str,
    source: str,
    given: frozenset[int] = frozenset(),
    part: Involved = NOBODY,
) -> str:
    """`the mask of the store: line 14`; as it came where it names a line, or nothing is known of the file.

    Args:
        given: lines that are handed out.
        part: what took part in what failed.
    """
    if not look_at or re.search(r"\blines? \d", look_at):
        return look_at
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return look_at
    if "your file" in look_at:  # what stands in none of its functions
        lines = sorted(_running(tree)) if "top of your file" in look_at else []
        return f"{look_at}: {_spelled(lines)}" if 0 < len(lines) <= MOST else look_at
    apart = [function for function in functions(tree) if function.name in part.elsewhere]
    given = given.union(*(_lines(function) for function in apart), _launches(tree, part.elsewhere))
    if lines := sorted(_exactly(look_at, tree) - given):
        return f"{look_at}: {_spelled(lines)}" if len(lines) <= MOST else look_at
    kernels = [*in_kernels(tree)]
    inside = {id(node) for node in kernels}
    outside = [node for node in ast.walk(tree) if id(node) not in inside]
    found = [*_behind(look_at, IN_KERNELS, tree, kernels)]
    if re.search(OF_STORES, look_at):
        found.append({*part.stores} if part.stores else _call(*STORES)(tree, kernels))
    found += _behind(look_at, OUTSIDE, tree, outside)
    found = [lines - given for lines in found if lines - given]
    several = sorted(set().union(*found))
    lines = (
        several if len(several) <= MOST else next((sorted(each) for each in found if len(each) <= MOST), [])
    )
    if lines:
        return f"{look_at}: {_spelled(lines)}"
    launcher = any(re.search(pattern, look_at) for pattern, _ in OUTSIDE)
    places = [f for f in functions(tree) if jitted(f) != launcher and not _lines(f) <= given]
    starts = _each(_launch)(tree, outside) - _launches(tree, part.elsewhere)
    places = [f for f in places if launcher and _lines(f) & starts] or places
    if 0 < len(places) <= MOST_PLACES:
        return f"{look_at}: in {', and '.join(f'{f.name}, from line {f.lineno} on' for f in places)}"
    left = to_do(source, given, *(f for f in functions(tree) if jitted(f) != launcher))
    return f"{look_at}: the TODO on {_spelled(left)}" if 0 < len(left) <= MOST else look_at


def _exactly(look_at: str, tree: ast.Module) -> set[int]:
    """The lines of what is named by itself: a tensor's address, a store's strides, a method of torch's."""
    if found := re.search(r"address of (\w+)", look_at):
        return _moved(found[1], tree)
    if found := re.search(r"the load of (\w+) in (\w+)", look_at):
        loads = addresses(function(tree, found[2]) or ast.Module([], []))
        return {one.line for one in loads if one.kind == "load" and found[1] in one.names}
    if look_at.startswith("the dtype of "):
        names = re.findall(r"\bof (\w+)", look_at)
        return set().union(*(_allocated(name, tree) for name in names))
    if re.search(r"strides? (in|of) the store", look_at):
        return _stored_strides(tree)
    if "stride" in look_at and (lines := unstrided(tree, "load")):
        return lines
    if "return" in look_at and (found := re.search(r"\b(\w+)\(\)", look_at)):
        said = (f for f in functions(tree) if f.name == found[1])
        return set().union(
            *(_each(lambda node: isinstance(node, ast.Return))(tree, [*ast.walk(f)]) for f in said)
        )
    inside = {id(node) for node in in_kernels(tree)}
    outside = [node for node in ast.walk(tree) if id(node) not in inside]
    if "launcher hands over" in look_at:
        return _each(_launch)(tree, outside)
    words = [method or call for method, call in re.findall(r"\.(\w+)\(\)|torch call behind (\w+)", look_at)]
    words += ["contiguous", "reshape"] if "clone" in words else []
    return _call(*words)(tree, outside) if words else set()


def _allocated(name: str, tree: ast.Module) -> set[int]:
    """The lines on which a variable is set to what a call gives: tl.zeros(…), torch.empty(…)."""
    set_to_call = (n for n in ast.walk(tree) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call))
    return {n.lineno for n in set_to_call if name in assigned(n)}


def _launches(tree: ast.Module, kernels: frozenset[str]) -> set[int]:
    """The lines of the launches and grids of these, and of no other."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Subscript)]
    theirs, others = set[int](), set[int]()
    for call in calls:
        launched = isinstance(call.func, ast.Subscript) and last(call.func.value) in kernels
        (theirs if launched else others).update(_grid(call, tree))
    return theirs - others


def _running(tree: ast.Module) -> set[int]:
    """The lines at the top of a file on which something other than a definition begins as it is imported."""
    runs = (ast.For, ast.While, ast.With, ast.Try, ast.If)
    main = {n.lineno for n in tree.body if isinstance(n, ast.If) and "__name__" in ast.unparse(n.test)}
    found = {
        n.lineno for n in tree.body if isinstance(n, runs) or isinstance(getattr(n, "value", None), ast.Call)
    }
    return found - main


def _lines(function: ast.FunctionDef) -> set[int]:
    nodes = (node for statement in function.body for node in ast.walk(statement))
    return {node.lineno for node in nodes if hasattr(node, "lineno")}


def _behind(
    look_at: str, words: tuple[tuple[str, Where], ...], tree: ast.Module, nodes: list[ast.AST]
) -> Iterator[set[int]]:
    """The lines of each word that stands there, where the file has some."""
    for pattern, where in words:
        if re.search(pattern, look_at) and (lines := where(tree, nodes)):
            yield lines


def _spelled(lines: list[int]) -> str:
    if len(lines) == 1:
        return f"line {lines[0]}"
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
