"""Which ways to a tensor's values are told of."""

from __future__ import annotations

import pytest
import torch

from grader.runner import host_reads


def test_a_method_that_this_torch_does_not_have_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_reads, "SIGHTS", (*host_reads.SIGHTS, "of_a_later_torch"))
    with host_reads.telling(), host_reads.noticed(lambda: False) as seen:
        assert torch.ones(1).item() == 1
    assert seen == ["item"]
    assert not hasattr(torch.Tensor, "of_a_later_torch")
