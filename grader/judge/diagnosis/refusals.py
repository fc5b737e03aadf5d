"""What single words of tl refuse, or the interpreter cannot do: rows of the table in slips.py."""

from __future__ import annotations

import ast
import re

from grader.judge.diagnosis import kernel_finders as kernel
from grader.judge.diagnosis import python_finders as python
from grader.judge.diagnosis.site import Finder, Found, Scene, last, quoted, root

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
        for given in [*call.args, *(keyword.value for keyword in call.keywords)]:
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


REFUSALS: list[tuple[str, Finder, str]] = [
    ("^NotImplementedError: NotImplementedError$", unwritten, "{function} is still to be written."),
    (r"Expected dtype \[(?P<wanted>.*)\] but got (?P<dtype>\w+)", given_another_dtype,
     "{text} takes no {dtype}: convert it first, {cure}."),
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
     "loop, or by several programs."),
    ("has no attribute 'scalar'", other_dtype, "{text} is no dtype of Triton: write {dtype}."),
    ("'dtype' object is not callable", dtype_called, "{text} is a dtype: {first}.to({text}) converts."),
    (r"assert acc\.type|accumulator shape|^AssertionError: AssertionError$", accumulator,
     "What {call} adds to must be of the product's shape, and in fp32; in int32 where it multiplies int8."),
    (r"Tensor descriptor last dim must be 1 but got (?P<stride>\d+)", kernel.anything,
     "A tensor descriptor needs elements that lie side by side: its last stride must be 1, and is {stride}."),
    (r"^NotImplementedError: (?P<name>\w+) not supported in interpreter mode", kernel.anything,
     "Without a GPU a kernel runs in Triton's interpreter, which has no {name}: write it in words of tl, or "
     "grade it on a GPU."),
    ("'InterpreterBuilder' object has no attribute", kernel.anything,
     "Without a GPU a kernel runs in Triton's interpreter, which cannot do what stands on this line: write "
     "it in other words, or grade it on a GPU."),
]  # fmt: skip
