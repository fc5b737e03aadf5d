"""What went wrong in the learner's file, said with the learner's own lines."""

from __future__ import annotations

import linecache
import traceback
from typing import Any

MAX_TEXT = 2000


def describe(error: BaseException, path: str) -> dict[str, Any]:
    """The facts of an exception.

    Returns:
        kind: compile, bounds, memory or exception;
        type and message of the innermost cause; `line` of the learner's file where it happened (0 if none);
        `traceback`: the learner's frames only, innermost last, each with its source line.
    """
    chain = _chain(error)
    root = chain[-1]
    compile_error = next((e for e in chain if type(e).__name__ == "CompilationError"), None)
    frames = [
        frame for e in chain for frame in traceback.extract_tb(e.__traceback__) if frame.filename == path
    ]
    line = frames[-1].lineno if frames else getattr(root, "lineno", 0)
    message = str(root).strip()
    if compile_error is not None:
        line, message = _compile_place(compile_error, line or 0, path), _compile_reason(compile_error, root)
    return {
        "kind": _kind(root, compile_error),
        "type": type(root).__name__,
        "message": message[:MAX_TEXT] or type(root).__name__,
        "line": line or 0,
        "source": linecache.getline(path, line or 0).strip()[:200],
        "traceback": [f"line {f.lineno}, in {f.name}: {f.line}" for f in frames][-8:],
    }


def _chain(error: BaseException) -> list[BaseException]:
    chain = [error]
    while (cause := chain[-1].__cause__) is not None and cause not in chain:
        chain.append(cause)
    return chain


def _kind(root: BaseException, compile_error: BaseException | None) -> str:
    if type(root).__name__ == "OutOfBounds":
        return "bounds"
    if isinstance(root, MemoryError) or "out of memory" in str(root) or "not enough memory" in str(root):
        return "memory"
    return "compile" if compile_error is not None else "exception"


def _compile_place(error: Any, fallback: int, path: str) -> int:
    """Triton counts lines from the kernel's `def`; find that `def` in the learner's file."""
    node, source = getattr(error, "node", None), getattr(error, "src", None)
    if node is None or not source:
        return fallback
    head = source.strip().splitlines()[0].strip()
    for number, text in enumerate(linecache.getlines(path), start=1):
        if text.strip() == head:
            return number + int(node.lineno) - 1
    return fallback


def _compile_reason(error: Any, root: BaseException) -> str:
    reason = getattr(error, "error_message", None) or (str(root) if root is not error else "")
    lines = [line.strip() for line in str(reason or error).splitlines() if line.strip()]
    return lines[-1] if lines else type(root).__name__
