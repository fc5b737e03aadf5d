"""What a runner sends is used only if it has the form that was asked for."""

from __future__ import annotations

import pytest

from grader.judge import reports

CALLED = {"structure": "Tensor", "outputs": [], "launches": [{"kernel": "k", "grid": [1]}], "foreign": [],
          "tampered": [], "reads": [], "guards": [], "overruns": [], "backward": False, "saved": [],
          "allocated": 0, "races": []}  # fmt: skip
TENSOR = {"dtype": "float32", "shape": [2], "stride": [1], "device": "cpu", "source": "x", "launched": True}


def test_an_answer_fits_its_form() -> None:
    assert reports.answers(CALLED, reports.CALLED)
    assert reports.answers({**CALLED, "outputs": [TENSOR, {"type": "int", "value": 3}]}, reports.CALLED)


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
    assert not reports.answers({**CALLED, **changed}, reports.CALLED)
    assert not reports.answers("hello", reports.CALLED)


def test_a_fault_is_an_answer_to_anything() -> None:
    fault = {"kind": "exception", "type": "E", "message": "m", "line": 3, "source": "", "traceback": []}
    assert reports.answers({"fault": fault}, reports.CALLED)
    assert not reports.answers({"fault": {"kind": 3}}, reports.CALLED)
