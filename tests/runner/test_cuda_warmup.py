"""A GPU that does not wake is told of by the first call, and by nothing before it."""

from __future__ import annotations

import pytest

from grader.runner import cuda_warmup


def test_what_fails_is_not_told(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(cuda_warmup, "driver", None)
    cuda_warmup.wake()
    assert capfd.readouterr() == ("", "")
