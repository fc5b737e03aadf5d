"""Which lines of the learner's file a sentence is about: those that have most words in common with it.

As bugs are found by their reports: Zhou, Zhang and Lo, "Where should the bugs be fixed?", 2012. A word that
stands on few lines of the file says more than one that stands on many.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator

from grader.diagnosis.provenance import reached
from grader.diagnosis.source_context import functions, head, jitted

# What a word of a sentence is called in code, beside its own name.
IN_CODE = {
    "add": ("+", "+="), "sum": ("sum", "+="), "subtracted": ("-",), "shift": ("+", "-"),
    "multiply": ("*",), "times": ("*",), "factor": ("*", "/"), "product": ("dot", "*"),
    "divide": ("/", "//"), "divided": ("/", "//"), "quotient": ("/",),
    "square": ("x * x",), "squared": ("x * x",), "root": ("sqrt", "rsqrt"),
    "logarithm": ("log", "log2"), "ln": ("log",), "largest": ("max", "maximum", "amax"),
    "variance": ("var",), "deviation": ("var", "rstd", "sqrt", "rsqrt"),
    "score": ("s", "qk", "scores", "dot"), "weight": ("p", "weights"),
    "lanes": ("mask", "<", "where", "other"), "sees": ("<=", ">=", "where"),
    "row": (":, None", "rows"), "blocks": ("range",),
}  # fmt: skip
SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.USub: "-",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
WORDS = re.compile(r"[A-Za-z_][\w.]*|-inf|//|[%/·²√]")
SPELLED = {"²": ("squared",), "√": ("root",), "·": ("times",)}
# A line of a launcher, of a function that took no part, and of what is right elsewhere, too, is named later.
LAUNCHER, APART, ALONE = 0.5, 0.1, 1.6
LENGTH = 6.0  # words: a longer line has more of them by chance


def about(
    sentence: str, source: str, given: frozenset[int], kernels: Collection[str], alone: frozenset[int]
) -> list[int]:
    """The first lines of the learner's statements that share a word with a sentence, the likeliest first.

    Args:
        given: lines that are handed out.
        kernels: those that took part in what is wrong.
        alone: lines that wrong results are made from, and no right ones.
    """
    tree = ast.parse(source)
    near, asked = reached({*kernels}, tree), _asked(sentence)
    lines = [(one, place, _words(one)) for place in functions(tree) for one in _statements(place, given)]
    every = Counter(word for *_, words in lines for word in words)
    found = list[tuple[float, int]]()
    for one, place, words in lines:
        shared = sum(math.log((len(lines) + 1) / every[word]) for word in asked & words)
        weight = (1.0 if jitted(place) else LAUNCHER) * (1.0 if place.name in near else APART)
        weight *= ALONE if one.lineno in alone else 1.0
        found.append((shared * weight / (LENGTH + len(words)) ** 0.35, one.lineno))
    ranked = sorted(found, key=lambda each: -each[0])
    return list(dict.fromkeys(line for score, line in ranked if score > 0))


def _statements(place: ast.FunctionDef, given: frozenset[int]) -> Iterator[ast.stmt]:
    """Those of a function that are not handed out; of a loop or a branch the head."""
    queue: list[ast.stmt] = [*place.body]
    for one in queue:
        if isinstance(one, ast.FunctionDef):
            continue
        queue += [child for child in ast.iter_child_nodes(one) if isinstance(child, ast.stmt)]
        last = one.body[0].lineno - 1 if hasattr(one, "body") else one.end_lineno or one.lineno
        text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        if not text and not given.issuperset(range(one.lineno, last + 1)):
            yield one


def _words(statement: ast.stmt) -> set[str]:
    """The names of a statement and their parts, its signs and its numbers."""
    found = set[str]()
    for node in head(statement):
        if isinstance(node, ast.Name):
            found |= _parts(node.id)
        elif isinstance(node, ast.Attribute):
            found |= _parts(node.attr)
        elif isinstance(node, ast.keyword):
            found |= _parts(node.arg or "")
        elif isinstance(node, ast.Constant):
            found.add(str(node.value).lower())
        elif isinstance(node, ast.BinOp | ast.UnaryOp):
            twice = isinstance(node, ast.BinOp) and ast.dump(node.left) == ast.dump(node.right)
            found |= {SIGNS.get(type(node.op), ""), "x * x" * twice}
        elif isinstance(node, ast.Compare):
            found |= {SIGNS.get(type(op), "") for op in node.ops}
        elif isinstance(node, ast.Subscript) and "None" in ast.unparse(node.slice):
            found.add(ast.unparse(node.slice).strip("()"))
        elif isinstance(node, ast.AugAssign):
            found.add(f"{SIGNS.get(type(node.op), '')}=")
        elif isinstance(node, ast.Return):
            found.add("return")
    return found - {""}


def _asked(sentence: str) -> set[str]:
    """The words of a sentence, with what they are called in code; none of the case that it begins with."""
    found = set[str]()
    for word in WORDS.findall(re.sub(r"^(With|In) [^:]*: ", "", sentence)):
        name = word.lower().rstrip(".").rpartition(".")[2]
        stems = (name, re.sub(r"s$", "", name), re.sub(r"(ed|ing)$", "", name))
        found |= _parts(name) | {stems[1]} if name != "a" else set()  # which is an article
        found |= {code for stem in (*stems, *SPELLED.get(word, ())) for code in IN_CODE.get(stem, ())}
    return found


def _parts(name: str) -> set[str]:
    """`stride_xm`, `stride` and `xm`; `alpha` of `alpha1`."""
    words = [name.lower(), *name.lower().split("_")]
    return {part for word in words for part in (word, word.rstrip("0123456789")) if part}
