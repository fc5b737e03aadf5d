"""What a file replaces in modules that are not its own is put back and named; what it adds is let be."""

from __future__ import annotations

import json
import sys
import types
import warnings
import zlib

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader import tensor_storage
from grader.runner import monkeypatches
from grader.runner.call_sandbox import World
from grader.runner.monkeypatches import Originals, Unseen, no_audit_hooks


def noting() -> Originals:
    """One that hears of other code, as a runner's does."""
    held = Originals()
    sys.addaudithook(held.noting)
    return held


def test_nothing_is_amiss_where_nothing_was_replaced() -> None:
    assert Originals().mend() == []


def test_functions_methods_and_modules_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    held, dumps, detach = Originals(), json.dumps, torch.Tensor.detach
    monkeypatch.setattr(json, "dumps", lambda value: "{}")
    monkeypatch.setattr(torch.Tensor, "detach", lambda self: self + 1)
    monkeypatch.setitem(sys.modules, "zlib", types.ModuleType("zlib"))
    assert sorted(held.mend()) == ["Tensor.detach", "json.dumps", "zlib"]
    assert (json.dumps, torch.Tensor.detach, sys.modules["zlib"]) == (dumps, detach, zlib)
    assert held.mend() == []


def test_a_class_that_got_a_method_of_its_own_has_its_bases_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = Originals()
    monkeypatch.setattr(torch.Tensor, "data_ptr", lambda self: 0, raising=False)
    assert held.mend() == ["Tensor.data_ptr"]
    assert torch.ones(1).data_ptr() != 0


def test_functions_have_their_own_code_again_and_limits_their_own_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held, note, limit = noting(), World._note.__code__, tensor_storage.CHECKSUM_LIMIT
    monkeypatch.setattr(World._note, "__code__", (lambda *_: None).__code__)
    monkeypatch.setattr(tensor_storage, "CHECKSUM_LIMIT", 0)
    World.foreign = property(lambda _: [])
    monkeypatch.setattr(sys, "setprofile", lambda _: None)
    named = ["World._note", "World.foreign", "grader.tensor_storage.CHECKSUM_LIMIT", "sys.setprofile"]
    assert sorted(held.mend()) == named
    assert (World._note.__code__, tensor_storage.CHECKSUM_LIMIT) == (note, limit)
    assert not hasattr(World, "foreign")


def test_what_python_has_files_replace_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Originals()
    monkeypatch.setattr(sys, "excepthook", lambda *_: None)
    monkeypatch.setattr(warnings, "showwarning", lambda *_: None)
    assert held.mend() == []


def test_what_a_library_wraps_when_it_is_imported_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Originals()
    monkeypatch.setattr(torch, "manual_seed", torch.random.seed)
    assert held.mend() == []


def test_a_new_name_is_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Originals()
    monkeypatch.setattr(torch, "a_helper_of_mine", 1, raising=False)
    assert held.mend() == []


def test_names_that_exchange_what_they_hold_have_their_own_again(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = types.ModuleType("owner")
    owner.one, owner.other = one, other = (lambda: 1), (lambda: 2)
    monkeypatch.setitem(sys.modules, "owner", owner)
    monkeypatch.setattr(monkeypatches, "OWNERS", (owner,))
    held = Originals()
    del owner.one, owner.other
    owner.other, owner.one = one, other
    assert sorted(held.mend()) == ["owner.one", "owner.other"]
    assert (owner.one, owner.other) == (one, other)
    owner.late = lambda: 3
    assert held.mend() == []
    owner.other = one
    assert held.mend() == ["owner.other"], "a name that came later hides nothing"


@pytest.mark.parametrize("name", ["is_", "_same"])
def test_what_is_compared_with_is_looked_at_itself(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Originals()
    monkeypatch.setattr(monkeypatches, name, lambda *_: True)
    assert held.mend() == [f"grader.runner.monkeypatches.{name}"]


def test_code_that_was_put_into_a_function_is_taken_out_of_it() -> None:
    held, code = noting(), json.dumps.__code__
    json.dumps.__code__ = (lambda *_, **__: "{}").__code__
    assert held.mend() == ["json.dumps"]
    assert json.dumps.__code__ is code
    assert held.mend() == []


def test_who_notes_that_is_itself_given_other_code_has_its_own_again() -> None:
    held, code = noting(), Originals.noting.__code__
    Originals.noting.__code__ = (lambda *_: None).__code__
    json.dumps.__code__, stock = (lambda *_, **__: "{}").__code__, json.dumps.__code__
    assert held.mend() == ["Originals.noting"]
    json.dumps.__code__ = stock
    assert Originals.noting.__code__ is code


class Doubles(TorchDispatchMode):  # type: ignore[misc]
    """A mode that stays."""


class Triples(TorchFunctionMode):
    """Another."""


def test_modes_that_a_file_entered_are_left() -> None:
    held = Originals()
    Doubles().__enter__()
    Triples().__enter__()
    assert held.mend() == ["torch's functions by Triples", "torch's operators by Doubles"]
    assert held.mend() == []


def test_a_default_device_stays() -> None:
    held = Originals()
    try:
        torch.set_default_device("meta")
        assert held.mend() == []
        assert torch.empty(1).device.type == "meta"
    finally:
        torch.set_default_device(None)


@pytest.mark.filterwarnings("ignore:Warning only once")
def test_an_operator_that_a_file_implements_is_named() -> None:
    held, library = Originals(), torch.library.Library("aten", "IMPL")
    library.impl("zero_", lambda tensor: tensor, "CPU")
    assert held.mend() == ["aten::zero_"]
    library._destroy()
    assert held.mend() == []


def test_no_audit_hook_is_taken() -> None:
    with pytest.raises(Unseen, match="leave it out"):
        no_audit_hooks(lambda *_: None)
