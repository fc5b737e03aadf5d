"""What a file replaces in modules that are not its own is put back and named; what it adds is let be."""

from __future__ import annotations

import json

import pytest
import torch

from grader.runner.monkeypatches import Originals


def test_nothing_is_amiss_where_nothing_was_replaced() -> None:
    assert Originals().mend() == []


def test_functions_and_methods_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    originals, dumps, detach = Originals(), json.dumps, torch.Tensor.detach
    monkeypatch.setattr(json, "dumps", lambda value: "{}")
    monkeypatch.setattr(torch.Tensor, "detach", lambda self: self + 1)
    assert sorted(originals.mend()) == ["Tensor.detach", "json.dumps"]
    assert (json.dumps, torch.Tensor.detach) == (dumps, detach)
    assert originals.mend() == []


def test_a_class_that_got_a_method_of_its_own_has_its_bases_again() -> None:
    originals = Originals()
    torch.Tensor.data_ptr = lambda self: 0
    assert originals.mend() == ["Tensor.data_ptr"]
    assert torch.ones(1).data_ptr() != 0


def test_what_a_library_wraps_when_it_is_imported_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    originals = Originals()
    monkeypatch.setattr(torch, "manual_seed", torch.random.seed)
    assert originals.mend() == []


def test_a_new_name_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    originals = Originals()
    monkeypatch.setattr(torch, "a_helper_of_mine", 1, raising=False)
    assert originals.mend() == []


def test_a_default_device_stays() -> None:
    originals = Originals()
    try:
        torch.set_default_device("meta")
        assert originals.mend() == []
        assert torch.empty(1).device.type == "meta"
    finally:
        torch.set_default_device(None)
