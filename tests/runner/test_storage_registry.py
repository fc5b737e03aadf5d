"""Whose the memory is that a call's tensors lie in."""

from __future__ import annotations

import torch

from grader.runner.storage_registry import Storages


def test_memory_that_was_handed_over_by_dlpack_is_still_the_inputs() -> None:
    view = torch.arange(64.0)[4:8]
    storages = Storages()
    storages.add_inputs([{"name": "x", "start": 16, "stop": 32}], [view])
    taken = torch.from_dlpack(view)
    assert taken.untyped_storage().data_ptr() != view.untyped_storage().data_ptr()
    known = storages.find(taken)
    assert known is not None
    assert known.name == "x"
    assert list(storages.own([taken])) == []
    assert storages.find(torch.zeros(4)) is None
