"""A GPU that does not wake is told of by the first call, and by nothing before it."""

from __future__ import annotations

import threading

import pytest

from grader.runner import cuda_warmup


def test_what_fails_is_not_printed_as_if_the_file_had(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", printed.append)

    class Broken:
        @property
        def utils(self) -> None:
            raise RuntimeError("there is no C compiler")

    class Driver:
        active = Broken()

    monkeypatch.setattr(cuda_warmup, "driver", Driver)
    monkeypatch.setattr("torch.empty", lambda *_, **__: 1 / 0)
    cuda_warmup.wake()
    assert printed == []
