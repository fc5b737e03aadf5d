"""What is wrong with a file before any of it runs: empty, untouched, no Python, or a forbidden import."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from grader.course.catalog import Day
from grader.strip_comments import bare, is_text

LARGEST = 1_000_000  # bytes; the longest kernel file of the course has under 20,000

# Honest kernels never need these; each would let the answer come from somewhere else than a kernel.
FORBIDDEN = {
    "subprocess": "it starts other programs",
    "multiprocessing": "it starts other processes",
    "ctypes": "it calls compiled code",
    "cffi": "it calls compiled code",
    "numba": "the {kind} asks for Triton",
    "cupy": "the {kind} asks for Triton",
    "torch.utils.cpp_extension": "the {kind} asks for Triton",
    "torch.multiprocessing": "it starts other processes",
    "grader": "it is what grades you",
    "solutions": "it holds the answer",
    "hidden_tests": "it is what grades you",
    "suspects": "it is what grades you",
}


@dataclass(frozen=True)
class Refusal:
    """Why a file is not graded.

    Attributes:
        reason: the fact, in one line.
        line: of the learner's file, 0 when there is none to point at.
        diagnosis: what to do about it, in one sentence.
        column: of the line, counted from 1; 0 when only the line is known.
    """

    status: Literal["unstarted", "failed"]
    reason: str
    line: int = 0
    diagnosis: str = ""
    column: int = 0


def precheck(day: Day, source: bytes, given: str = "") -> Refusal | None:
    """The first thing wrong with `source` that can be told without running it, or None.

    Args:
        given: not empty where the file lies in no workspace, so that no reset brings it back.
    """
    if len(source) > LARGEST:
        advice = f"This does not look like the {day.kind}'s kernel.py: check which file was graded."
        return Refusal("failed", f"The file is larger than {LARGEST:,} bytes.", diagnosis=advice)
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        reason = f"Line {line} is not UTF-8 text (byte 0x{source[error.start]:02x})."
        return Refusal("failed", reason, line, "Save the file as UTF-8 in your editor and grade again.")
    parsed = _parse(text)
    if isinstance(parsed, Refusal):
        return parsed
    if not any(not is_text(statement) for statement in parsed.body):
        reason = "The file holds no code, only comments." if text.strip() else "The file is empty."
        undo = "" if given else f"; `track reset {day.key}` brings the skeleton back"
        return Refusal("failed", reason, diagnosis=f"There is nothing to grade{undo}.")
    if day.to_fill_in and _same_as_skeleton(day, parsed):
        todo = "Every TODO is still as it was: fill one in and grade again."
        return Refusal("unstarted", "The file is still the skeleton.", diagnosis=todo)
    return _forbidden(day, parsed)


def _parse(text: str) -> ast.Module | Refusal:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = ast.parse(text)
            compile(parsed, "kernel.py", "exec", dont_inherit=True)  # finds a stray `return` and the like
            return parsed
    except SyntaxError as error:
        line, column = error.lineno or 0, error.offset or 0
        kind = "Indentation" if isinstance(error, IndentationError) else "Syntax"
        reason = f"{kind} error on line {line}: {error.msg}." if line else f"Syntax error: {error.msg}."
        advice = "Python cannot read the file: fix this line and grade again."
        return Refusal("failed", reason, line, advice, column)
    except (ValueError, RecursionError, MemoryError) as error:
        told = str(error) or "it is nested too deeply"
        return Refusal("failed", f"Python cannot read the file: {told}.", diagnosis="Write plain Python.")


def _same_as_skeleton(day: Day, parsed: ast.Module) -> bool:
    """Whether the code is the skeleton's, whatever became of comments, blank lines and docstrings."""
    try:
        skeleton = ast.parse(day.skeleton.read_text(encoding="utf-8"))
        return ast.dump(bare(parsed)) == ast.dump(bare(skeleton))
    except (RecursionError, OSError):
        return False


def _forbidden(day: Day, parsed: ast.Module) -> Refusal | None:
    for node in ast.walk(parsed):
        for module in _imported(node):
            name = next((n for n in FORBIDDEN if module == n or module.startswith(n + ".")), None)
            if name:
                advice = f"A kernel needs torch and triton alone: remove the import of {name}."
                return Refusal(
                    "failed",
                    f"The file imports {name}: {FORBIDDEN[name].format(kind=day.kind)}.",
                    getattr(node, "lineno", 0),
                    advice,
                )
    return None


def _imported(node: ast.AST) -> Iterator[str]:
    """The dotted names that an import statement may load."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
