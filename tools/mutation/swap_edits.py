"""Edits in which two things change places: axes, strides, arguments, programs."""

from __future__ import annotations

import ast
import copy
from itertools import pairwise

from grader.diagnosis.source import keyword
from grader.judge.repair.variable_roles import changed, name_of
from tools.mutation.expression_edits import Edits


def swap_strides(node: ast.AST) -> Edits:
    """`x.stride(0)` takes the other axis, `*x.stride()` the other order; in a sum two names change places."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _crossed(node)
    if not isinstance(node, ast.Call) or name_of(node) != "stride":
        return
    if not node.args:
        yield ast.parse(f"{ast.unparse(node)}[::-1]", mode="eval").body
    elif isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, int):
        yield changed(node, args=[ast.Constant(0 if node.args[0].value else 1)])


def _crossed(node: ast.BinOp) -> Edits:
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and "stride" in each.id]
    if len(names) == 2 and names[0] != names[1]:
        other = copy.deepcopy(node)
        for each in ast.walk(other):
            if isinstance(each, ast.Name) and each.id in names:
                each.id = names[1 - names.index(each.id)]
        yield other


def swap_axis(node: ast.AST) -> Edits:
    if isinstance(node, ast.Call):
        axis = keyword(node, "axis")
        if isinstance(axis, ast.Constant) and isinstance(axis.value, int):
            given = ast.keyword("axis", ast.Constant(0 if axis.value else 1))
            yield changed(node, keywords=[given if each.arg == "axis" else each for each in node.keywords])
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        yield changed(node, slice=ast.Tuple(node.slice.elts[::-1], ast.Load()))


def swap_programs(node: ast.AST) -> Edits:
    if isinstance(node, ast.Call) and name_of(node) in ("program_id", "num_programs") and node.args:
        axis = node.args[0]
        if isinstance(axis, ast.Constant):
            yield changed(node, args=[ast.Constant(0 if axis.value else 1)])


def swap_arguments(node: ast.AST) -> Edits:
    """Two neighbours of one call of a kernel or of a function of the file's own."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Subscript | ast.Name):
        return
    for at, (one, other) in enumerate(pairwise(node.args)):
        if isinstance(one, ast.Name) and isinstance(other, ast.Name) and one.id != other.id:
            yield changed(node, args=[*node.args[:at], other, one, *node.args[at + 2 :]])


def drop_transpose(node: ast.AST) -> Edits:
    if isinstance(node, ast.Attribute) and node.attr == "T":
        yield node.value
    if name_of(node) == "trans" and isinstance(node, ast.Call):
        yield node.args[0]


def change_shape(node: ast.AST) -> Edits:
    """`x.shape[0]` becomes the size of another axis."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
        at = node.slice
        if node.value.attr == "shape" and isinstance(at, ast.Constant) and isinstance(at.value, int):
            yield changed(node, slice=ast.Constant(0 if at.value else 1))
