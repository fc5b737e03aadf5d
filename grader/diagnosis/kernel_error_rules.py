"""What exceptions of a kernel mean: rows of words, of what must stand on the line, and of one sentence.

A finder answers None where its sentence would not be true. It is source_context.py's Finder.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from grader.diagnosis.source_context import (
    Finder,
    Found,
    Scene,
    Site,
    assigned,
    function,
    in_kernels,
    jitted,
    last,
    quoted,
    returns,
    root,
)

LIBRARIES = "torch", "np", "numpy", "math", "triton"  # none of which works in a kernel
ACCESSES = "load", "store", "atomic_add", "atomic_max", "atomic_min"


def anything(scene: Scene, _: re.Match[str]) -> Found | None:
    """Whatever stands there."""
    return {} if scene.here.in_kernel else None


def call(*names: str) -> Finder:
    """The one call of such a word of tl, with its first argument."""

    def find(scene: Scene, _: re.Match[str]) -> Found | None:
        calls = scene.here.calls(*names) if scene.here.in_kernel else []
        if len({ast.unparse(found) for found in calls}) != 1:
            return None
        first = quoted(calls[0].args[0]) if calls[0].args else "…"
        return {"call": quoted(calls[0]), "word": last(calls[0].func), "first": first}

    return find


def length(scene: Scene, match: re.Match[str]) -> Found | None:
    """The line's one tl.arange, and where the launcher sets how long it is."""
    found, launch = call("arange")(scene, match), scene.launch
    end = scene.here.calls("arange")[0].args[-1] if found else None
    if found is None or launch is None or launch.launch is None or launch.function is None:
        return found
    given = next((word.value for word in launch.launch.keywords if word.arg == getattr(end, "id", "")), None)
    if given is None:
        return found
    made = (node for node in ast.walk(launch.function) if isinstance(node, ast.Assign))
    lines = [one.lineno for one in made if _name(given) in assigned(one)]
    return found | {"line": max(lines, default=launch.line)}


def node(*kinds: type[ast.AST]) -> Finder:
    """A piece of syntax."""

    def find(scene: Scene, _: re.Match[str]) -> Found | None:
        found = [n for n in scene.here.nodes if isinstance(n, kinds)] if scene.here.in_kernel else []
        return {"text": quoted(found[0])} if found else None

    return find


def indexed(scene: Scene, _: re.Match[str]) -> Found | None:
    """`x_ptr[offs]`."""
    held = _held(scene.here)
    found = [n for n in scene.here.nodes if isinstance(n, ast.Subscript) and last(n.value) in held]
    if not found:
        return None
    pointer, at = quoted(found[0].value), quoted(found[0].slice)
    address = f"{pointer} + {at if at.isidentifier() or at.isdigit() else 'offsets'}"
    return {"text": quoted(found[0]), "address": address, "pointer": pointer}


def asked(scene: Scene, _: re.Match[str]) -> Found | None:
    """`x_ptr.shape`, `x_ptr.numel()`."""
    held = _held(scene.here)
    nodes = [n for n in scene.here.nodes if isinstance(n, ast.Attribute) and last(n.value) in held]
    found = [n for n in nodes if n.attr in ("shape", "numel", "size", "stride", "dim")]
    return {"pointer": last(found[0].value), "name": found[0].attr} if found else None


def unloaded(scene: Scene, _: re.Match[str]) -> Found | None:
    """A name that holds addresses where numbers belong: where it was made, and what tl.load lacks."""
    here, held = scene.here, _held(scene.here)
    places = [n for access in here.calls(*ACCESSES) if access.args for n in ast.walk(access.args[0])]
    sums = [n for n in here.nodes if isinstance(n, ast.BinOp | ast.AugAssign) and isinstance(n.op, ast.Add)]
    added = [side for one in sums for side in ast.iter_child_nodes(one) if "ptr" in _name(side)]
    right = {id(n) for n in [*places, *added]}
    names = [n.id for n in here.nodes if isinstance(n, ast.Name) and id(n) not in right and n.id in held]
    names.sort(key=lambda name: "ptr" in name)
    name, text, line = held[names[0]] if names else ("", "", 0)
    return {"name": name, "text": text, "line": line} if names else None


def _name(node: ast.AST) -> str:
    """`x_ptr` of the name x_ptr; empty for all else."""
    return node.id if isinstance(node, ast.Name) else ""


def _held(here: Site) -> dict[str, tuple[str, str, int]]:
    """Names that hold addresses on this line: of each the name to speak of, what tl.load is to be given, and
    the line to change. What has `ptr` in its name holds them on purpose.
    """
    if not here.in_kernel or here.function is None:
        return {}
    pointers = [name for name, constant in here.parameters.items() if "ptr" in name and not constant]
    held = {name: (name, f"{name} + offsets", here.line) for name in pointers}
    nodes = [n for n in ast.walk(here.function) if isinstance(n, ast.Assign) and n.lineno < here.line]
    for node in sorted(nodes, key=lambda made: made.lineno):
        name = _name(node.targets[0])
        source = next((one for one in _outside_of_calls(node.value) if one in held), "")
        if not source:
            held.pop(name, None)
        elif "ptr" in name:
            held[name] = name, name, here.line
        else:
            held[name] = (name, quoted(node.value), node.lineno) if "ptr" in source else held[source]
    return held


def _outside_of_calls(value: ast.AST) -> Iterator[str]:
    """The names of a value that are no argument of a call, and of which no attribute is taken."""
    if not isinstance(value, ast.Call | ast.Attribute | ast.Compare):
        yield from filter(None, [_name(value)])
        for child in ast.iter_child_nodes(value):
            yield from _outside_of_calls(child)


def not_constant(scene: Scene, _: re.Match[str]) -> Found | None:
    """The first end of the line's one tl.arange that the compiler does not know."""
    calls, known = scene.here.calls("arange"), scene.here.parameters
    for end in calls[0].args if len(calls) == 1 and scene.here.in_kernel else []:
        if isinstance(end, ast.Name) and known.get(end.id) is False:
            advice = f"If {end.id} is a block size, declare it tl.constexpr. If it is the length of the data"
            return {"end": end.id, "advice": advice + ", take a block size, and mask the lanes past the end."}
        if not all(known.get(n.id) for n in ast.walk(end) if isinstance(n, ast.Name)):
            advice = "What differs from program to program is added: pid * BLOCK + tl.arange(0, BLOCK)."
            return {"end": quoted(end), "advice": advice}
    return None


def joined(scene: Scene, _: re.Match[str]) -> Found | None:
    """Two blocks on one line, and what stands there that decides along which axis they lie."""
    if not scene.here.in_kernel:
        return None
    if any(k.arg == "axis" for made in scene.here.calls() for k in made.keywords):
        return {"advice": "Is axis= the right one?"}
    if any(isinstance(n, ast.Subscript) and "None" in ast.unparse(n.slice) for n in scene.here.nodes):
        return {"advice": "Are [:, None] and [None, :] where they belong?"}
    return {"advice": "Of a block of one axis [:, None] makes a column, and [None, :] a row."}


def of_library(scene: Scene, match: re.Match[str]) -> Found | None:
    """A function of torch, NumPy, math or triton; the compiler's words name it, and not its line."""
    name = match.groupdict().get("name")
    nodes = scene.here.nodes if scene.here.in_kernel else in_kernels(scene.here.tree) if name else ()
    calls = [n for n in nodes if isinstance(n, ast.Call) and root(n.func) in LIBRARIES]
    found = next((one for one in calls if name in (None, last(one.func))), None)
    return {"text": ast.unparse(found.func), "line": found.lineno} if found else None


def plain_helper(scene: Scene, match: re.Match[str]) -> Found | None:
    """A function of the file, without @triton.jit, that a kernel calls."""
    helper = function(scene.here.tree, match["name"])
    return {"name": helper.name, "line": helper.lineno} if helper and not jitted(helper) else None


def returnless(scene: Scene, _: re.Match[str]) -> Found | None:
    """A function of the file that this line calls, and that ends without a return."""
    for call in scene.here.calls() if scene.here.in_kernel else []:
        helper = function(scene.here.tree, last(call.func))
        if helper and jitted(helper) and not returns(helper):
            return {"name": helper.name, "line": helper.body[-1].lineno}
    return None


def foreign_dtype(scene: Scene, _: re.Match[str]) -> Found | None:
    """`torch.float32`, `"float32"`."""
    for n in scene.here.nodes if scene.here.in_kernel else []:
        library = isinstance(n, ast.Attribute) and root(n) in LIBRARIES
        name = n.attr if isinstance(n, ast.Attribute) and library else getattr(n, "value", None)
        if isinstance(name, str) and re.fullmatch(r"b?float\d+|u?int\d+", name):
            return {"text": ast.unparse(n), "instead": f"tl.{name}"}
    return None


def bitwise_comparison(scene: Scene, _: re.Match[str]) -> Found | None:
    """`a < m & b < n`: & binds tighter than <."""
    for n in scene.here.nodes:
        for part in n.comparators if isinstance(n, ast.Compare) and len(n.ops) > 1 else []:
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitAnd | ast.BitOr):
                return {"sign": "&" if isinstance(part.op, ast.BitAnd) else "|"}
    return None


def unread(scene: Scene, match: re.Match[str]) -> Found | None:
    """A name without a value in the kernel, which has a pointer of that name."""
    here, pointer = scene.here, f"{match['name']}_ptr"
    if not here.in_kernel or not here.function or pointer not in here.parameters:
        return None
    places = [n for access in here.calls(*ACCESSES) if access.args for n in ast.walk(access.args[0])]
    meant = any(_name(n) == match["name"] for n in places)
    reads = f"tl.load({pointer} + offsets) reads what lies where {pointer} points."
    return {"kernel": here.function.name, "advice": f"Is {pointer} meant?" if meant else reads}


def begun(scene: Scene, match: re.Match[str]) -> Found | None:
    """The last line before this one that sets what the exception names."""
    inside = [*ast.walk(scene.here.function)] if scene.here.in_kernel and scene.here.function else []
    sets = (n.lineno for n in inside if isinstance(n, ast.Assign) and match["name"] in assigned(n))
    before = [line for line in sets if line < scene.here.line]
    return {"at": f" on line {max(before)}" if before else ""} if inside else None


def converted(scene: Scene, _: re.Match[str]) -> Found | None:
    """The line's one `x.to(…)`."""
    calls = scene.here.calls("to") if scene.here.in_kernel else []
    func = calls[0].func if len(calls) == 1 and calls[0].args else None
    if not isinstance(func, ast.Attribute):
        return None
    return {"text": quoted(func.value), "dtype": quoted(calls[0].args[0])}


KERNEL: list[tuple[str, Finder, str]] = [
    # Memory.
    ("Did you forget to add @triton.jit|unsupported tensor index", indexed,
     "{text} does not read memory, since {pointer} is a pointer: tl.load({address}) reads where it points."),
    ("__setitem__", indexed,
     "{text} = … does not write memory, since {pointer} is a pointer: tl.store({address}, …) writes there."),
    (r"list index out of range|'int' object is not callable|no attribute '(size|stride|dim)'", asked,
     "{pointer} is a pointer and does not know the tensor's {name}: the launcher gives it as an argument."),
    (r"pointer<\w+>|cannot add pointers together|'pointer_type' object", unloaded,
     "{name} holds addresses, and numbers belong here: tl.load({text}) reads what lies there."),
    (r"operands of type pointer<\w+> and triton.language.(float|fp|bf)", anything,
     "A pointer meets a float here: offsets are integers. In a kernel / gives floats, and // integers."),
    (r"operands of type pointer<\w+> and|cannot add pointers together", anything,
     "Only integers can be added to a pointer, and nothing else is done with one. Where that is so, are the "
     "launch's arguments in the order of the kernel's?"),
    ("(Value|Mask) argument cannot be block type if pointer", call("load", "store"),
     "tl.{word} is given one address here, {first}, and a block beside it: add the offsets to the pointer."),
    (r"'tt\.(load|store)' op operand #\d must be 1-bit", call("load", "store"),
     "mask= of tl.{word} says of each lane whether it takes part: a comparison such as offs < n, no number."),
    (r"(Unsupported ptr type|Pointer argument of store).* (<\[.*\], )?(?P<dtype>\w+)>", call(*ACCESSES),
     "{first} holds numbers ({dtype}) and no addresses: tl.{word} wants a pointer plus offsets first."),
    (r"Expected pointer argument to have shape (?P<wanted>\[.*\]) but got (?P<shape>\[.*\])", anything,
     "The pointers here form a block of {shape}, value and mask one of {wanted}: give all the same axes."),
    # Blocks.
    ("arange's arguments must be of type tl.constexpr", not_constant,
     "The ends of tl.arange must be integers known to the compiler, and {end} is not one. {advice}"),
    ("arange's range must be a power of 2", length,
     "The length of {call} is no power of 2: make it the next one, and mask the lanes past the end."),
    (r"arange\(\) (got multiple values for argument '_sem|got an unexpected|takes)", call("arange"),
     "tl.arange takes a start and an end, and no step: start + step * tl.arange(0, BLOCK)."),
    (r"Shape element \d+ must have type `constexpr", anything,
     "The shape of a block must be known to the compiler: integers, or parameters declared tl.constexpr."),
    (r"incompatible dimensions at index (?P<axis>\d): (?P<a>\d+) and (?P<b>\d+)", joined,
     "Two blocks do not fit together: along axis {axis} one has {a} elements, the other {b}. {advice}"),
    (r"Input shapes should have .* K >= (?P<least>\d+)", call("dot"),
     "tl.dot needs K >= {least} here: take larger blocks along K, and mask what lies beyond with 0."),
    ("must have equal reduction dimensions", call("dot"),
     "In {call} the first must have as many columns as the second has rows."),
    ("accumulator shape|^AssertionError: AssertionError$", call("dot"),
     "What {call} adds to must be of the product's shape, and in fp32; in int32 where it multiplies int8."),
    (r"Loop-carried variable (?P<name>\w+) has initial type (?P<a>.+) but is re-assigned to (?P<b>.+) in l",
     begun,
     "{name} is {a} before the loop and {b} after it: start it{at} as what it becomes, by tl.zeros or "
     "tl.full."),
    ("'int' object is not iterable", call("zeros", "full"),
     "The shape of {call} must be a tuple: with one axis it is ({first},), with a comma."),
    ("unsupported tensor index", node(ast.Subscript),
     "A block is computed on as a whole: [] only adds axes to it, by : and None. tl.sum adds its elements "
     "up."),
    (r"'\w+' object has no attribute 'func'", node(ast.For),
     "A loop of a kernel counts, by range(…), and walks over nothing: a block is computed on as a whole, and "
     "tl.sum adds its elements up."),
    # Numbers and dtypes.
    (r"Expected dtype \['fp32.*\] but got (?P<dtype>\w+)", anything,
     "A function on this line takes no {dtype}: convert it first, ….to(tl.float32)."),
    ("unexpected type (fp|bf)", anything,
     "//, % and tl.cdiv are for integers, and these are floats: / divides them, and tl.floor rounds down."),
    ("has no attribute '(scalar|to_ir)'", foreign_dtype,
     "{text} is no dtype of Triton: write {instead}."),
    (r"'(int|float|bool)' object has no attribute 'to'", converted,
     "{text} is a plain number here, without .to(): an argument that is 1, or a constexpr, is compiled in as "
     "a constant. tl.cast({text}, {dtype}) converts it either way."),
    ("NoneType", returnless,
     "{name} returns nothing: what it computes is lost without a return."),
    ("'NoneType' object has no attribute '(type|dtype)'|type <class 'NoneType'>", anything,
     "None stands in this line where a tensor or a number belongs. Does the launch give it, or a function "
     "that returns nothing?"),
    (r"['.](?P<type>list|range|tuple)(_type)?'(> to tensor| object has no attribute '(type|scalar)')",
     anything,
     "A {type} stands in this line where a tensor or a number belongs. Does the launch give it?"),
    # Python, NumPy and torch in a kernel.
    (r"(Unsupported function referenced: <function |Cannot access global variable )(?P<name>\w+)",
     plain_helper,
     "{name} is called in a kernel: it needs @triton.jit above its def as well."),
    (r"Cannot access global variable (?P<name>\w+)", anything,
     "A kernel takes no plain global, and {name} is one: make it {name} = tl.constexpr(…), or an argument."),
    (r"Unsupported function referenced: <(?:built-in \w+|ufunc|function) '?(?P<name>\w+)|"
     "Did you forget to add @triton.jit|not tensor", of_library,
     "{text} does not run in a kernel: tl has functions of its own."),
    ("Boolean value of Tensor|Ternary expression with dynamic condition|scf.if' op operand #0", anything,
     "An if decides once for the whole block: tl.where(condition, a, b) chooses for each element."),
    ("Cannot bitcast data-type of size", node(ast.Not),
     "not is for comparisons, and these are numbers: compare them with 0."),
    ("multiple comparison", bitwise_comparison,
     "{sign} binds tighter than a comparison: put both sides in parentheses, (a < m) {sign} (b < n)."),
    ("multiple comparison", anything,
     "Triton takes no chained comparison: write (a <= x) & (x < b)."),
    ("unsupported AST node type: (Break|Continue)", anything,
     "A kernel takes no `break` and no `continue`: let the loop's limits end it, or a mask skip the rest."),
    ("is not string", call("print", "device_print"),
     'What a kernel prints begins with words: tl.device_print("{first} is", {first}).'),
    (": breakpoint is not defined", anything,
     "A compiled kernel stops nowhere. track python --interpret FILE runs it line by line, and stops there."),
    (r": (?P<name>\w+) is not defined", unread,
     "{name} has no value in {kernel}. {advice}"),
]  # fmt: skip
