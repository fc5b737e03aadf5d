"""What a file replaces in modules that are not its own is put back and named; what it adds is let be."""

from __future__ import annotations

import json
import sys
import types
import zlib

import pytest
import torch

from grader.runner.held import Held


def test_nothing_is_amiss_where_nothing_was_replaced() -> None:
    assert Held().mend() == []


def test_functions_methods_and_modules_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    held, dumps, detach = Held(), json.dumps, torch.Tensor.detach
    monkeypatch.setattr(json, "dumps", lambda value: "{}")
    monkeypatch.setattr(torch.Tensor, "detach", lambda self: self + 1)
    monkeypatch.setitem(sys.modules, "zlib", types.ModuleType("zlib"))
    assert sorted(held.mend()) == ["Tensor.detach", "json.dumps", "zlib"]
    assert (json.dumps, torch.Tensor.detach, sys.modules["zlib"]) == (dumps, detach, zlib)
    assert held.mend() == []


def test_a_class_that_got_a_method_of_its_own_has_its_bases_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = Held()
    monkeypatch.setattr(torch.Tensor, "data_ptr", lambda self: 0, raising=False)
    assert held.mend() == ["Tensor.data_ptr"]
    assert torch.ones(1).data_ptr() != 0


def test_what_a_library_wraps_when_it_is_imported_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held()
    monkeypatch.setattr(torch, "manual_seed", torch.random.seed)
    assert held.mend() == []


def test_a_new_name_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held()
    monkeypatch.setattr(torch, "a_helper_of_mine", 1, raising=False)
    assert held.mend() == []
