"""What Triton's exceptions mean: the slips of beginners, each in one sentence.

A slip is told only where the exception's words and the learner's line both fit. Where interpreter and
compiler word it differently, the words of both stand in one row.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.judge.diagnosis import kernel_finders as kernel
from grader.judge.diagnosis import launch_finders as launch
from grader.judge.diagnosis import python_finders as python
from grader.judge.diagnosis.instead import instead
from grader.judge.diagnosis.refusals import REFUSALS
from grader.judge.diagnosis.site import Finder, Found, scene

NOT_DEFINED = r"(?:name '|CompilationError: )(?P<name>\w+)'? is not defined"
ITERATED = r"'int' object is not iterable"

# The first line of the exception with its type; what must stand on the learner's line; the sentence.
TABLE: list[tuple[str, Finder, str]] = [
    # A GPU where there is none.
    ("compiled (with CUDA enabled|without CUDA support)|Found no NVIDIA driver|No CUDA GPUs are available",
     launch.asks_for_gpu,
     "This line asks for a GPU, and there is none. Kernels are interpreted then, on tensors of the CPU: "
     "x.device says where x lies, with a GPU and without."),
    ("^AssertionError", launch.asserts_gpu,
     "This line insists on a GPU's tensors, and kernels are interpreted here, on tensors of the CPU. Leave "
     "it out: the file runs with a GPU and without."),
    # The launch.
    ("", launch.called_kernel,
     "{kernel} is called like a function, and a kernel needs a grid: {kernel}[grid](…)."),
    ("Cannot call @triton.jit|^AttributeError: 'builtin|Did you forget to add @triton.jit", launch.of_kernels,
     "tl.{name} works in kernels alone, and this line is outside of one{alike}."),
    ("'function' object is not subscriptable", launch.plain_function,
     "{name} is a plain Python function: @triton.jit above its def makes it a kernel that [grid] launches."),
    ("'function' object has no attribute 'arg_names'", launch.decorated,
     "{name} is a plain Python function: @triton.jit belongs right above its def, below other decorators."),
    (r"object of type '(int|float|NoneType|numpy\.\w+)' has no len\(\)", launch.launch,
     "The grid of {kernel} must be a tuple: with one axis it is (blocks,), with a comma."),
    (r"^TypeError: '(float|numpy\.float\d+)' object cannot be interpreted as an integer", launch.launch,
     "The grid of {kernel} counts programs, and holds a float: triton.cdiv(n, BLOCK) gives an integer."),
    (r"<lambda>\(\) takes 0 positional arguments but 1 was given", launch.launch,
     "A grid that is a function is called with the arguments of the launch: lambda meta: (…,)."),
    (r"^KeyError: '(?P<name>\w+)'", launch.of_meta,
     "No argument of the launch is called {name}. The parameters of {kernel} are {names}."),
    (r"(?P<function>\w+)\(\) missing \d+ required positional arguments?: (?P<lacks>.+)", launch.launch,
     "The launch lacks an argument of {kernel}: {lacks}{also}. Its parameters are {names}."),
    (r"(?P<function>\w+)\(\) takes (?P<takes>\d+) positional arguments? but (?P<given>\d+) ",
     launch.launch,
     "The launch gives {kernel} {given} arguments, and it takes {takes}: {names}."),
    (r"(?P<function>\w+)\(\) got multiple values for argument '(?P<name>\w+)'", launch.launch,
     "The launch gives {kernel} its {name} twice, by place and by name. Its parameters are {names}."),
    (r"Keyword argument (?P<name>\w+) was specified but unrecognised", launch.launch,
     "{kernel} has no parameter {name}. Its parameters are {names}."),
    ("num_warps must be a power of 2", launch.launch,
     "The launch asks for a num_warps that no GPU has: it is a power of 2, 1 to 32."),
    ("PassManager::run failed", launch.returns,
     "A kernel returns no value: what it computes leaves it by tl.store."),
    # Arguments of a launch: the compiler looks at them there, the interpreter where they are used.
    (r"'tuple(_type)?' object has|torch\.Size|core\.tuple'", launch.used(launch.TUPLE),
     "{text} is a tuple with a number for each axis, and is used as one number: hand over each, {each}, …"),
    (r"builtin_function_or_method|built-in method", launch.used(r"\w+\.(stride|numel|size|dim|data_ptr)"),
     "{text} is a method that was not called: write {call}."),
    (r"unsupported operand type.*'builtin_function_or_method'", launch.uncalled,
     "{text} is a method that was not called: write {call}."),
    ("Unsupported ptr type", launch.handed(r"\w+\.data_ptr\(\)"),
     "{text} is a plain number: hand over the tensor itself, {tensor}, and the kernel gets a pointer to it."),
    (r"failed to specialize argument of type: (?P<type>[\w.]+)", launch.launch,
     "An argument of this launch is of type {type}: {kernel} can take tensors and numbers."),
    # Memory.
    (rf"Did you forget to add @triton.jit|{ITERATED}|unsupported tensor index", kernel.pointer_index,
     "{text} does not read memory, since {pointer} is a pointer: tl.load({address}) reads where it points."),
    (r"converted to Python scalars|__setitem__|item assignment", kernel.pointer_index,
     "{text} = … does not write memory, since {pointer} is a pointer: tl.store({address}, …) writes there."),
    (r"__setitem__|item assignment", kernel.index,
     "{text} = …: single elements of a block cannot be set. tl.where(condition, a, b) chooses for each."),
    (r"Mask argument cannot be block type if pointer|load\(\) got multiple values for argument 'mask'",
     kernel.two_by_place,
     "tl.load takes {second} for its mask: offsets are added to the pointer, {first} + {second}."),
    ("Mask argument cannot be block type if pointer", kernel.call("load"),
     "tl.load reads at one address here, {first}, and its mask is a block: add the offsets to the pointer."),
    ("(Value|Mask) argument cannot be block type if pointer", kernel.call("store"),
     "tl.store writes to one address here, {first}, and is given a block: add the offsets to the pointer."),
    ("Unsupported ptr type|Pointer argument of store|cannot cast", kernel.stored_pointer,
     "tl.{word} takes first where to store and then what: {second} is made of addresses, not of values."),
    (r"Unsupported ptr type (<\[.*\], )?(?P<dtype>\w+)>? in", kernel.call("load", "store"),
     "{first} holds numbers ({dtype}) and no addresses: tl.{word} wants a pointer plus offsets first."),
    ("`other` cannot be provided without `mask`", kernel.call("load"),
     "other= is for the lanes that a mask leaves out, and this tl.load has no mask=."),
    ("Mask must have boolean scalar type", kernel.call("load", "store"),
     "The mask of this tl.{word} holds numbers: make it of comparisons, such as offs < n."),
    (r"operands of type pointer<\w+> and triton.language.float", kernel.anything,
     "A pointer meets a float here: offsets are integers. In a kernel / gives floats, and // integers."),
    (r"operands of type pointer<\w+> and", kernel.joined_last,
     "Python adds before it takes {sign}, so that {sign} meets the pointer: put brackets around {text}."),
    (r"operands of type pointer<\w+> and|cannot add pointers together", kernel.anything,
     "Only integers can be added to a pointer: tl.load gives the numbers that lie there. Where that is done, "
     "are the launch's arguments in the order of the kernel's?"),
    (r"list index out of range|'int' object is not callable|no attribute '(size|stride|dim)'",
     kernel.pointer_attribute,
     "{pointer} is a pointer and does not know the tensor's {name}: the launcher gives it as an argument."),
    (r"no attribute 'get_(?P<dtype>fp8\w+)'", kernel.anything,
     "There is no arithmetic in {dtype}: convert to fp32 first, .to(tl.float32)."),
    # Blocks.
    ("arange's arguments must be of type tl.constexpr", kernel.not_constant,
     "The ends of tl.arange must be integers known to the compiler, and {end} is not one. {advice}"),
    ("arange's range must be a power of 2", kernel.call("arange"),
     "The length of {call} is no power of 2: make it the next one, and mask the lanes past the end."),
    ("arange's end argument must be greater than the start", kernel.call("arange"),
     "{call} is empty: its end must be larger than its start, and a block has at least one element."),
    (r"arange\(\) missing 1 required positional argument: 'end'", kernel.call("arange"),
     "tl.arange takes a start and an end: tl.arange(0, {first})."),
    (r"'range' object|of type <class 'range'>", kernel.anything,
     "A range only drives a loop. A block of offsets is tl.arange(0, BLOCK)."),
    (rf"of type <class 'list'>|only tuple comprehensions|{ITERATED}", kernel.node(ast.ListComp),
     "A kernel has no lists: what it computes of a block holds for all elements of it at once."),
    (ITERATED, kernel.call("zeros", "full"),
     "The shape of {call} must be a tuple: with one axis it is ({first},), with a comma."),
    (r"missing (a|1) required (positional )?argument: 'dtype'", kernel.call("zeros", "full"),
     "{call} has no dtype: add dtype=tl.float32, or another."),
    (r"Shape element \d+ must have type `constexpr", kernel.anything,
     "The shape of a block must be known to the compiler: integers, or parameters declared tl.constexpr."),
    (r"Shape element \d+ must be a power of 2", kernel.anything,
     "Each side of a block must be a power of 2: make it the next one, and mask what lies past the end."),
    (r"incompatible dimensions at index (?P<axis>\d): (?P<a>\d+) and (?P<b>\d+)", kernel.anything,
     "Two blocks do not fit together: along axis {axis} one has {a} elements, the other {b}. Of a "
     "block of one axis [:, None] makes a column, and [None, :] a row."),
    (r"Expected pointer argument to have shape (?P<wanted>\[.*\]) but got (?P<shape>\[.*\])", kernel.anything,
     "The pointers here form a block of {shape}, value and mask one of {wanted}: give all the same axes."),
    ("cannot change total number of elements", kernel.call("reshape", "view"),
     "{call}: a block keeps its number of elements in every shape, and here it would not."),
    ("Cannot broadcast, rank mismatch", kernel.call("broadcast_to"),
     "{call}: the block has another number of axes. [:, None] or [None, :] adds one."),
    ("can only unsplat single-element", kernel.call("item"),
     "{call}: a kernel computes on whole blocks. tl.sum or tl.max makes one number of a block."),
    (r"(program_id|num_programs) axis must be 0, 1, or 2 but got (?P<axis>-?\d+)", kernel.anything,
     "A grid has the axes 0, 1 and 2, and this line asks for axis {axis}."),
    (r"(?:axis |invalid axis )(?P<axis>-?\d+)(?: out of bounds|\. Expected)", kernel.anything,
     "This block has no axis {axis}: axes count from 0."),
    ("must have equal ranks >= 2", kernel.call("dot"),
     "tl.dot multiplies blocks of two axes. For two vectors it is tl.sum(a * b, axis=0)."),
    ("must have equal reduction dimensions", kernel.call("dot"),
     "In {call} the first must have as many columns as the second has rows."),
    (r"Both operands must be same dtype. Got (?P<a>\w+) and (?P<b>\w+)", kernel.call("dot"),
     "{call} multiplies {a} by {b}, and both must have one dtype: convert one by .to(…)."),
    (rf"{ITERATED}|'Name' object has no attribute 'func'", kernel.walked,
     "A loop in a kernel counts with range(…), and cannot walk {text}: a block is computed on as a whole."),
    # Python, NumPy and torch in a kernel.
    (r"(object|'numpy\.\w+') has no attribute '(scalar|to_ir)'", python.foreign_dtype,
     "{text} is no dtype of Triton: write {instead}."),
    (r"Unsupported function referenced: <(?:built-in \w+|ufunc|function) '?(?P<name>\w+)", python.library,
     "{text} does not run in a kernel{instead}."),
    (r"Unsupported function referenced: <function (?P<name>\w+)", python.plain_helper,
     "{name} is called in a kernel: it needs @triton.jit above its def as well."),
    (r"not tensor|invalid combination of arguments|(NoneType|ndarray|or_method)' object has no attribute|"
     r"converted to Python scalars|not support ufuncs|type <class '(torch|numpy)", python.library,
     "{text} does not run in a kernel{instead}."),
    ("Did you forget to add @triton.jit", python.of_triton,
     "triton.{name} is for launchers: in a kernel write tl.{name}."),
    (r"module '(?P<module>triton(\.language(\.math)?)?)' has no attribute '(?P<name>\w+)'", python.named,
     "{module} has no {name}{instead}."),
    (r"'tensor' object has no attribute '(?P<name>[a-zA-Z]\w+|t)'", python.named,
     "What a kernel computes with has no .{name}{instead}."),
    (r"got an unexpected keyword argument '(?P<name>\w+)'", python.keyword_given,
     "{text} has no argument {name}={instead}."),
    (r"unsupported operand type\(s\) for \*\*|attribute '__pow__'", kernel.node(ast.Pow),
     "A kernel has no **: a square is x * x, and tl.exp2(x) is 2 to the power of x."),
    (r"unsupported operand type\(s\) for @|'MatMult' object", kernel.node(ast.MatMult),
     "A kernel has no @: the product of two blocks is tl.dot(a, b)."),
    ("object of type 'tensor' has no len", kernel.anything,
     "A kernel has no len(): a block's length is its BLOCK, that of the data an argument of the launch."),
    (NOT_DEFINED, python.python_word, "{text} is Python's, and does not work in a kernel{instead}."),
    (rf"{ITERATED}|bad operand type|or pow\(\)|doesn't define __|Python scalars|\(\) argument must be",
     python.python_word,
     "{text} is Python's, and does not work on a block{instead}."),
    (rf"{ITERATED}|unsupported tensor index", kernel.index,
     "{text}: [] only adds axes to a block, by : and None. It picks no element and cuts out no part."),
    ("Boolean value of Tensor|Ternary expression with dynamic condition", kernel.node(ast.If, ast.IfExp),
     "An if decides once for the whole block: tl.where(condition, a, b) chooses for each element."),
    ("chained comparison|multiple comparison", kernel.bitwise_comparison,
     "{sign} binds tighter than a comparison: put both sides in parentheses, (a < m) {sign} (b < n)."),
    ("multiple comparison", kernel.node(ast.Compare),
     "A kernel takes no chained comparison such as {text}: write (a <= b) & (b < c)."),
    ("is not string", kernel.call("print", "device_print"),
     'In a kernel {word} begins with a text: tl.device_print("x", x).'),
    ("Cannot evaluate f-string", kernel.anything,
     'A kernel cannot put values into an f-string: tl.device_print("x", x) prints them.'),
    ("For loop bounds and step must all be ints", kernel.node(ast.For),
     "A loop in a kernel counts in integers: / gives a float, and // an integer."),
    (r"Cannot access global variable (?P<name>\w+)", kernel.anything,
     "A kernel takes no plain global, and {name} is one: make it {name} = tl.constexpr(…), or an argument."),
    ("unsupported AST node type: Break", kernel.node(ast.Break),
     "A kernel takes no `break`: let the loop's limits end it, or a mask skip the rest."),
    ("unsupported AST node type: Continue", kernel.node(ast.Continue),
     "A kernel takes no `continue`: put what follows under an `if`, or mask it."),
    (r"unsupported AST node type: (?P<name>\w+)", kernel.anything,
     "Triton cannot compile this part of Python ({name}): a kernel is arithmetic, if, for and while."),
    (r"(?:local variable '|CompilationError: )(?P<name>\w+)(?:'| is not defined)", kernel.unset,
     "{name} has no value yet on this line. {advice}"),
    (NOT_DEFINED, python.library_here, "{text} does not run in a kernel{instead}."),
    (NOT_DEFINED, kernel.unread, "{name} has no value in {kernel}. {advice}"),
    (NOT_DEFINED, kernel.elsewhere,
     "{name} belongs to {owner}, and {kernel} does not know it: hand it over as an argument."),
    ("type triton.language.(float|fp|bfloat)", kernel.node(ast.BitAnd, ast.BitOr, ast.BitXor),
     "&, | and ^ join integers and comparisons, and one side here is a float."),
    ("unexpected type (fp|bf)", kernel.node(ast.FloorDiv, ast.Mod),
     "// and % are for integers, and these are floats: / divides them, and tl.floor rounds down."),
    ("'function' and '|<function (program_id|num_programs)", python.not_called,
     "{text} was not called: write {text}(0)."),
    (r"(?P<function>\w+)\(\) missing \d+ required positional arguments?: (?P<lacks>.+)", kernel.lacking,
     "{call} lacks an argument: {lacks}."),
    ("^ZeroDivisionError", launch.divided, "{by} is 0 here, and something is divided by it.{also}"),
    (r"Loop-carried variable (?P<name>\w+) has initial type (?P<a>.+) but is re-assigned to (?P<b>.+) in l",
     kernel.begun,
     "{name} is {a} before the loop and {b} after it: start it{at} as what it becomes, by tl.zeros or "
     "tl.full."),
    (r"'(int|float|bool)' object has no attribute 'to'", kernel.converted(given=True),
     "{name} is a plain number here, without .to(): an argument that is 1 is compiled in as a constant. "
     "tl.cast({name}, {dtype}) converts it either way."),
    (r"'(int|float|bool)' object has no attribute 'to'", kernel.converted(given=False),
     "{name} is a plain number that the compiler knows, without .to(): tl.cast({name}, {dtype}) works."),
    (r"'(int|float|bool)' object has no attribute 'to'", kernel.converted_sum,
     "{text} is a plain number here, without .to(): an argument that is 1, here {name}, is compiled in as a "
     "constant. tl.cast({text}, {dtype}) converts it either way."),
    ("'constexpr' object has no attribute 'shape'", kernel.hinted,
     "{name} is compiled in as a constant where it is 1, and {call} takes none. That 16 divides an argument "
     "Triton sees by itself: leave the hint out."),
    # Whatever else is no tensor of a kernel.
    ("'NoneType' object has no attribute '(type|dtype|scalar|handle)'", kernel.anything,
     "None stands in this line where a tensor or a number belongs. Does the launch give it?"),
    (r"'(?P<type>list|tuple|numpy\.ndarray|torch\.dtype)' object has no attribute 'type'", kernel.anything,
     "A {type} stands in this line where a tensor or a number belongs. Does the launch give it?"),
    (r"^TypeError: cannot convert .* of type <class '(?P<type>[\w.]+)'> to tensor", kernel.anything,
     "A {type} stands in this line, and a kernel computes with numbers and with what tl makes."),
]  # fmt: skip


@dataclass(frozen=True)
class Slip:
    """A slip in one sentence, and the line of the learner's file to change."""

    says: str
    line: int


def slip(fault: Mapping[str, Any], source: str) -> Slip | None:
    """The slip behind an exception; None where none is certain.

    Args:
        fault: an answers.Fault as a dictionary.
        source: of the learner's file.
    """
    try:
        where = scene(ast.parse(source), fault["line"], fault["traceback"])
    except (SyntaxError, ValueError):
        return None
    words = f"{fault['type']}: " + " ".join(str(fault["message"]).split())
    for pattern, finder, says in [*REFUSALS, *TABLE]:
        match = re.search(pattern, words)
        found = finder(where, match) if match else None
        if match and found is not None:
            return Slip(says.format(**_words(match, found)), found.get("line", fault["line"]))
    return None


def _words(match: re.Match[str], found: Found) -> Found:
    """All that a sentence may name: types and shapes as a person writes them."""
    words = {name: _plain(text or "") for name, text in match.groupdict().items()} | found
    return {"instead": instead(str(words.get("name", "")), str(words.get("owner", "x"))), **words}


def _plain(text: str) -> str:
    """`a [16] block of fp32` of <['16'], fp32>, and `16 × 1` of a list of constants."""
    shape = re.match(r"<?\[(.*)\](?:, (\w+)>)?$", text)
    if not shape:
        return text.replace("'", "")
    sides = " × ".join(re.findall(r"\d+", shape[1]))
    return f"a block of {sides} {shape[2]}" if shape[2] else sides
