"""What Triton says of a kernel that it cannot compile arrives in one line, with the learner's own line."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.runner.error_messages import describe

KERNELS = """
def helper(a):
    return tl.dot(a, a)

def kernel(p):
    a = tl.load(p)
    tl.store(p, helper(a))
"""


class CompilationError(Exception):
    """Stands in for Triton's, which needs a compiler run."""

    def __init__(self, src: str, line: int, error_message: str | None) -> None:
        quoted = "\n".join(src.splitlines()[:line])
        super().__init__(f"at {line}:4:\n{quoted}\n    ^\n{error_message or ''}")
        self.src, self.error_message = src, error_message
        self.node = type("Node", (), {"lineno": line})()


class CompileTimeAssertionFailure(CompilationError):
    pass


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "kernel.py"
    file.write_text(KERNELS, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            "Shapes should have M >= 16,\n  N >= 16\n  and K >= 16",
            "Shapes should have M >= 16, N >= 16 and K >= 16",
        ),
        ("ValueError('incompatible dimensions: 16 and 32')", "incompatible dimensions: 16 and 32"),
        ("at 3:4:\n    a = tl.load(p)\n    ^\nN must be large", "N must be large"),
        ("f('a') is not g('b')", "f('a') is not g('b')"),
    ],
)
def test_the_reason_is_kept_whole_and_the_quoted_source_is_not(path: str, said: str, message: str) -> None:
    fault = describe(CompilationError("def kernel(p):\n    a = tl.load(p)\n", 2, said), path)
    assert (fault.kind, fault.line, fault.message) == ("compile", 6, message)


def test_an_error_in_a_helper_is_placed_in_the_helper(path: str) -> None:
    inner = CompilationError("def helper(a):\n    return tl.dot(a, a)\n", 2, "K >= 16")
    outer = CompilationError("def kernel(p):\n    a = tl.load(p)\n    tl.store(p, helper(a))\n", 3, None)
    outer.__cause__ = inner
    fault = describe(outer, path)
    assert (fault.line, fault.source, fault.message) == (3, "return tl.dot(a, a)", "K >= 16")


def test_a_failed_static_assert_is_a_compile_error(path: str) -> None:
    failure = CompileTimeAssertionFailure("def kernel(p):\n    a = tl.load(p)\n", 2, "N must be large")
    assert describe(failure, path).kind == "compile"
