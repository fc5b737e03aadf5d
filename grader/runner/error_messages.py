"""What went wrong in the learner's file, said with the learner's own lines."""

from __future__ import annotations

import ast
import contextlib
import linecache
import os
import re
import traceback
from typing import Any

import triton

from grader import kernel
from grader.runner_answers import BROKE, Fault

MAX_TEXT = 2000
KERNELS = os.path.dirname(kernel.__file__)  # who evaluates them
HELPERS = os.path.dirname(triton.__file__)  # of launchers: triton.cdiv and its like
NO_MEMORY = "out of memory", "not enough memory", "can't allocate memory"
PLAIN = ArithmeticError, AssertionError, LookupError, NameError, TypeError, ValueError


def describe(error: BaseException, path: str) -> Fault:
    """The facts of an exception.

    Args:
        path: the learner's file; only its frames are told of.
    """
    chain = _chain(error)
    root = chain[-1]
    compile_errors = [e for e in chain if any(c.__name__ == "CompilationError" for c in type(e).__mro__)]
    frames = [
        frame for e in chain for frame in traceback.extract_tb(e.__traceback__) if frame.filename == path
    ]
    line = frames[-1].lineno if frames else getattr(root, "lineno", 0)
    line = getattr(root, "kernel_line", 0) or line
    message = str(root).strip()
    if compile_errors:
        line, message = (
            _compile_place(compile_errors, line or 0, path),
            _compile_reason(compile_errors[-1], root),
        )
    line = line if isinstance(line, int) else 0  # whatever an exception of theirs calls `lineno`
    return Fault(
        kind=_kind(chain, bool(compile_errors), path),
        type=type(root).__name__,
        message=(message or _nameless(root))[:MAX_TEXT],
        line=line,
        source=linecache.getline(path, line).strip()[:200],
        traceback=[f"line {f.lineno}, in {f.name}: {f.line}" for f in frames][-8:],
    )


def _chain(error: BaseException) -> list[BaseException]:
    chain = [error]
    while (cause := chain[-1].__cause__) is not None and cause not in chain:
        chain.append(cause)
    return chain


def _kind(chain: list[BaseException], compiling: bool, path: str) -> str:
    root = chain[-1]
    if type(root).__name__ == "OutOfBounds":
        return "bounds"
    if type(root).__name__ == "GridTooLarge":
        return "grid"
    if type(root).__name__ == "Unevaluated":
        return "unevaluated"
    if isinstance(root, MemoryError) or any(words in str(root) for words in NO_MEMORY):
        return "memory"
    broke = any(words in str(root) for words in BROKE)
    if compiling or broke or type(root).__name__ == "Uncompilable":
        return "compile"
    return "launcher" if _in_launcher(chain, path) else "exception"


def _in_launcher(chain: list[BaseException], path: str) -> bool:
    """Whether the learner's own line outside of kernels raised it, or handed Triton what cannot be.

    torch's operators raise RuntimeError, and so they do where they miss the GPU that is only pretended.
    """
    root, frames = chain[-1], traceback.extract_tb(chain[-1].__traceback__)
    if any(frame.filename.startswith(KERNELS) for frame in frames):
        return False
    while frames and frames[-1].filename.startswith(HELPERS):
        frames.pop()
    own = bool(frames) and frames[-1].filename == path
    return own and (isinstance(root, PLAIN) or (frames[-1].line or "").startswith("raise "))


def _unsaid(error: Any, root: BaseException) -> str:
    """The line of a tl.static_assert that gives no message; else the exception's name."""
    source, line = getattr(error, "src", None), getattr(getattr(error, "node", None), "lineno", 0)
    told = source.splitlines()[line - 1].strip() if source and 0 < line <= len(source.splitlines()) else ""
    return f"{told} does not hold" if "static_assert" in told else type(root).__name__


def _nameless(root: BaseException) -> str:
    """An exception without a message: of an assertion the line that does not hold, else its name."""
    frames = traceback.extract_tb(root.__traceback__)
    if isinstance(root, AssertionError) and frames and frames[-1].line:
        return f"`{frames[-1].line}` does not hold"
    return type(root).__name__


def _compile_place(errors: list[Any], fallback: int, path: str) -> int:
    """The innermost line of the learner's file. Triton counts from a kernel's `def`; find that `def`."""
    lines = [text.strip() for text in linecache.getlines(path)]
    for error in reversed(errors):
        line, source = getattr(getattr(error, "node", None), "lineno", None), getattr(error, "src", None)
        head = source.strip().splitlines()[0].strip() if source else ""
        if head in lines and line is not None:
            return lines.index(head) + int(line)
    return fallback


def _compile_reason(error: Any, root: BaseException) -> str:
    """What Triton says is wrong, all its lines in one, without the source that it quotes above a `^`."""
    reason = str(getattr(error, "error_message", None) or root)
    lines = [line.strip() for line in reason.splitlines() if line.strip()]
    if "^" in lines:
        lines = lines[len(lines) - lines[::-1].index("^") :]
    text = " ".join(lines) or _unsaid(error, root)
    quoted = re.fullmatch(r"\w+\((['\"].*['\"]),?\)", text)
    if quoted:  # the repr of an exception
        with contextlib.suppress(ValueError, SyntaxError):
            return " ".join(str(ast.literal_eval(quoted[1])).split())
    return text
