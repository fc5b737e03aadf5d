"""Where in the learner's file stands what a diagnosis says to look at: the lines behind its words.

Lines that are handed out are never named, nor functions of which nothing else is left; where nothing is
known, no line is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from grader.judge.diagnosis.addresses import formed
from grader.judge.diagnosis.handed import to_do
from grader.judge.diagnosis.launched import NOBODY, Involved
from grader.judge.diagnosis.outside import Where, call, each, grid, launch, outside
from grader.judge.diagnosis.site import function, functions, in_kernels, jitted, last, spelled
from grader.judge.diagnosis.spots import IN_KERNELS, MOST, OF_STORES, OUTSIDE, STORES, exactly

MOST_PLACES = 2  # functions


def pointed(
    look_at: str,
    source: str,
    given: frozenset[int] = frozenset(),
    part: Involved = NOBODY,
) -> str:
    """`the mask of the store: line 14`; as it came where it names a line, or nothing is known of the file.

    Args:
        given: lines that are handed out.
        part: what took part in what failed.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return look_at
    sound = frozenset().union(*(_whole(tree, name) for name in part.right))
    if not look_at or re.search(r"\blines? \d", look_at):
        beside = bool(sound) and sound.issuperset(lines_named(look_at))
        return (_within("", tree, given | sound, part).removeprefix("in ") if beside else "") or look_at
    if "your file" in look_at:  # what stands in none of its functions
        lines = sorted(_running(tree)) if "top of your file" in look_at else []
        return f"{look_at}: {spelled(lines)}" if 0 < len(lines) <= MOST else look_at
    elsewhere = (
        part.elsewhere - part.wrong
    )  # what one wrong result has and another has not may be wrong in both
    apart = [function for function in functions(tree) if function.name in elsewhere]
    given = given.union(part.idle, *(_lines(function) for function in apart), _launches(tree, elsewhere))
    known = given | sound
    lines = sorted(exactly(look_at, tree, known) - known)
    if not 0 < len(lines) <= MOST:
        lines = _worded(look_at, tree, known, part, sound)
    if lines:
        return f"{look_at}: {spelled(lines)}"
    left = to_do(source, given, *(f for f in functions(tree) if jitted(f) != _of_launcher(look_at)))
    if 0 < len(left) <= MOST:
        return f"{look_at}: the TODO on {spelled(left)}"
    where = _within(look_at, tree, known, part)
    return f"{look_at}: {where}" if where else look_at


def _worded(
    look_at: str, tree: ast.Module, given: frozenset[int], part: Involved, sound: frozenset[int]
) -> list[int]:
    """The lines of what its words speak of, in their order, as far as these are no more than MOST."""
    kernels = [node for node in in_kernels(tree) if getattr(node, "lineno", 0) not in sound]
    inside = () if "torch call" in look_at else IN_KERNELS  # there sum is tl.sum
    found = [*_behind(look_at, inside, tree, kernels), *_behind(look_at, OUTSIDE, tree, outside(tree))]
    if word := re.search(OF_STORES, look_at):
        stored = {*part.stores} if part.stores else call(*STORES)(tree, kernels)
        made = stored if word[0] == "store" else formed(tree, stored)
        found.append((word.start(), stored | made if word[0] == "stored" else made))
    lines = set[int]()
    for _, several in sorted(found, key=lambda one: one[0]):
        if len(lines | several - given) <= MOST:
            lines |= several - given
    return sorted(lines)


def _of_launcher(look_at: str) -> bool:
    return any(re.search(pattern, look_at) for pattern, _ in OUTSIDE)


def _within(look_at: str, tree: ast.Module, given: frozenset[int], part: Involved) -> str:
    """In which functions: kernels, or what launches them where that is asked for, or no line of those is the
    learner's.
    """
    mine = [function for function in functions(tree) if not _lines(function) <= given]
    wrong = {name.rpartition(".")[2] for name in part.wrong}
    mine = [function for function in mine if function.name in wrong] or mine
    kernels, launchers = ([f for f in mine if jitted(f) == inside] for inside in (True, False))
    launches = each(launch)(tree, outside(tree)) - _launches(tree, part.elsewhere)
    launchers = [f for f in launchers if _lines(f) & launches] or launchers
    places = launchers or kernels if _of_launcher(look_at) or not kernels else kernels
    if len(places) > MOST_PLACES:  # less the functions that others of them call
        called = {last(n.func) for f in places for n in ast.walk(f) if isinstance(n, ast.Call)}
        places = [f for f in places if f.name not in called]
    if len(places) > MOST_PLACES:
        return ""
    return "in " * bool(places) + ", and ".join(f"{f.name}, from line {f.lineno} on" for f in places)


def _launches(tree: ast.Module, kernels: frozenset[str]) -> set[int]:
    """The lines of the launches of these, their grids and what is handed over, and of no other."""
    theirs, others = set[int](), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            handed = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            (theirs if last(node.func.value) in kernels else others).update(grid(node, tree), handed)
    return theirs - others


def _running(tree: ast.Module) -> set[int]:
    """The lines at the top of a file on which something other than a definition begins as it is imported."""
    runs = (ast.For, ast.While, ast.With, ast.Try, ast.If)
    main = {n.lineno for n in tree.body if isinstance(n, ast.If) and "__name__" in ast.unparse(n.test)}
    found = {
        n.lineno for n in tree.body if isinstance(n, runs) or isinstance(getattr(n, "value", None), ast.Call)
    }
    return found - main


def lines_named(look_at: str) -> list[int]:
    """The lines that it names: `lines 18, 19 and 26`."""
    listed = re.findall(r"\blines? (\d[\d, and]*)", look_at)
    return [int(number) for numbers in listed for number in re.findall(r"\d+", numbers)]


def _whole(tree: ast.Module, name: str) -> set[int]:
    """All lines of a function, or of `Class.method`."""
    owner, _, own = name.rpartition(".")
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == owner)
    found = function(next(classes, tree), own)
    return set(range(found.lineno, (found.end_lineno or 0) + 1)) if found else set()


def _lines(function: ast.FunctionDef) -> set[int]:
    nodes = (node for statement in function.body for node in ast.walk(statement))
    return {node.lineno for node in nodes if hasattr(node, "lineno")}


def _behind(
    look_at: str, words: tuple[tuple[str, Where], ...], tree: ast.Module, nodes: list[ast.AST]
) -> Iterator[tuple[int, set[int]]]:
    """The place of each word that stands there, and its lines, where the file has some."""
    for pattern, where in words:
        if (word := re.search(pattern, look_at)) and (lines := where(tree, nodes)):
            yield word.start(), lines
