"""What a runner sends is used only if it has the form that was asked for."""

from __future__ import annotations

import pytest

from grader.judge.case import forms

CALLED = {"structure": "Tensor", "outputs": [], "launches": [{"kernel": "k", "grid": [1]}], "foreign": [],
          "tampered": [], "reads": [], "guards": [], "overruns": [], "backward": False, "saved": [],
          "allocated": 0, "races": []}  # fmt: skip
TENSOR = {"dtype": "float32", "shape": [2], "stride": [1], "device": "cpu", "source": "x", "launched": True}


def test_an_answer_fits_its_form() -> None:
    assert forms.answers(CALLED, forms.CALLED)
    assert forms.answers({**CALLED, "outputs": [TENSOR, {"type": "int", "value": 3}]}, forms.CALLED)


@pytest.mark.parametrize(
    "changed",
    [
        {"outputs": None},
        {"outputs": [{**TENSOR, "shape": "2"}]},
        {"outputs": [{}]},
        {"launches": [{"kernel": "k", "grid": ["1"]}]},
        {"guards": [{"tensor": "x"}]},
        {"foreign": [1]},
    ],
)
def test_an_answer_that_does_not_fit_is_none(changed: dict) -> None:
    assert not forms.answers({**CALLED, **changed}, forms.CALLED)
    assert not forms.answers("hello", forms.CALLED)


def test_a_fault_is_an_answer_to_anything() -> None:
    fault = {"kind": "exception", "type": "E", "message": "m", "line": 3, "source": "", "traceback": []}
    assert forms.answers({"fault": fault}, forms.CALLED)
    assert not forms.answers({"fault": {"kind": 3}}, forms.CALLED)
