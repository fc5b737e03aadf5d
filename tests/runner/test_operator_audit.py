"""What torch computes at full size is told, and how many kernels were launched."""

from __future__ import annotations

import torch
from triton.runtime.jit import JITFunction

from grader.runner.operator_audit import Worked


def looked(function, *arguments, allow=()) -> list[str]:
    worked = Worked(allow)
    worked.look(function, arguments)
    return worked.names


def test_memory_views_and_what_is_allowed_are_no_work() -> None:
    def launcher(x: torch.Tensor) -> torch.Tensor:
        out = torch.zeros(4, 4)
        out.view(16)[:] = 0
        torch.empty_like(x).fill_(1)
        torch.mm(x, x.T)
        return out.reshape(2, 8).contiguous().to(torch.float32)

    assert looked(launcher, torch.randn(4, 4), allow=["mm"]) == []
    assert looked(launcher, torch.randn(4, 4)) == ["mm"]


def test_a_backward_pass_that_adds_nothing_up_is_no_work() -> None:
    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.empty_like(x)

        @staticmethod
        def backward(ctx, grad):
            return torch.empty_like(grad)

    def both(x: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(Function.apply(leaf), leaf, grad)[0]

    assert looked(both, torch.randn(4), torch.randn(4)) == []


def test_what_it_does_in_a_later_call_alone_is_told() -> None:
    def launcher(x: torch.Tensor) -> torch.Tensor:
        return x * x if timed else torch.empty_like(x)

    timed, worked = False, Worked([])
    worked.look(launcher, [torch.ones(4)])
    assert worked.names == []
    timed = True
    worked.look(launcher, [torch.ones(4)])
    worked.look(launcher, [torch.ones(4)])
    assert worked.names == ["mul"]


def test_launches_are_those_of_the_call_that_makes_the_fewest(monkeypatch) -> None:
    monkeypatch.setattr(JITFunction, "run", lambda self, grid, warmup: None)
    kernel = JITFunction(looked)
    worked, calls = Worked([]), iter([1, 2, 0])

    def launcher() -> None:
        for _ in range(next(calls)):
            kernel[(1,)]()

    worked.look(launcher, [])
    assert worked.seen().launches == 1
    worked.look(launcher, [])
    worked.look(launcher, [])
    assert worked.seen().launches == 0
