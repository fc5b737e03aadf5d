"""What torch computes at full size is told, whether the code sees that it is watched or not."""

from __future__ import annotations

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode
from triton.runtime.jit import JITFunction

from grader.runner import operator_audit as module
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


def test_what_torch_does_where_no_mode_looks_is_told_too() -> None:
    assert looked(
        lambda x: torch.empty_like(x) if _get_current_dispatch_mode() else x + x, torch.ones(4)
    ) == ["add"]


def test_what_it_does_in_a_later_call_alone_is_told() -> None:
    def launcher(x: torch.Tensor) -> torch.Tensor:
        return x * x if timed else torch.empty_like(x)

    timed, worked = False, Worked([])
    worked.look(launcher, [torch.ones(4)])
    assert worked.names == []
    timed = True
    worked.of(launcher)(torch.ones(4))
    worked.of(launcher)(torch.ones(4))
    assert worked.names == ["mul"]


def test_a_profiler_of_the_files_own_is_no_error() -> None:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        assert looked(lambda x: x + x, torch.ones(4)) == ["add"]


def test_launches_are_those_of_the_call_that_makes_the_fewest(monkeypatch) -> None:
    monkeypatch.setattr(JITFunction, "run", lambda self, grid, warmup: None)
    kernel = JITFunction(test_a_profiler_of_the_files_own_is_no_error)
    worked, calls = Worked([]), iter([2, 1, 0, 1])

    def launcher() -> None:
        for _ in range(next(calls)):
            kernel[(1,)]()

    worked.look(launcher, [])
    assert worked.seen().launches == 1
    worked.of(launcher)()
    worked.of(launcher)()
    assert worked.seen().launches == 0


def test_what_runs_without_operator_or_launch_is_told_where_a_call_runs_it(monkeypatch) -> None:
    class Graph:
        def replay(self) -> str:
            return "replayed"

    monkeypatch.setattr(module, "UNSEEN", ((Graph, "replay", "a CUDA graph"), (None, "run", "nothing")))
    module.note_unseen()
    replay = Graph.replay  # as a file may keep it
    worked = Worked([])
    assert replay(Graph()) == "replayed"
    worked.look(lambda: None, [])
    assert worked.seen().unseen == []
    assert worked.of(replay)(Graph()) == "replayed"
    assert worked.seen().unseen == ["a CUDA graph"]
