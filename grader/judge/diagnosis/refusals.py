"""What single words of tl refuse, or the interpreter cannot do: rows of the table in slips.py."""

from __future__ import annotations

import ast
import re

from grader.judge.diagnosis import kernel_finders as kernel
from grader.judge.diagnosis import python_finders as python
from grader.judge.diagnosis.site import (
    Finder,
    Found,
    Scene,
    functions,
    in_kernels,
    jitted,
    last,
    parameters,
    quoted,
    root,
)
from grader.judge.diagnosis.source import keyword

# Words whose arguments are held against a list of dtypes.
FLOATING = (
    "ceil", "cos", "div_rn", "erf", "exp", "exp2", "floor", "log", "log2", "rsqrt", "sigmoid", "sin",
    "softmax", "sqrt", "sqrt_rn",
)  # fmt: skip
DTYPES = {
    "int": "int32", "float": "float32", "bool": "int1", "half": "float16", "double": "float64",
    "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
}  # fmt: skip


def given_another_dtype(scene: Scene, match: re.Match[str]) -> Found | None:
    """The one call on the line that takes fp32, perhaps fp64, and no other dtype."""
    calls = scene.here.calls(*FLOATING) if scene.here.in_kernel and "fp32" in match["wanted"] else []
    if len(calls) != 1:
        return {"text": "A function on this line", "cure": "….to(tl.float32)"} if calls else None
    word = f"tl.{last(calls[0].func)}"
    given = quoted(calls[0].args[0]) if len(calls[0].args) == 1 else ""
    cure = f"{word}({given}.to(tl.float32))" if given.isidentifier() else "….to(tl.float32)"
    return {"text": word, "cure": cure}


def other_dtype(scene: Scene, _: re.Match[str]) -> Found | None:
    """`x.to(int)`, `x.to("fp16")`: what Triton calls otherwise."""
    for call in scene.here.calls("to", "cast", "zeros", "full") if scene.here.in_kernel else []:
        for given in [*call.args, *(named.value for named in call.keywords)]:
            name = given.id if isinstance(given, ast.Name) else getattr(given, "value", None)
            if isinstance(name, str) and name in DTYPES:
                return {"text": ast.unparse(given), "dtype": f"tl.{DTYPES[name]}"}
    return None


def dtype_called(scene: Scene, _: re.Match[str]) -> Found | None:
    """`tl.float32(x)`."""
    calls = scene.here.calls(*python.DTYPES) if scene.here.in_kernel else []
    found = next((call for call in calls if root(call.func) == "tl" and call.args), None)
    return {"text": ast.unparse(found.func), "first": quoted(found.args[0])} if found else None


def accumulator(scene: Scene, _: re.Match[str]) -> Found | None:
    """A tl.dot that is given something to add to."""
    dots = scene.here.calls("dot") if scene.here.in_kernel else []
    given = [call for call in dots if len(call.args) > 2 or any(k.arg == "acc" for k in call.keywords)]
    return {"call": quoted(given[0])} if given else None


def unwritten(scene: Scene, _: re.Match[str]) -> Found | None:
    """`raise NotImplementedError`."""
    around, raises = scene.here.function, [n for n in scene.here.nodes if isinstance(n, ast.Raise)]
    return {"function": around.name} if around and raises else None


def number_for_mask(scene: Scene, _: re.Match[str]) -> Found | None:
    """The file's one tl.load whose mask is no comparison: the compiler fails there without a word of it."""
    found = []
    for name in functions(scene.here.tree):
        if jitted(name):
            loads = [n for n in ast.walk(name) if isinstance(n, ast.Call) and last(n.func) == "load"]
            found += [(keyword(call, "mask"), call.lineno) for call in loads if _numeric(call, name)]
    return {"text": quoted(found[0][0]), "line": found[0][1]} if len(found) == 1 and found[0][0] else None


def _numeric(load: ast.Call, kernel: ast.FunctionDef) -> bool:
    """Whether its mask is a number, an argument of the kernel, or the offsets themselves."""
    mask = keyword(load, "mask")
    if isinstance(mask, ast.Constant):
        return type(mask.value) in (int, float)
    made = [n.value for n in ast.walk(kernel) if isinstance(n, ast.Assign) and _sets(n, mask)]
    offsets = bool(made) and all(_offsets(value) for value in made)
    return isinstance(mask, ast.Name) and (offsets or (not made and mask.id in parameters(kernel)))


def _sets(node: ast.Assign, name: ast.expr | None) -> bool:
    return isinstance(name, ast.Name) and any(last(target) == name.id for target in node.targets)


def _offsets(value: ast.expr) -> bool:
    """Made of a tl.arange, and compared with nothing."""
    nodes = [*ast.walk(value)]
    aranges = any(isinstance(n, ast.Call) and last(n.func) == "arange" for n in nodes)
    return aranges and not any(isinstance(n, ast.Compare) for n in nodes)


def anywhere(word: str) -> Finder:
    """The file's one call of a word of tl: where the compiler fails, it does not always say on which line."""

    def find(scene: Scene, _: re.Match[str]) -> Found | None:
        calls = [n for n in in_kernels(scene.here.tree) if isinstance(n, ast.Call) and last(n.func) == word]
        return {"call": quoted(calls[0]), "line": calls[0].lineno} if len(calls) == 1 else None

    return find


def in_fp8(scene: Scene, _: re.Match[str]) -> Found | None:
    """Arithmetic on what is cast to FP8."""
    for node in in_kernels(scene.here.tree):
        if not isinstance(node, ast.BinOp):
            continue
        for side in (node.left, node.right):
            to = (
                side.args[0] if isinstance(side, ast.Call) and last(side.func) == "to" and side.args else None
            )
            if to and "float8" in ast.unparse(to):
                return {"dtype": last(to).replace("float", "fp"), "text": quoted(node), "line": node.lineno}
    return None


REFUSALS: list[tuple[str, Finder, str]] = [
    ("^NotImplementedError: NotImplementedError$", unwritten, "{function} is still to be written."),
    (r"Expected dtype \[(?P<wanted>.*)\] but got (?P<dtype>\w+)", given_another_dtype,
     "{text} takes no {dtype}: convert it first, {cure}."),
    ("error encountered during parsing", number_for_mask,
     "The compiler fails without a word, and the mask of this tl.load is {text}, a number: make it of "
     "comparisons, such as offs < n, or leave it out."),
    ("error encountered during parsing", anywhere("fma"),
     "The compiler fails without a word. {call} is for floats alone: of integers write a * b + c."),
    ("PassManager::run failed", in_fp8,
     "The compiler fails without a word. There is no arithmetic in {dtype}, as in {text}: convert to fp32 "
     "first, .to(tl.float32)."),
    ("PassManager::run failed", anywhere("fdiv"),
     "The compiler fails without a word. {call} is for fp32 and fp64 alone: convert what is given first, by "
     ".to(tl.float32), or divide with /."),
    ("both operands of fdiv must have floating", kernel.call("fdiv"),
     "{call} divides floats: of integers / makes a float, and // an integer."),
    ("Only floating point clamp is supported", kernel.call("clamp"),
     "{call} takes floats: of integers write tl.minimum(tl.maximum(x, low), high)."),
    (r"Expected dtype \['int.*\] but got (?P<dtype>\w+)", kernel.call("umulhi"),
     "{call} multiplies integers, and is given {dtype}."),
    (r"unexpected type (?P<dtype>fp|bf)", kernel.call("cdiv"),
     "{call}: tl.cdiv divides integers and rounds up, and these are floats."),
    ("wrong type argument to unary invert", kernel.node(ast.Invert),
     "~ is for integers and comparisons, and this is a float."),
    ("type triton.language.(float|fp|bfloat)", kernel.node(ast.LShift, ast.RShift),
     "<< and >> move the bits of integers, and one side here is a float."),
    ("Cannot bitcast data-type of size", kernel.node(ast.Not),
     "not is for comparisons, and these are numbers: compare them with 0."),
    (r"AssertionError: (?P<name>histogram|xor_sum) only support|Failure: (?P<other>xor_sum) only support",
     kernel.call("histogram", "xor_sum"), "tl.{word} takes integers: {call} is given floats."),
    ("'<=' not supported between instances of 'int' and 'NoneType'", kernel.call("flip"),
     "{call} lacks its axis: tl.flip({first}, 0)."),
    ("only minor dimension is currently supported", kernel.call("sort", "topk"),
     "tl.{word} sorts along the last axis alone: turn the block by tl.trans first."),
    (r"(?P<name>atomic_\w+) does not support (?P<dtype>\w+)", kernel.anything,
     "tl.{name} has no form for {dtype}: give it memory of fp32 or of integers."),
    (r"Scalar (?P<number>-?\d+) is out of range for type (?P<dtype>\w+)", kernel.anything,
     "{number} does not fit {dtype}, which the other side is: convert that first, by .to(tl.int64)."),
    (r"numel \((?P<count>\d+)\) exceeds triton maximum tensor numel \((?P<most>\d+)\)", kernel.anything,
     "A block on this line has {count} elements, and no block in Triton more than {most}: go over them in a "
     "loop, or by several programs; where a column met a row unasked, [:, None] or [None, :] is missing."),
    ("arange must fit in int32", kernel.call("arange"),
     "With {call} a block would have more than 2³¹ elements, and no block in Triton has more than 1048576: "
     "go over them in a loop, or by several programs."),
    ("has no attribute 'scalar'", other_dtype, "{text} is no dtype of Triton: write {dtype}."),
    ("'dtype' object is not callable", dtype_called, "{text} is a dtype: {first}.to({text}) converts."),
    (r"assert acc\.type|accumulator shape|^AssertionError: AssertionError$", accumulator,
     "What {call} adds to must be of the product's shape, and in fp32; in int32 where it multiplies int8."),
    (r"Tensor descriptor last dim must be 1 but got (?P<stride>\d+)", kernel.anything,
     "A tensor descriptor needs elements that lie side by side: its last stride must be 1, and is {stride}."),
    ("^NotImplementedError: inline_asm not supported in interpreter mode", kernel.anything,
     "Inline assembly is run by a GPU alone, and there is none here: that says nothing against your kernel. "
     "Grade it on a GPU, or write what it computes in words of tl or libdevice."),
    (r"^NotImplementedError: (?P<name>[\w.]+) not supported in interpreter mode", kernel.anything,
     "Without a GPU a kernel runs in Triton's interpreter, which has no {name}: write it in words of tl, or "
     "grade it on a GPU."),
    ("'InterpreterBuilder' object has no attribute", kernel.anything,
     "Without a GPU a kernel runs in Triton's interpreter, which cannot do what stands on this line: write "
     "it in other words, or grade it on a GPU."),
]  # fmt: skip
