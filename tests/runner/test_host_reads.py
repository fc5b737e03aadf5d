"""Which ways to a tensor's values are told of."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from grader.runner import host_reads
from grader.runner.host_reads import HostReads

KEPT = torch.Tensor.numpy
X = torch.ones(2)


@pytest.mark.parametrize(
    ("look", "seen"),
    [
        (lambda: X[0].item(), "item"),
        (lambda: float(X[0]), "__float__"),
        (lambda: KEPT(X), "numpy"),
        (lambda: torch._C.TensorBase.numpy(X), "numpy"),
        (lambda: np.asarray(X), "__array__"),
        (lambda: torch.from_dlpack(X), "__dlpack__"),
        (lambda: torch.save(X, io.BytesIO()), "untyped_storage"),
        (lambda: X.data_ptr(), "data_ptr"),
    ],
)
def test_whoever_reads_values_or_gets_at_their_memory_is_noticed(look: Callable[[], Any], seen: str) -> None:
    with HostReads(lambda: False) as reads:
        look()
    assert reads.seen == [seen]


def test_what_happens_in_a_launch_or_only_computes_is_let_be() -> None:
    with HostReads(lambda: True) as reads:
        X[0].item()
    with HostReads(lambda: False) as others:
        (X + X).reshape(2, 1)
    assert reads.seen == others.seen == []


def test_what_triton_or_the_grader_has_generated_code_do_is_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the code by which Triton asks each argument of a launch for its address."""
    asks = compile("X.data_ptr()", "<string>", "eval")
    with HostReads(lambda: False) as reads:
        eval(asks)
    assert reads.seen == ["data_ptr"]
    monkeypatch.setattr(host_reads, "PACKAGE", __file__)
    with HostReads(lambda: False) as others:
        eval(asks)
    assert others.seen == []
