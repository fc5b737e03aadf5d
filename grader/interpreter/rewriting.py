"""Kernels rewritten so that their Python means to the interpreter what it means to Triton's compiler.

The interpreter runs a kernel as the Python that it is. To the compiler `a and b` of two blocks is both of
them, lane by lane, a `range` counts in int32, and there is no `break`. It never sees the branches that
constants leave out: so what it would refuse is refused where a running kernel comes to it, and nowhere else.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import triton
from triton.compiler.code_generator import CodeGenerator
from triton.runtime import interpreter

from grader.interpreter import annotated, meanings

REWRITTEN: dict[Any, Any] = {}  # by the function under @triton.jit
MEANINGS = "__meanings__"  # what the module is called among the names of a kernel's file
PLAIN = (bool, int, float, str, tuple, list, dict, type(None))  # types of globals that no kernel may use
LOOPS = (ast.For, ast.While)
PARTS = (ast.Starred, ast.FormattedValue)  # the compiler takes them with the call, or the text, around them


def install() -> None:
    """Rewrite every kernel of this process that is not Triton's own, before the interpreter does."""
    rewriter: Any = interpreter.FunctionRewriter
    stock_tree, stock_rewriter = rewriter._transform_ast, rewriter.ast_transformer

    class Both:
        def __init__(self, function: Any) -> None:
            self.function = function

        def visit(self, tree: ast.AST) -> Any:
            return stock_rewriter.visit(_rewritten(tree, self.function))

    def transform(self: Any, source: str) -> Any:
        if not self.fn.__module__.startswith("triton."):
            self.ast_transformer = Both(self.fn)
        tree = stock_tree(self, source)
        return _enclosed(tree, self.fn.__code__.co_freevars)

    def find_def(self: Any, lines: list[str]) -> int:
        """The kernel's own `def`, the first; the stock one takes the last, one in its docstring too."""
        return next(number for number, line in enumerate(lines, 1) if line.strip().startswith("def "))

    rewriter._transform_ast, rewriter._find_def = transform, find_def
    interpreter.InterpretedFunction.rewrite = _rewrite


def _rewrite(kernel: Any) -> Any:
    """What runs in the place of a kernel. Triton keeps it where a file can put another function.

    Raises:
        ValueError: it has no source. The interpreter would run it as it is, the compiler says this.
    """
    if kernel.fn not in REWRITTEN:
        try:
            inspect.getsourcelines(kernel.fn)
        except OSError:
            raise ValueError("@jit functions should be defined in a Python file") from None
        rewritten = interpreter.FunctionRewriter(kernel.fn, **kernel.kwargs).rewrite_ast()
        if kernel.fn.__closure__:
            rewritten = rewritten(*(cell.cell_contents for cell in kernel.fn.__closure__))
        rewritten.__annotations__ = annotated.notes(kernel.fn)
        REWRITTEN[kernel.fn] = rewritten
    return REWRITTEN[kernel.fn]


def _enclosed(tree: Any, names: tuple[str, ...]) -> Any:
    """Defined in a function that is handed what `names` stand for, as it was in the file."""
    if names:
        kernel = tree.body[0]
        tree.body = ast.parse(f"def {kernel.name}({', '.join(names)}):\n    return {kernel.name}").body
        tree.body[0].body.insert(0, kernel)
    return tree


def _rewritten(tree: Any, function: Any) -> Any:
    """The kernel's body; its decorators, annotations and defaults are Python's own."""
    function.__globals__[MEANINGS] = meanings
    function.__globals__["interpreter_semantic"] = interpreter.interpreter_semantic  # none of the file's own
    kernel = tree.body[0]
    names = function.__globals__ | inspect.getclosurevars(function).nonlocals
    constants = {arg.arg for arg in ast.walk(kernel) if isinstance(arg, ast.arg) and _constant(arg)}
    visitor = Visitor(names, set(_locals(kernel)), constants)
    whole = ast.Module(kernel.body, [])
    visitor.generic_visit(whole)  # one statement may become several
    kernel.body = whole.body
    return tree


def _locals(kernel: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(kernel):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _constant(arg: ast.arg) -> bool:
    return arg.annotation is not None and "constexpr" in ast.unparse(arg.annotation)


class Visitor(ast.NodeTransformer):
    """Rewrites one kernel.

    Args:
        names: the globals of its file, and those of a function that it is defined in.
        own: names that are local to it.
        constants: those of them that are handed over as constants.
    """

    def __init__(self, names: dict[str, Any], own: set[str], constants: set[str]) -> None:
        self.names, self.own, self.constants = names, own, constants
        self.loops: list[ast.AST] = []

    def visit(self, node: ast.AST) -> Any:
        if self._unknown(node):
            words = ast.Constant(f"unsupported AST node type: {type(node).__name__}")
            refused = _call(node, "refused", words)
            return ast.copy_location(ast.Expr(refused), node) if isinstance(node, ast.stmt) else refused
        if not isinstance(node, LOOPS):
            return super().visit(node)
        self.loops.append(node)
        new = super().visit(node)
        self.loops.pop()
        return new

    def _unknown(self, node: ast.AST) -> bool:
        """Whether it is Python that the compiler has no meaning for, and we have no advice."""
        visit = f"visit_{type(node).__name__}"
        known = isinstance(node, PARTS) or hasattr(CodeGenerator, visit) or hasattr(self, visit)
        return isinstance(node, ast.stmt | ast.expr) and not known

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return ast.Expr(_refused(node, f"no def in a kernel. Give {node.name} a @triton.jit of its own."))

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        word = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
        return _call(node, "joined", ast.Constant(word), *map(_later, node.values))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return _call(node, "negated", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
            return _refused(node, "no `in`. Compare with each, and join the comparisons by |.")
        if len(node.ops) == 1 or hasattr(interpreter.ASTTransformer, "visit_Compare"):
            return node
        return _refused(node, "no chained comparison. Write (a <= b) & (b < c).")

    def visit_Call(self, node: ast.Call) -> Any:
        text = ast.unparse(node)
        self.generic_visit(node)
        if ast.unparse(node.func).split(".")[-1] == "static_assert":
            node.func = _call(node.func, "asserted", ast.Constant(text))
        elif not ast.unparse(node.func).startswith("tl.") or self.names.get("tl") is not triton.language:
            node.func = _call(node.func, "called", node.func)
        return node

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        if not _static(node):
            node.iter = _call(node.iter, "counted", node.iter)
        return node

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id in self.constants and isinstance(node.ctx, ast.Load):
            return _call(node, "found", node)
        if node.id in self.own or node.id not in self.names or not isinstance(node.ctx, ast.Load):
            return node
        value = self.names[node.id]
        if meanings.known(value):
            return _call(node, "spoken", node)
        if callable(value) or isinstance(value, ModuleType):
            return node
        if type(value) not in PLAIN or triton.knobs.compilation.allow_non_constexpr_globals:
            return _call(node, "named", node)
        advice = f"Make it {node.id} = tl.constexpr(…), or an argument."
        return _refused(node, f"no plain global, and {node.id} = {value!r:.40} is one. {advice}")

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """What only the interpreter has: the NumPy array behind a block, and other memory of NumPy's."""
        self.generic_visit(node)
        if node.attr == "handle":
            return _refused(node, "no .handle: compute with tl operations.")
        stays = self._is_tritons(node) or not isinstance(node.ctx, ast.Load)
        return node if stays else _call(node, "found", node)

    def _is_tritons(self, node: ast.AST) -> bool:
        """Whether it is a name, or a dotted one, below tl."""
        while isinstance(node, ast.Attribute):
            node = node.value
        module = self.names.get(node.id) if isinstance(node, ast.Name) and node.id not in self.own else None
        return isinstance(module, ModuleType) and module.__name__.split(".")[0] == "triton"

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        return _call(node, "found", node) if isinstance(node.ctx, ast.Load) else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        node.value = self.visit(node.value) if node.value else None
        return node

    def visit_Break(self, node: ast.Break) -> Any:
        return ast.Expr(_refused(node, "no `break`. Let the loop's limits end it, or a mask skip the rest."))

    def visit_Continue(self, node: ast.Continue) -> Any:
        return ast.Expr(_refused(node, "no `continue`. Put what follows under an `if`, or mask it."))

    def visit_Return(self, node: ast.Return) -> Any:
        if all(map(_static, self.loops)):
            return self.generic_visit(node)
        return ast.Expr(_refused(node, "no `return` inside of a loop. Put what follows under an `if`."))


def _static(loop: ast.AST) -> bool:
    """Whether the compiler unrolls the loop: its variable is a constant."""
    return isinstance(loop, ast.For) and "static_range" in ast.unparse(loop.iter)


def _later(node: ast.expr) -> ast.expr:
    """The expression as a function without arguments, for who may not need it."""
    none = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.copy_location(ast.Lambda(none, node), node)


def _call(at: ast.AST, word: str, *arguments: ast.expr) -> ast.expr:
    """A call of one of our meanings, in the place of `at`."""
    function = ast.Attribute(ast.Name(MEANINGS, ast.Load()), word, ast.Load())
    call = ast.copy_location(ast.Call(function, list(arguments), []), at)
    return ast.fix_missing_locations(call)


def _refused(at: ast.AST, what: str) -> ast.expr:
    """A call that raises: "Triton cannot compile line 7: it takes no …"."""
    return _call(at, "refused", ast.Constant(f"it takes {what}"))
