"""Kernels whose sizes of blocks are not the learner's to choose: handed out, or those of the inputs."""

from __future__ import annotations

import ast

from grader.diagnosis.source_context import (
    assigned,
    functions,
    jitted,
    last,
    launch,
    outside_kernels,
    parameters,
)

LEAST = 16  # what tl.dot asks for: no larger number is no choice


def fixed(source: str, given: frozenset[int]) -> frozenset[str]:
    """Kernels with no number of the learner's in what their constants are, their configs or their blocks.

    Args:
        given: lines that are handed out.
    """
    tree = ast.parse(source)
    rest = outside_kernels(tree)
    calls = [node for node in rest if isinstance(node, ast.Call) and launch(node)]
    made = [(node, assigned(node)) for node in rest if isinstance(node, ast.Assign)]
    by_name = {each.name: each for each in reversed(functions(tree))}

    def chosen(value: ast.AST) -> bool:
        """Whether such a number is in it: there, where its names are set, or in a function of the file."""
        reached, queue = list[ast.AST](), [value]
        while queue:
            node = queue.pop()
            reached.append(node)
            parts = [*ast.walk(node)]
            if any(_number(part) and part.lineno not in given for part in parts):  # type: ignore[attr-defined]
                return True
            names = {part.id for part in parts if isinstance(part, ast.Name)}
            called = [by_name.get(last(part.func)) for part in parts if isinstance(part, ast.Call)]
            behind = [*(one for one, sets in made if sets & names), *filter(None, called)]
            queue += [one for one in behind if one not in reached and one not in queue]
        return False

    kernels = [each for each in functions(tree) if jitted(each)]
    return frozenset(
        kernel.name
        for kernel in kernels
        if not any(map(chosen, [*kernel.decorator_list, *_sizes(kernel, calls)]))
    )


def _sizes(kernel: ast.FunctionDef, calls: list[ast.Call]) -> list[ast.expr]:
    """What launches hand to the constants of a kernel, and how long its blocks are."""
    constant = parameters(kernel)
    mine = [c for c in calls if isinstance(c.func, ast.Subscript) and last(c.func.value) == kernel.name]
    by_place = [pair for call in mine for pair in zip(call.args, constant.values(), strict=False)]
    by_name = [word for call in mine for word in call.keywords]
    aranges = [n for n in ast.walk(kernel) if isinstance(n, ast.Call) and last(n.func) == "arange"]
    return [
        *(value for value, is_constant in by_place if is_constant),
        *(word.value for word in by_name if word.arg is None or constant.get(word.arg)),
        *(length for call in aranges for length in call.args),
    ]


def _number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value > LEAST
