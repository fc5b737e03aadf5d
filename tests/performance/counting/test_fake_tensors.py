"""Tensors without contents have the shapes, strides and dtypes that torch would give them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
import torch

from grader.performance.counting.fake_tensors import Hollow, unfilled

LAYOUTS = {
    "contiguous": lambda: torch.empty(4, 300, 400, device="meta"),
    "sliced": lambda: torch.empty(4, 300, 407, device="meta")[..., :400],
    "transposed": lambda: torch.empty(4, 400, 300, device="meta").mT,
    "expanded": lambda: torch.empty(1, 300, 400, device="meta").expand(4, 300, 400),
}
OPERATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "compared": lambda x: x == 0,
    "added": lambda x: x + x,
    "scaled": lambda x: 2 * x,
    "broadcast": lambda x: x.contiguous() + torch.ones(400, device=x.device),
    "masked": lambda x: torch.where(x.contiguous() > 0, x.contiguous(), 0.0),
    "any": lambda x: (x == 0).any(),
    "counted": lambda x: (x == 0).sum(),
    "summed": lambda x: x.sum(-1),
    "summed in fp64": lambda x: x.sum((0, 2), keepdim=True, dtype=torch.float64),
    "averaged": lambda x: x.mean(dim=1, keepdim=True),
    "largest": lambda x: x.amax((1, 2)),
    "logsumexp": lambda x: x.logsumexp(-1),
    "lower": lambda x: x.tril(),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_result_is_laid_out_as_torch_lays_it_out(layout: str, operation: str) -> None:
    plain = LAYOUTS[layout]()
    right = OPERATIONS[operation](plain)
    with Hollow(lambda *_: None):
        found = OPERATIONS[operation](unfilled(plain))
    assert (found.shape, found.dtype) == (right.shape, right.dtype)
    assert found.stride() == right.stride() or found.numel() == 1


def test_nothing_large_is_imported_to_tell() -> None:
    """sympy and torch's compiler take a second, two from a slow disk, in every grading."""
    source = (
        "import sys, torch\n"
        "from tests.performance.counting.test_fake_tensors import LAYOUTS, OPERATIONS\n"
        "from grader.performance.counting.fake_tensors import Hollow, unfilled\n"
        "with Hollow(lambda *_: None):\n"
        "    for layout in LAYOUTS.values():\n"
        "        for operation in OPERATIONS.values():\n"
        "            operation(unfilled(layout()))\n"
        "print('sympy' in sys.modules)\n"
    )
    found = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
