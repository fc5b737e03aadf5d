"""Inputs after a call: their bytes, or of those on a GPU that may not be written a digest of them."""

from __future__ import annotations

import pytest
import torch

from grader.challenge.harness.answer_checks import _digested, _unchanged
from grader.runner.tensors_on_the_wire import contents
from grader.tensor_storage import raw


def sent(tensor: torch.Tensor, *, whole: bool) -> torch.Tensor:
    """What the judge has of a tensor that a runner was handed."""
    (found,) = contents([tensor.untyped_storage()], [whole])
    return torch.frombuffer(bytearray(found), dtype=torch.uint8)


def stays(ours: torch.Tensor, after: torch.Tensor, written: list[torch.Tensor]) -> bool:
    return _unchanged(ours, after, written, _digested([ours], written))


@pytest.mark.parametrize("on_gpu", [False, True])
def test_a_byte_that_changed_is_told_by_bytes_and_by_digest(
    on_gpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.Tensor, "is_cuda", on_gpu)
    ours, theirs = torch.arange(37.0), torch.arange(37.0)
    assert stays(ours, sent(theirs, whole=not on_gpu), [])
    raw(theirs.untyped_storage())[-1] += 1
    assert not stays(ours, sent(theirs, whole=not on_gpu), [])
    assert not stays(ours, sent(torch.arange(38.0), whole=not on_gpu), []), "another's memory"


@pytest.mark.parametrize("on_gpu", [False, True])
def test_of_an_argument_that_is_written_only_what_lies_between_its_elements_must_stay(
    on_gpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.Tensor, "is_cuda", on_gpu)
    ours, theirs = torch.arange(12.0)[::2], torch.arange(12.0)[::2]
    theirs += 1
    assert stays(ours, sent(theirs, whole=True), [ours])
    raw(theirs.untyped_storage())[4] += 1  # of the second, which is no element
    assert not stays(ours, sent(theirs, whole=True), [ours])
