"""A model trained with day 35's attention learns as with torch's, and nothing around it stands in its way.

Kernels are evaluated without a GPU, as all launches of a process are then: so in one of its own.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.kernel.fresh import answer

pytestmark = pytest.mark.xdist_group("example")  # what is trained, once
HEAD = """
import warnings
warnings.simplefilter("ignore")
import torch
import train_copy
flash = train_copy.load(train_copy.SOLUTION)
q, k, v = (torch.randn(1, heads, 20, 16, requires_grad=True) for heads in (2, 1, 1))
do = torch.randn(1, 2, 20, 16)
def far(ours, theirs):
    return max(float((a - b).abs().max()) for a, b in zip(ours, theirs))
"""
EAGER = """
from torch.utils.checkpoint import checkpoint
answer = {"curves": [
    train_copy.train(attention, train_copy.TINY, "cpu") for attention in (flash, train_copy.torch_attention)
]}
with torch.autocast("cpu", dtype=torch.float16):
    outputs = [attention(q, k, v, 0.25, True) for attention in (flash, train_copy.torch_attention)]
ours, theirs = ([o, *torch.autograd.grad(o, (q, k, v), do.half())] for o in outputs)
answer["autocast"] = far(ours, theirs), [str(x.dtype) for x in ours], [str(x.dtype) for x in theirs]
o = flash(q, k, v, 0.25, True)
first = torch.autograd.grad(o, (q, k, v), do, retain_graph=True)
answer["again"] = far(first, torch.autograd.grad(o, (q, k, v), do))
anew = checkpoint(lambda *x: flash(*x, 0.25, True), q, k, v, use_reentrant=False)
answer["checkpoint"] = far(first, torch.autograd.grad(anew, (q, k, v), do))
"""
COMPILED = """
def function(q, k, v):
    return flash(q * 2, k, v, 0.25, True) + 1
compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
answer = 0.0
for inputs in ((q, k, v), (q.detach(), k, v.detach())):
    needy = [x for x in inputs if x.requires_grad]
    ours, theirs = ([o, *torch.autograd.grad(o, needy, do)] for o in (compiled(*inputs), function(*inputs)))
    answer = max(answer, far(ours, theirs))
"""


@pytest.fixture(scope="module")
def eager() -> Any:
    return answer(HEAD + EAGER)


def test_the_loss_falls_as_it_does_with_torchs_attention(eager: Any) -> None:
    ours, theirs = eager["curves"]
    assert len(ours) == 3
    assert ours == pytest.approx(theirs, rel=1e-4)
    assert ours[0] != pytest.approx(ours[-1], rel=1e-3)


def test_autocast_does_what_it_does_to_torchs_attention(eager: Any) -> None:
    far, ours, theirs = eager["autocast"]
    assert far < 1e-2
    assert ours == theirs == ["torch.float16"] + ["torch.float32"] * 3


def test_a_second_backward_pass_and_a_checkpoint_give_the_same_gradients(eager: Any) -> None:
    assert eager["again"] == eager["checkpoint"] == 0.0


def test_torch_compile_takes_it_in_one_graph_whichever_inputs_need_a_gradient() -> None:
    assert answer(HEAD + COMPILED) < 1e-6
