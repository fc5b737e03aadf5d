"""An operator that a learner registers with torch is seen through: a canary for a private name of torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import grader
from grader.operator_memory_effects import Watch, body


@torch.library.custom_op("track_canary::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


def test_the_learners_operators_have_a_body_and_torchs_have_none() -> None:
    seen: dict[str, Any] = {}

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen[func._schema.name] = body(func)
            return func(*args, **(kwargs or {}))

    with Look():
        double(torch.ones(3)) + 1
    assert seen["track_canary::double"](torch.ones(1)) == 2
    assert seen["aten::add"] is None


def test_every_mode_is_a_watch() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in Path(grader.__file__).parent.rglob("*.py")}
    found = [path.name for path, text in sources.items() if "(TorchDispatchMode)" in text]
    assert found == ["operator_memory_effects.py"]


def test_a_watch_brings_no_compiler_along() -> None:
    """A canary for another private name: without it every failing grading takes seconds longer."""
    code = (
        "import sys, torch; from grader.operator_memory_effects import Watch\n"
        "class Mode(Watch):\n"
        "    def __torch_dispatch__(self, func, types, args=(), kwargs=None): return func(*args)\n"
        "with Mode(): torch.ones(3).sum()\n"
        "assert 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(grader.__file__).parent.parent)
    assert not Watch._should_skip_dynamo()


def test_what_launches_a_wrapped_kernel_is_seen_through() -> None:
    from torch._higher_order_ops.triton_kernel_wrap import triton_kernel_wrapper_mutation as wrapped

    assert getattr(body(wrapped), "__name__", "") == "triton_kernel_wrapper_mutation_dense"
    assert Watch.supports_higher_order_operators
