"""A file's code without what is only for readers: comments, blank lines and docstrings."""

from __future__ import annotations

import ast


def is_text(statement: ast.stmt) -> bool:
    """Whether it is a constant that nobody uses, as a docstring is."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def bare(tree: ast.Module) -> ast.Module:
    """A copy without docstrings."""
    copy = ast.parse(ast.unparse(tree))
    for node in ast.walk(copy):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)):
            node.body = [s for s in node.body if not is_text(s)] or [ast.Pass()]
    return copy
