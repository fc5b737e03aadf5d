"""The learner's file with all but one of its functions replaced by ours, so that this one is judged alone.

Ours are appended: a later definition is the one that counts, and the learner's lines keep their numbers.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from grader.diagnosis.skeleton import bare
from grader.strip_comments import is_text

KEPT = "_the_learners"  # class, under another name than ours
IDLE = ("pass", "return", "return None", "raise NotImplementedError", "raise NotImplementedError()")
AXES = ("program_id", "num_programs")
Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Files:
    """One day's file as the learner has it, as it was handed out, and as we would fill it in."""

    learner: str
    skeleton: str
    ours: str

    @cached_property
    def _trees(self) -> tuple[ast.Module, ast.Module, ast.Module]:
        return ast.parse(self.learner), ast.parse(self.skeleton), ast.parse(self.ours)

    def started(self, name: str) -> bool:
        """Whether the learner's code of a function, or of `Class.method`, is another than the skeleton's.

        What does nothing (`pass`, `return None`, `raise NotImplementedError`) is no code.
        """
        learner, skeleton, _ = self._trees
        body = _body(_find(learner, name))
        return bool(body) and body != _body(_find(skeleton, name))

    def bare(self, name: str, given: frozenset[int]) -> list[str]:
        """The TODOs of a function, or of `Class.method`, with no line right below them: `TODO 8`.

        Args:
            given: the learner's lines that are handed out.
        """
        place = _find(self._trees[0], name)
        return bare(self.learner, given, place) if isinstance(place, ast.FunctionDef) else []

    def fit(self) -> bool:
        """Whether ours can stand in for the learner's functions: both were built to the skeleton's plan.

        Who passes other arguments, numbers programs along another axis, or adds up by atomics where we do
        not, is on a way of their own, which may be as good; of its parts we know nothing.
        """
        learner, skeleton, ours = map(_definitions, self._trees)
        assigned, known = _assigned(self._trees[0]), _assigned(self._trees[2])
        return (
            all(name in learner and _alike(learner[name], ours[name]) for name in skeleton)
            and all(_same(learner.get(name), ours[name]) for name in ours.keys() - skeleton.keys())
            and all(assigned.get(name, value) == value for name, value in known.items())
        )

    def alone(self, name: str) -> str:
        """The learner's file in which a function, or `Class.method`, is theirs, and every other one ours."""
        owner, _, method = name.partition(".")
        lines = self.ours.splitlines()
        others = [node for node in self._trees[2].body if method or getattr(node, "name", "") != owner]
        kept = [node for node in others if not _only_at_the_top(node)]
        appended = ["\n".join(lines[_begin(node) - 1 : node.end_lineno]) for node in kept]
        if method:
            appended = [f"{KEPT} = {owner}", *appended, f"{owner}.{method} = vars({KEPT})[{method!r}]"]
        return "\n\n\n".join([self.learner.rstrip(), *appended]) + "\n"


def _find(tree: ast.Module, name: str) -> ast.AST | None:
    """The function, or the method of `Class.method`; None where there is none."""
    found: ast.AST | None = tree
    for part in name.split("."):
        inside = getattr(found, "body", ())
        found = next((node for node in inside if getattr(node, "name", "") == part), None)
    return found


def _body(node: ast.AST | None) -> str:
    """The code of a definition without its docstring and what does nothing, to compare."""
    if not isinstance(node, Definition):
        return ""
    return "\n".join(ast.dump(statement) for statement in node.body if not _is_idle(statement))


def _is_idle(statement: ast.stmt) -> bool:
    return is_text(statement) or ast.unparse(statement) in IDLE


def _definitions(tree: ast.Module) -> dict[str, Definition]:
    return {node.name: node for node in tree.body if isinstance(node, Definition)}


def _assigned(tree: ast.Module) -> dict[str, str]:
    """What is assigned at the top of a file, by name."""
    found = (node for node in tree.body if isinstance(node, ast.Assign))
    return {ast.unparse(target): ast.dump(node.value) for node in found for target in node.targets}


def _alike(one: Definition, ours: Definition) -> bool:
    """Whether one can be called and launched as ours is."""
    return _parameters(one) == _parameters(ours) and _launched_by(one) <= _launched_by(ours)


def _same(one: Definition | None, ours: Definition) -> bool:
    """Whether a helper of ours hides none of the learner's that has its name by chance."""
    return one is None or ast.dump(one) == ast.dump(ours)


def _parameters(node: Definition) -> list[str]:
    return [arg.arg for arg in node.args.args] if isinstance(node, ast.FunctionDef) else []


def _launched_by(node: Definition) -> set[str]:
    """What a launcher has to know of a kernel: the axes of its grid, and whether it adds to what is there."""
    found = set()
    for call in ast.walk(node):
        name = ast.unparse(call.func).rpartition(".")[2] if isinstance(call, ast.Call) else ""
        if isinstance(call, ast.Call) and name in AXES:
            found |= {ast.unparse(argument) for argument in call.args}
        found |= {"atomic"} if name.startswith("atomic") else set()
    return found


def _only_at_the_top(node: ast.stmt) -> bool:
    return is_text(node) or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _begin(node: ast.stmt) -> int:
    """The first line, decorators too."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])
