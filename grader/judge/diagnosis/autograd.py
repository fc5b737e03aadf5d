"""What autograd says of a backward() that returns something else than it asks for."""

from __future__ import annotations

import ast
import re

from grader.judge.diagnosis.evidence import Diagnosis

RETURNED = r"unction (\w+)Backward returned an? "
COUNT = re.compile(RETURNED + r"incorrect number of gradients \(expected (\d+), got (\d+)\)")
SHAPE = re.compile(RETURNED + r"invalid gradient at index (\d+) - got (\S.*?) but expected .*?(\[.*\])")
NUMBER = re.compile(RETURNED + r"gradient different than None at position (\d+)")


def of_autograd(message: str, source: str) -> Diagnosis | None:
    """The sentence, and the line of the class's backward(); None for other exceptions."""
    if found := COUNT.search(message):
        backward = _backward(source, found[1])
        empty = backward and not any(isinstance(node, ast.Return) for node in ast.walk(backward))
        got = "nothing" if empty else f"{found[3]} value{'s' * (found[3] != '1')}"
        says = f"backward() returns {got} where {found[2]} gradients are asked for"
        advice = "one for each argument of forward(), in their order, and None for what is no tensor."
    elif found := NUMBER.search(message):
        says = f"backward() returns a gradient at place {found[2]} of its values"
        advice = "that argument of forward() is no tensor, and None belongs there."
    elif found := SHAPE.search(message):
        says = f"backward() returns at index {found[2]} a gradient {found[3]}, and the argument is {found[4]}"
        advice = "the gradient of a tensor has its shape."
    else:
        return None
    backward = _backward(source, found[1])
    return f"{says}: {advice}", f"backward(), line {backward.lineno}" if backward else "backward()"


def _backward(source: str, name: str) -> ast.FunctionDef | None:
    """backward() of the class of this name."""
    classes = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ClassDef) and n.name == name)
    found = (n for c in classes for n in c.body if isinstance(n, ast.FunctionDef) and n.name == "backward")
    return next(found, None)
