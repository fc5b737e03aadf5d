"""What Triton's cache knows of a kernel that a builder is asked for."""

from __future__ import annotations

from pathlib import Path

from grader.runner import compile_server, loading

KERNEL = """import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64}),
        triton.Config({"BLOCK": 128}),
    ],
    key=[],
)
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)
"""


def key_of(path: Path, source: str) -> str:
    jitted = loading.load(str(path), source.encode(), "").kernel.fn
    compile_server._told_by_line(jitted)
    compile_server._told_by_line(jitted)
    return str(jitted.cache_key)


def test_a_kernel_that_has_moved_below_its_decorators_is_another(tmp_path: Path) -> None:
    # Else its instructions are found under the lines that they stood on before: 522 µs became 1,365.
    path = tmp_path / "kernel.py"
    first = key_of(path, KERNEL)
    assert key_of(path, KERNEL) == first
    assert key_of(path, KERNEL.replace('        triton.Config({"BLOCK": 64}),\n', "")) != first
