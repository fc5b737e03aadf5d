"""While a kernel runs, threads of the file and arguments that are no tensors are told of, nothing else."""

from __future__ import annotations

import signal
import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grader.runner.threads_beside_kernels import beside


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a runner: the threads of whoever runs the tests are not there."""
    frames = sys._current_frames
    theirs = set(frames()) - {threading.get_ident()}
    monkeypatch.setattr(
        sys, "_current_frames", lambda: {name: f for name, f in frames().items() if name not in theirs}
    )


def test_numbers_and_tensors_are_nothing() -> None:
    assert beside([torch.ones(1), 3, 0.5, None, (torch.ones(1),), torch.float32]) == set()


def test_a_timer_does_not_go_off_in_a_kernel() -> None:
    signal.setitimer(signal.ITIMER_PROF, 1000)
    beside([])
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


def test_the_callbacks_of_a_monitor_are_taken_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Python has them from 3.12 on."""
    taken: list[tuple[Any, ...]] = []
    freed: list[int] = []
    ways = {"register_callback": lambda *given: taken.append(given), "free_tool_id": freed.append}
    monitoring = SimpleNamespace(events=SimpleNamespace(NO_EVENTS=0, LINE=32, CALL=16), **ways)
    monkeypatch.setattr("grader.runner.threads_beside_kernels.MONITORING", monitoring)
    beside([])
    assert len(taken) == 12
    assert (5, 32, None) in taken
    assert freed == [*range(6)], "Python's own profiler asks for one of them"


def test_a_thread_in_a_function_of_the_file_is_told_of() -> None:
    done = threading.Event()

    def work() -> None:
        done.wait()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        assert beside([]) == {"another thread of your file"}
    finally:
        done.set()
        worker.join()


def test_a_thread_that_waits_for_a_backward_pass_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the file's own does on a GPU, where autograd runs `backward` in a thread of its own."""

    def waiting() -> Any:
        return sys._getframe()

    monkeypatch.setattr("grader.runner.threads_beside_kernels.INITIALISED", lambda: True)
    monkeypatch.setattr(sys, "_current_frames", lambda: {1: waiting()})
    assert beside([]) == {"another thread of your file"}
    monkeypatch.setattr("grader.runner.threads_beside_kernels.WAITING", waiting.__code__)
    assert beside([]) == set()


def test_an_object_with_an_address_is_told_of() -> None:
    assert beside([SimpleNamespace(data_ptr=lambda: 0)]) == {
        "an argument of type SimpleNamespace, which is no tensor"
    }
