"""What the words of a thing to look at stand for: the lines of a file that fit them."""

from __future__ import annotations

import ast
import itertools
import re

from grader.judge.diagnosis.addresses import addresses, assignments, passed_on, strided, unstrided
from grader.judge.diagnosis.draws import again_in_backward, compared, drawn
from grader.judge.diagnosis.eager import computes, signs
from grader.judge.diagnosis.flow import meets_data
from grader.judge.diagnosis.kept import for_products
from grader.judge.diagnosis.outside import (
    Where,
    allocated,
    block_sizes,
    by_dtype,
    call,
    chosen,
    each,
    given_by_calls,
    grids,
    guards,
    handed_as_strides,
    handed_over,
    kept,
    kept_elsewhere,
    launch,
    outside,
    skips,
)
from grader.judge.diagnosis.site import assigned, function, functions, in_kernels, jitted, last, parameters
from grader.judge.diagnosis.source import EXPONENTIALS

MOST = 4  # lines; more are no place to look at


def _given(name: str) -> Where:
    return each(lambda node: isinstance(node, ast.keyword) and node.arg == name)


def _named(pattern: str) -> Where:
    return each(lambda node: isinstance(node, ast.Name) and re.search(pattern, node.id) is not None)


def _operator(*kinds: type[ast.operator]) -> Where:
    return each(lambda node: isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, kinds))


def _constant(node: ast.AST) -> bool:
    """A product or a sum with a float that is written out, other than 0 and 1."""
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else ()
    numbers = (side.value for side in sides if isinstance(side, ast.Constant))
    return any(isinstance(number, float) and number not in (0.0, 1.0) for number in numbers)


def _named_mask(node: ast.AST) -> bool:
    """A mask where it is made under a name that says so."""
    return isinstance(node, ast.Assign) and any("mask" in ast.unparse(target) for target in node.targets)


def _mask(node: ast.AST) -> bool:
    """A mask where it is made in the access."""
    return isinstance(node, ast.keyword) and node.arg == "mask" and not isinstance(node.value, ast.Name)


def _to_float(node: ast.AST) -> bool:
    """A conversion, and not of an offset: those become integers."""
    called = isinstance(node, ast.Call) and last(node.func) in ("to", "cast")
    return called and not re.search(r"\bu?int\d*", ast.unparse(node).rpartition("(")[2])


def _conversions(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """To floats, but of what a product is given; where none is, what wants one before it: what adds up."""
    wanted = for_products(tree)
    return each(lambda n: _to_float(n) and id(n) not in wanted)(tree, nodes) or call("sum", "dot", "cumsum")(
        tree, nodes
    )


def _masks(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where masks are made; and accesses of blocks that have none, where others have one."""
    made, every = each(_mask)(tree, nodes) | each(_named_mask)(tree, nodes), addresses(tree)
    bare = {one.line for one in every if one.block and not one.masked}
    return made | (bare if made or any(one.masked for one in every) else set())


def _moved(name: str, tree: ast.Module, given: frozenset[int]) -> set[int]:
    """Where the addresses of loads are made, of a tensor if a pointer is known to be its, or where a function
    is handed that pointer; more than MOST: without a stride, where others have one.
    """
    loads = [one for one in addresses(tree) if one.kind == "load"]
    others = {f"{other}_ptr" for other in _beside(name, tree)}
    its = pointers(name, tree)
    mine = [one for one in loads if its & one.names and one.line not in given]
    if not mine and (passed := set().union(*(passed_on(pointer, tree) for pointer in its)) - given):
        parts = (part for kernel in filter(jitted, functions(tree)) for part in assignments(kernel))
        return passed | {part.line for part in parts if part.sets & its} - given
    loads = mine or [one for one in loads if not one.pointers & others]
    pairs = [pair for one in loads for pair in (*one.far.items(), *one.near.items())]
    pairs += [(one.line, one.names) for one in mine if not one.pointers]  # no name tells what is a pointer
    moved = [pair for pair in pairs if pair[0] not in given]
    every = {line: names for line, names in moved if len(names) > 2} or dict(moved)
    bare = {line for line, names in every.items() if not any("stride" in name for name in names)}
    return set(every) if len(every) <= MOST else bare


def pointers(name: str, tree: ast.Module) -> set[str]:
    """What kernels call a tensor: x_ptr; where none has that, what a launch hands it over as."""
    kernels = {function.name: [*parameters(function)] for function in functions(tree) if jitted(function)}
    if any(f"{name}_ptr" in known for known in kernels.values()):
        return {f"{name}_ptr"}
    found = set[str]()
    for node in (node for node in outside(tree) if isinstance(node, ast.Call) and launch(node)):
        assert isinstance(node.func, ast.Subscript)
        placed = itertools.takewhile(lambda given: not isinstance(given, ast.Starred), node.args)
        named = zip(kernels.get(last(node.func.value), ()), placed, strict=False)
        found |= {known for known, given in named if isinstance(given, ast.Name) and given.id == name}
    return found


def _beside(name: str, tree: ast.Module) -> set[str]:
    """What else is handed to a function of the file that has such a parameter."""
    given = [set(parameters(function)) for function in functions(tree)]
    return set().union(*(names for names in given if name in names)) - {name}


def _strides(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where strides stand; in a file that calls none so, where addresses are made of products."""
    moved = set().union(*({*one.near, *one.far} for one in addresses(tree)))
    return _named("stride")(tree, nodes) or moved & _operator(ast.Mult)(tree, nodes)


def _strides_of(names: list[str], tree: ast.Module, given: frozenset[int]) -> set[int]:
    """Where strides of these tensors or their addresses stand in kernels, and where a launcher takes
    these.
    """
    used = _named_strides(names, tree)
    taken = (n for n in outside(tree) if isinstance(n, ast.Attribute) and n.attr == "stride")
    used |= {n.lineno for n in taken if last(n.value) in names}
    return used.union(*(_moved(name, tree, given) | _described(name, tree) for name in names))


def _named_strides(names: list[str], tree: ast.Module) -> set[int]:
    return _named(rf"^stride_({'|'.join(names)})[a-z0-9]?$")(tree, [*in_kernels(tree)])


def _few(*every: set[int]) -> set[int]:
    """The first that has lines, and no more than are told; the second where none is so."""
    return next((lines for lines in every if 0 < len(lines) <= MOST), every[1])


def _described(name: str, tree: ast.Module) -> set[int]:
    """Where a descriptor of this tensor is told its strides; from_tensor takes the tensor's own."""
    made = call("TensorDescriptor", "make_tensor_descriptor")
    return made(tree, [n for n in ast.walk(tree) if _first(n) in (name, f"{name}_ptr")])


def _first(node: ast.AST) -> str:
    """The name of the first thing that is handed to a call."""
    return last(node.args[0]) if isinstance(node, ast.Call) and node.args else ""


def _numbers(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where numbers, and not lanes, are divided as integers, and by what; where none are, where programs get
    theirs.
    """
    blocks = (n for n in nodes if isinstance(n, ast.Assign) and call("arange")(tree, [*ast.walk(n.value)]))
    lanes = set().union(*map(assigned, blocks))
    divided = [n for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.FloorDiv | ast.Mod)]
    divided = [n for n in divided if not lanes & {m.id for m in ast.walk(n) if isinstance(m, ast.Name)}]
    by = {n.id for node in divided for n in ast.walk(node.right) if isinstance(n, ast.Name)}
    made = {n.lineno for n in nodes if isinstance(n, ast.Assign) and assigned(n) & by}
    return made | {node.lineno for node in divided} or call("program_id")(tree, nodes)


def _limits(tree: ast.Module, nodes: list[ast.AST]) -> set[int]:
    """Where it is made from, to and by what loops count."""
    ends = [n.iter if isinstance(n, ast.For) else n.test for n in nodes if isinstance(n, ast.For | ast.While)]
    names = {n.id for end in ends for n in ast.walk(end) if isinstance(n, ast.Name)}
    return {n.lineno for n in nodes if isinstance(n, ast.Assign) and assigned(n) & names}


def _stored_strides(tree: ast.Module) -> set[int]:
    """Where a stride of another tensor moves the address of a store; else where any does, or any product, or
    whatever does.
    """
    stores = [one for one in addresses(tree) if one.kind == "store"]
    moved = [{**one.far, **one.near} for one in stores]
    every = {line for lines in moved for line, names in lines.items() if any("stride" in n for n in names)}
    lines = set().union(*moved)
    products = lines & _operator(ast.Mult)(tree, [*in_kernels(tree)])
    return strided(tree, "store") or every or products or lines - {one.line for one in stores}


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
    (r"\bmasks?\b", each(_named_mask)),
    (r"\bmasks?\b", _masks),
    ("tl.program_id", call("program_id")),
    ("program's number", _numbers),
    ("rescale", _operator(ast.Mult)),
    (r"\bexp\b|-inf|\+inf", call(*EXPONENTIALS)),
    ("maximum", call("max", "maximum")),
    ("tl.atomic_add", call("atomic_add")),
    ("NaN", _data_meets("max", "min", "maximum", "minimum", "where")),
    (r"\bsums?\b|reduction|accumulator", call("sum", "dot", "reduce")),
    ("divi", _operator(ast.Div)),
    (r"\bconstants\b", each(_constant)),
    (r"\bscale\b", _named("scale")),
    (r"cast|\.to\(|dtype", _conversions),
    ("stride", _strides),
    (r"\boffsets?\b|start of", call("arange")),
    (r"\bloops?\b|comes back to|carries", each(lambda node: isinstance(node, ast.For | ast.While))),
    ("starts and ends", _limits),
    ("loads?|read before", call("load")),
)
OF_STORES = r"stored?\b|element|formula|factor|constant\b|result"
# And what of the rest of the file.
OUTSIDE: tuple[tuple[str, Where], ...] = (
    (r"\bgrid\b", grids),
    ("skips the launch", guards),
    (r"launch\b|hands over", each(launch)),
    ("hands them over", handed_over),
    ("it is allocated", allocated),
    ("torch.empty|allocation|memory", call("empty", "empty_like", "new_empty")),
    ("torch call", computes),
    ("launcher", each(launch)),
    ("block size", block_sizes),
    ("goes by the dtype", by_dtype),
    ("prune_configs_by", _given("prune_configs_by")),
    ("key=", _given("key")),
    ("autotuner|configs$", call("autotune")),
    (r"\bapply\b", call("apply")),
    (r"\bctx\b", kept),
    ("keeps elsewhere", kept_elsewhere),
    ("returns?", each(lambda node: isinstance(node, ast.Return))),
)


def exactly(look_at: str, tree: ast.Module, given: frozenset[int]) -> set[int]:
    """The lines of what is named by itself: a tensor's address, a store's strides, a method of torch's.

    Args:
        given: lines that are handed out, in the place of which others are named.
    """
    if found := re.search(r"address of (\w+)", look_at):
        made = _described(found[1], tree) - given or _moved(found[1], tree, given)
        handed = handed_as_strides([found[1]], tree) if "hands over" in look_at else set()
        return _few(made | handed, made)
    if found := re.search(r"the load of (\w+) in (\w+)", look_at):
        loads = addresses(function(tree, found[2]) or ast.Module([], []))
        return {one.line for one in loads if one.kind == "load" and found[1] in one.names}
    if found := re.search(r"where (\w+) is chosen", look_at):
        return chosen(found[1], tree)
    if "random numbers are drawn" in look_at and (lines := drawn(tree)):
        both = lines | compared(tree) | again_in_backward(tree)
        return _few(both, lines | compared(tree), lines) if "both passes" in look_at else lines
    if "comparison with" in look_at and (lines := compared(tree)):
        return lines
    if look_at.startswith("the dtype of "):
        return given_by_calls({*re.findall(r"\bof (\w+)", look_at)}, ast.walk(tree))
    if re.search(r"strides? (in|of) the store", look_at):
        return _stored_strides(tree)
    if (found := re.search(r"the strides of (\w+)(?: and (\w+))? are used", look_at)) and (
        lines := _strides_of(names := [name for name in found.groups() if name], tree, given)
    ):
        handed = handed_as_strides(names, tree)
        over = handed or handed_over(tree, outside(tree))
        return _few(lines | over, lines, _named_strides(names, tree) | handed, handed)
    if "set before the loop" in look_at:
        return _before_loops(tree)
    if "stride" in look_at and (lines := unstrided(tree, "load")):
        return lines
    if look_at.startswith("which stride"):
        return _strides(tree, [*in_kernels(tree)])
    if "return" in look_at and (found := re.search(r"\b(\w+)\(\)", look_at)):
        said = (f for f in functions(tree) if f.name == found[1])
        return set().union(
            *(each(lambda node: isinstance(node, ast.Return))(tree, [*ast.walk(f)]) for f in said)
        )
    if found := re.fullmatch(r"(\w+)\(\)", look_at):
        return {f.lineno for f in functions(tree) if f.name == found[1]}
    if "returns early or skips" in look_at and (lines := skips(tree)):
        return lines
    if "launcher hands over" in look_at:
        return each(launch)(tree, outside(tree))
    words = [method or call for method, call in re.findall(r"\.(\w+)\(\)|torch call behind (\w+)", look_at)]
    words += ["contiguous", "reshape"] if "clone" in words else []
    words += [word.strip("_") for word in words if word.startswith("__")]  # int() for .__int__()
    lines = call(*words)(tree, outside(tree)) if words else set()
    return lines or set().union(*(signs(tree, word) for word in words))


def _before_loops(tree: ast.Module) -> set[int]:
    """Where something is set that a loop after it sets again, or adds to."""
    lines = set[int]()
    for kernel in filter(jitted, functions(tree)):
        nodes = [*ast.walk(kernel)]
        for loop in (n for n in nodes if isinstance(n, ast.For | ast.While)):
            again = set[str]().union(*(assigned(n) for n in ast.walk(loop)))
            begun = (n for n in nodes if isinstance(n, ast.Assign) and n.lineno < loop.lineno)
            lines |= {n.lineno for n in begun if assigned(n) & again}
    return lines
