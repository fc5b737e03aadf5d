"""An entry that is registered with torch, and what torch's own tests say of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from unittest import mock

import pytest

from grader.grading.warm_client import Warm
from tests.made_up_day import Judged, fails

HIDDEN = """
challenge = Challenge(
    entry="doubled",
    inputs=lambda case, draw: (draw(case.n),),
    reference=lambda x: 2 * x,
    operator="track_test::doubled",
    cases=[Case(n=40), Case(n=0), Case(n=30, layout="strided")],
)
"""
IN_PLACE = HIDDEN.replace("    operator", "    writes=(0,),\n    operator")
KERNEL = """@triton.jit
def double_kernel(x_ptr, y_ptr, n, step, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs * step, mask=offs < n)
    tl.store(y_ptr + offs, 2 * x, mask=offs < n)


@torch.library.triton_op("track_test::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device=x.device)
    torch.library.wrap_triton(double_kernel)[(triton.cdiv(len(x), 16),)](x, y, len(x), x.stride(0), BLOCK=16)
    return y
"""
PLACED = KERNEL.replace("-> torch.Tensor", "-> None").replace("    return y\n", "    x.copy_(y)\n")
REGISTERED = '@torch.library.triton_op("track_test::doubled", mutates_args=())\n'

PARENT = f"""#!{sys.executable}
import sys
import torch._dynamo
from grader.grading import warm_parent
sys.argv = sys.argv[2:]
warm_parent.main()
"""


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """A parent that has what torch's own tests import: else each grading takes that time again."""
    python = tmp_path_factory.mktemp("parent") / "python"
    python.write_text(PARENT)
    python.chmod(0o755)
    with mock.patch.object(sys, "executable", str(python)):
        parent = Warm("cpu")
    with parent:
        yield parent


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        (REGISTERED, REGISTERED.replace("triton_op", "custom_op")),
        ("@triton.jit", "@triton.autotune([triton.Config({})], key=['n'])\n@triton.jit"),
    ],
)
def test_an_operator_that_torch_can_trace_passes(judged: Judged, old: str, new: str) -> None:
    more = "\ndoubled.register_fake(lambda x: torch.empty(x.shape, device=x.device))\n"
    verdict = judged(HIDDEN, KERNEL.replace(old, new) + (more if "custom_op" in new else ""))
    assert verdict.status == "passed", verdict.diagnosis
    assert next(check for check in verdict.checks if check.name == "edges[operator]").outcome == "passed"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (REGISTERED, "", "fails when it is called: your function calls no operator that is registered under"),
        ("    y = torch", "    if not len(x):\n        return x\n    y = torch", "it returns an argument"),
        ("torch.library.wrap_triton(double_kernel)[", "double_kernel[", "launched on fake tensors"),
        (REGISTERED, REGISTERED.replace("triton_op", "custom_op"), "opcheck's test_faketensor: There was no"),
        (
            "    return y\n",
            "    return y\n\n\noperator = doubled\n\n\ndef doubled(x):\n    torch._dynamo.graph_break()\n"
            "    return operator(x)\n",
            "fails torch.compile(fullgraph=True): Call to `torch._dynamo.graph_break()`",
        ),
    ],
)
def test_the_first_test_that_fails_is_told(judged: Judged, old: str, new: str, says: str) -> None:
    verdict = fails(judged, HIDDEN, KERNEL, (old, new), says)
    assert next(check.name for check in verdict.checks if check.outcome == "failed") == "edges[operator]"


def test_what_an_operator_writes_into_it_has_to_say(judged: Judged) -> None:
    hidden = IN_PLACE.replace("    cases", '    allow=("copy_",),\n    cases')
    named = PLACED.replace("mutates_args=()", 'mutates_args=("x",)')
    assert judged(hidden, named).status == "passed"
    verdict = judged(hidden, PLACED)
    assert "opcheck's test_schema: Argument x is not defined as mutable" in verdict.diagnosis
