"""What a timed call writes to is as it was before each call, and a graph's calls share no argument."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from grader.performance.timing import stopwatch
from grader.performance.timing.autograd_passes import timed
from grader.performance.timing.stopwatch import Stopwatch, rollable


class Event:
    def record(self) -> None: ...

    def elapsed_time(self, other: Event) -> float:
        return 0.004


class Graph:
    """A CUDA graph without a GPU: it makes the calls again that were made while it was captured."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Any]] = []

    def replay(self) -> None:
        for function, arguments in self.calls:
            function(*arguments)


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's CUDA as far as a stopwatch goes, on the CPU."""
    empty = torch.empty
    monkeypatch.setattr(torch, "empty", lambda *shape, device, **more: empty(*shape, **more))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (1 << 30, 1 << 30))
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: None)
    monkeypatch.setattr(stopwatch, "_events", lambda: (Event(), Event()))
    monkeypatch.setattr(stopwatch, "l2_bytes", lambda: 1 << 10)
    monkeypatch.setattr(stopwatch, "FLUSH", 1 << 10)


def add_into(x: torch.Tensor, total: torch.Tensor) -> None:
    total += x


def watch_of(writes: list[int]) -> Stopwatch:
    arguments = [torch.arange(8.0), torch.arange(8.0) * 10]
    function, given = timed(add_into, arguments, (), (), "forward", writes)
    return Stopwatch(function, given, rollable(given, None, writes), writes)


def right(nonce: int) -> list[float]:
    return torch.arange(8.0).mul(11).roll(nonce).tolist()


def test_before_every_call_the_arguments_are_restored(no_gpu: None) -> None:
    watch = watch_of([1])
    for nonces in ([3, 5], [6, 1]):
        assert len(watch.round(2, nonces)) == 2
        (total,), nonce = watch.result(0)
        assert total.tolist() == right(nonce) == right(nonces[-1])
    watch.burst(4)
    watch.round(1, [2])
    assert watch.result(0)[0][0].tolist() == right(2)


def test_in_a_graph_each_call_has_arguments_of_its_own(no_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = watch_of([1])

    @contextlib.contextmanager
    def captured(graph: Graph, stream: object) -> Iterator[None]:
        with monkeypatch.context() as patch:
            stock = watch.function

            def noted(*arguments: Any) -> Any:
                graph.calls.append((stock, arguments))
                return stock(*arguments)

            patch.setattr(watch, "function", noted)
            yield

    monkeypatch.setattr(torch.cuda, "graph", captured)
    assert watch.capture(10.0)
    assert len(watch.sets) == len(watch.outputs) > 50
    for nonce in (3, 5):
        watch.round(1, [nonce])
        for which in range(len(watch.outputs)):
            assert watch.result(which)[0][0].tolist() == right(nonce)


# Of 32 bytes in, and 32 or 32,000 out; 3 KB are three times L2.
@pytest.mark.parametrize(("repeated", "sets"), [(1, 48), (1000, 1)])
def test_what_a_call_writes_drives_its_inputs_out_of_l2_too(
    no_gpu: None, monkeypatch: pytest.MonkeyPatch, repeated: int, sets: int
) -> None:
    monkeypatch.setattr(torch.cuda, "graph", lambda graph, stream: contextlib.nullcontext())
    watch = Stopwatch(lambda x: x.repeat(repeated), [torch.arange(8.0)], [0])
    watch.round(1, [1])
    assert watch.capture(100.0)
    assert len(watch.sets) == sets
    assert len(watch.outputs) >= 11


def test_what_python_takes_has_no_say_in_how_a_call_is_timed() -> None:
    assert [us for us in (10, 49, 51, 900, 1100) if stopwatch.short(us)] == [10, 49, 51, 900]


def test_what_is_written_is_rolled_though_others_were_chosen() -> None:
    arguments = [torch.arange(4.0), torch.arange(4), torch.arange(4.0)]
    assert rollable(arguments, None, [1]) == [0, 1, 2]
    assert rollable(arguments, [2], [1]) == [1, 2]
    assert rollable(arguments, [2]) == [2]


def test_integers_are_rolled_as_well() -> None:
    arguments = [torch.arange(4.0), torch.arange(4), 0.5, torch.arange(4) > 1, None]
    assert rollable(arguments, None) == [0, 1, 3]
    assert rollable([torch.ones(4, 3)[:, :2], torch.ones(2)], None) == [1]


def test_a_transposed_matrix_is_rolled_and_stays_transposed() -> None:
    base = torch.arange(12).view(4, 3).T
    assert rollable([base], None) == [0]
    target = base.clone()
    stopwatch.roll_into(target, base, 5)
    assert target.T.flatten().tolist() == torch.arange(12).roll(5).tolist()
    assert target.stride() == base.stride() == (1, 3)


def test_what_lies_in_one_piece_is_dense_in_any_order() -> None:
    x = torch.ones(2, 3, 4)
    assert all(map(stopwatch.dense, (x, x.permute(2, 0, 1), x[:1], x[0], torch.ones(()), torch.ones(0, 3))))
    assert not any(map(stopwatch.dense, (x[:, :2], x[..., ::2], torch.ones(3, 1).expand(3, 2))))


def test_what_a_call_returned_is_of_no_use_to_the_next() -> None:
    results = torch.ones(3), torch.ones(3, dtype=torch.uint8), torch.ones(3, dtype=torch.int64)
    stopwatch.poison(results)
    assert bool(results[0].isnan().all())
    assert (results[1].tolist(), results[2].tolist()) == ([255] * 3, [2**63 - 1] * 3)


def test_a_part_returns_what_was_written_before_what_was_returned() -> None:
    def step(x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            state += 1
        return x * 2

    x, state = torch.ones(2), torch.zeros(2)
    function, given = timed(step, [x, state], (None, torch.ones(2)), [0], "both", [1])
    held, y, dx = function(*given)
    assert held is state
    assert (y.tolist(), dx.tolist()) == ([2.0, 2.0], [2.0, 2.0])
