"""What a launcher has torch compute: the lines of its operators on tensors, and of its calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from grader.judge.diagnosis.site import assigned, functions, jitted, last, root

# By what torch calls the operator that runs.
SIGNS: dict[str, type[ast.operator] | type[ast.unaryop]] = {
    "add": ast.Add,
    "sub": ast.Sub,
    "mul": ast.Mult,
    "div": ast.Div,
    "pow": ast.Pow,
    "mm": ast.MatMult,
    "mv": ast.MatMult,
    "bmm": ast.MatMult,
    "matmul": ast.MatMult,
    "neg": ast.USub,
}
# Of a tensor, what is no tensor.
FACTS = {"shape", "size", "stride", "numel", "dim", "ndim", "nbytes", "itemsize", "element_size", "item"}
FACTS |= {"dtype", "device", "tolist", "is_contiguous", "data_ptr"}
LIBRARIES = ("torch", "F")
# Of torch, what makes no tensor; as all that torch.cuda knows of a device.
PLAIN = {"device", "finfo", "iinfo", "promote_types", "result_type", "broadcast_shapes", "Size"}
CONVERSIONS = {"to", "type", "type_as", "half", "bfloat16", "float", "double", "copy_"}
ALLOCATES = {"empty", "empty_like", "zeros", "zeros_like", "full", "full_like", "apply"}


def signs(tree: ast.Module, name: str) -> set[int]:
    """The lines of the operator on tensors that torch calls `name`; `add` for +."""
    kind = SIGNS.get(name.rstrip("_"))
    return {node.lineno for node in _on_tensors(tree) if kind and isinstance(node.op, kind)}


def converts(source: str) -> bool:
    """Whether a launcher may convert a tensor itself, by a method or a function of torch's."""
    calls = (n for f in _launchers(ast.parse(source)) for n in ast.walk(f) if isinstance(n, ast.Call))
    return any(last(call.func) in CONVERSIONS for call in calls)


def computes(tree: ast.Module, _: Iterable[ast.AST] = ()) -> set[int]:
    """The lines of all operators on tensors, and of torch's own functions."""
    lines = {node.lineno for node in _on_tensors(tree)}
    calls = (n for f in _launchers(tree) for n in ast.walk(f) if isinstance(n, ast.Call))
    return lines | {c.lineno for c in calls if _of_torch(c.func) and last(c.func) not in ALLOCATES}


def _of_torch(called: ast.expr) -> bool:
    """Whether it is a function of torch's that may give a tensor."""
    knows = last(called) in PLAIN or ast.unparse(called).startswith("torch.cuda.")
    return root(called) in LIBRARIES and not knows


def _launchers(tree: ast.Module) -> list[ast.FunctionDef]:
    return [function for function in functions(tree) if not jitted(function)]


def _on_tensors(tree: ast.Module) -> list[ast.BinOp | ast.AugAssign | ast.UnaryOp]:
    of_file = {f.name for f in _launchers(tree) if _gives_tensor(f)}
    return [node for launcher in _launchers(tree) for node in _operators(launcher, of_file)]


def _gives_tensor(launcher: ast.FunctionDef) -> bool:
    """Whether a function says that it returns one, or returns what torch made in it."""
    if launcher.returns:
        return ast.unparse(launcher.returns).endswith("Tensor")
    nodes = [*ast.walk(launcher)]
    returned = {last(n.value) for n in nodes if isinstance(n, ast.Return) and n.value is not None}
    made = ((n, n.value) for n in nodes if isinstance(n, ast.Assign))
    return any(
        assigned(node) & returned and isinstance(value, ast.Call) and _of_torch(value.func)
        for node, value in made
    )


def _operators(launcher: ast.FunctionDef, of_file: set[str]) -> list[ast.BinOp | ast.AugAssign | ast.UnaryOp]:
    given = [*launcher.args.posonlyargs, *launcher.args.args, *launcher.args.kwonlyargs]
    known = {a.arg for a in given if a.annotation and "Tensor" in ast.unparse(a.annotation)}
    known |= of_file  # whose calls give tensors
    made = sorted((n for n in ast.walk(launcher) if isinstance(n, ast.Assign)), key=lambda n: n.lineno)
    for node in made:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and _tensor(node.value, known):
            known.add(node.targets[0].id)
    found = [n for n in ast.walk(launcher) if isinstance(n, ast.BinOp | ast.AugAssign | ast.UnaryOp)]
    return [node for node in found if any(_tensor(side, known) for side in _sides(node))]


def _sides(node: ast.BinOp | ast.AugAssign | ast.UnaryOp) -> tuple[ast.expr, ...]:
    if isinstance(node, ast.UnaryOp):
        return (node.operand,)
    return (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)


def _tensor(node: ast.expr, known: set[str]) -> bool:
    """Whether an expression is a tensor: one of these names, or made of one or by torch."""
    if isinstance(node, ast.Name):
        return node.id in known
    if isinstance(node, ast.BinOp | ast.UnaryOp):
        return any(_tensor(side, known) for side in _sides(node))
    if isinstance(node, ast.Subscript):
        return _tensor(node.value, known)
    if isinstance(node, ast.Attribute):
        return node.attr not in FACTS and _tensor(node.value, known)
    if isinstance(node, ast.Call):
        made = _of_torch(node.func) and last(node.func) not in FACTS
        made = made or last(node.func) == "apply" or _tensor(node.func, known)
        return made
    return False
