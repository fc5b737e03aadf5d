"""Of kernels that share a name, as a function makes them, only those that were launched are looked at."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from grader.challenge import Case
from grader.diagnosis.launches import involved
from grader.diagnosis.lines import pointed
from grader.runner_answers import Launch
from tests.judge.tried import tried

SOURCE = """
def make(wide):
    if wide:
        @triton.jit
        def kernel(x_ptr, y_ptr):
            tl.store(y_ptr, tl.load(x_ptr) / 2)
    else:
        @triton.jit
        def kernel(x_ptr, y_ptr):
            tl.store(y_ptr, tl.load(x_ptr) / 3)
    return kernel
"""


@pytest.mark.parametrize(("line", "there"), [(4, "line 6"), (8, "line 10"), (0, "lines 6 and 10")])
def test_lines_are_those_of_the_one_that_ran(line: int, there: str) -> None:
    trial = tried(Case(n=8), (torch.randn(8),), lambda x: x, lambda x: 2 * x)
    assert trial.answer is not None
    launches = [Launch("kernel", [1], line=line)]
    trial.answer.report = replace(trial.answer.report, launches=launches)  # type: ignore[type-var]
    said = pointed("what is stored", SOURCE, part=involved(trial, SOURCE))
    assert said == f"what is stored: {there}"
