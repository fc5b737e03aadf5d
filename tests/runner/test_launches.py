"""Launches on a GPU are seen where Triton compiles and runs them; here, without a GPU, in place of that."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime.jit import JITFunction

from grader.runner.launches import Launch, observed
from grader.runner.tensor_provenance import World


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


def test_a_compiled_launch_is_seen_with_its_grid_and_its_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    grids, world, x = [], World(), torch.zeros(16)
    world.memory.add_inputs([{"name": "x", "start": 0, "stop": x.nbytes}], [x])

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> None:
        grids.append(grid(options) if callable(grid) else grid)
        x.add_(1)

    monkeypatch.setattr(JITFunction, "run", run)
    with observed(world, None) as launches:
        kernel[lambda meta: (16 // meta["BLOCK"],)](x, BLOCK=4)
        kernel[(2, 1)](x, BLOCK=4)
        kernel.run(x, grid=(9,), warmup=True, BLOCK=4)
    kernel[(3,)](x, BLOCK=4)
    handed = {"x_ptr": x.untyped_storage().data_ptr()}
    assert launches == [Launch("kernel", [4], handed), Launch("kernel", [2, 1], handed)]
    assert grids == [(4,), (2, 1), (9,), (3,)]
    assert world.memory.tracked[x.untyped_storage().data_ptr()].launched


def test_what_torch_empty_left_and_nobody_wrote_to_is_known() -> None:
    world = World()
    with world:
        left, filled, written = torch.empty(8), torch.zeros(8), torch.empty(8)
        world.before_launch([written])
        written.numpy()[0] = 1
        world.after_launch()
    assert filled.sum() == 0
    every = [tensor.untyped_storage().data_ptr() for tensor in (left, filled, written)]
    assert world.memory.untouched({*every, 0}) == every[:1]
    assert world.memory.untouched({*every[1:]}) == [], "nobody read the other one"
