"""Which kernels a wrong result comes from, by the memory that launches were handed."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest
import torch

from grader.challenge import Case, Challenge
from grader.challenge.harness.argument_serialization import Answer
from grader.challenge.harness.compare import Expected, Finding
from grader.challenge.harness.trial import Trial
from grader.diagnosis.launch_record import involved
from grader.diagnosis.lines import pointed
from grader.diagnosis.provenance import behind, garbage
from grader.runner_answers import Called, Launch, TensorOutput
from tests.judge.tried import REPORT
from tests.made_up_day import Judged

SOURCE = """@triton.jit
def write(ptr, offs, value):
    tl.store(ptr + offs, value)


@triton.jit
def forward(x_ptr, y_ptr, rstd_ptr):
    x = tl.load(x_ptr)
    r = tl.rsqrt(x)
    tl.store(rstd_ptr, r)
    tl.store(y_ptr, x * r)


@triton.jit
def backward(dy_ptr, rstd_ptr, dx_ptr, part_ptr, pid):
    rstd = tl.load(rstd_ptr)
    dy = tl.load(dy_ptr)
    write(dx_ptr, pid, dy * rstd)
    tl.store(part_ptr, dy)


@triton.jit
def add_up(part_ptr, dweight_ptr, n):
    acc = 0.0
    for start in range(n):
        acc += tl.load(part_ptr + start)
    tl.store(dweight_ptr, acc)


def entry(x):
    forward[(1,)](x, y, rstd)
    backward[(1,)](dy, rstd, dx, part, 0)
    add_up[(1,)](part, dweight, 3)
    return y
"""
TREE = ast.parse(SOURCE)
X, DY, Y, RSTD, DX, PART, DWEIGHT, ELSEWHERE = range(1, 9)
LAUNCHES = [
    Launch("forward", [1], {"x_ptr": X, "y_ptr": Y, "rstd_ptr": RSTD}),
    Launch("backward", [1], {"dy_ptr": DY, "rstd_ptr": RSTD, "dx_ptr": DX, "part_ptr": PART}),
    Launch("add_up", [1], {"part_ptr": PART, "dweight_ptr": DWEIGHT}),
]


def output(memory: int) -> TensorOutput:
    return TensorOutput("float32", [1], [1], "cpu", "the tensor from torch.empty", True, memory=memory)


def trial(*wrong: int, memory: tuple[int, ...] = (Y, DX, DWEIGHT), **facts: Any) -> Trial:
    """Results y, dx and dweight, of which these are wrong."""
    outputs: list[Any] = [output(at) for at in memory]
    report: Called = replace(REPORT, outputs=outputs, launches=LAUNCHES, **{"inputs": [X, DY], **facts})
    challenge = Challenge("entry", lambda case, draw: (), lambda x: x, [])
    made = Trial(challenge, Case(), (), [], answer=Answer(report, []))
    one = torch.ones(1, dtype=torch.float64)
    labels = ("", "the gradient of x", "the gradient of weight")
    made.expected = tuple(Expected(one, torch.float32, (0.0, one), label=label) for label in labels)
    made.findings = [Finding("values", "", {"result": number}) for number in wrong]
    return made


def kernels(made: Trial) -> list[str]:
    known = behind(made, TREE)
    assert known is not None
    return list(known.stores)


def test_a_result_comes_from_who_stored_it_and_from_who_stored_what_that_read() -> None:
    known = behind(trial(2), TREE)
    assert known is not None
    assert known.stores == {"add_up": {27}, "backward": {19}}


def test_a_helper_stores_where_its_caller_says() -> None:
    known = behind(trial(1), TREE)
    assert known is not None
    assert known.stores == {"backward": {3}}, "who stored y, which is right, is not suspected of dx"


def test_of_several_wrong_results_what_is_common_is_behind_them() -> None:
    assert kernels(trial(0)) == ["forward"]
    assert kernels(trial(2, 1)) == ["backward"]


def test_what_no_kernel_was_handed_is_a_matter_of_the_launcher() -> None:
    assert kernels(trial(1, memory=(Y, ELSEWHERE, DWEIGHT))) == []


def test_what_torch_made_is_not_known() -> None:
    assert behind(trial(1, memory=(Y, ELSEWHERE, DWEIGHT), foreign=["mm"]), TREE) is None
    assert kernels(trial(0, foreign=["mm"])) == ["forward"], "what torch did elsewhere is no matter"
    partly = behind(trial(1, inputs=[X], foreign=["mm"]), TREE)
    assert partly is not None
    assert not partly.whole, "dy is torch's, and may come from a kernel"


def test_memory_that_nobody_wrote_is_named_where_a_kernel_reads_it() -> None:
    told = garbage(trial(2, untouched=[PART]), SOURCE)
    assert told is not None
    assert "add_up reads part_ptr" in told[0]
    assert pointed(told[1], SOURCE) == f"{told[1]}: line 26"
    assert garbage(trial(2), SOURCE) is None


@pytest.mark.parametrize(
    ("wrong", "look_at", "where"),
    [
        (0, "the formula", "line 11"),
        (2, "the formula", "lines 17 and 26"),
        (1, "what is stored there", "line 3"),
        (2, "what is stored there", "lines 17, 19, 26 and 27"),
        (2, "a thing without a word", "in backward, from line 15 on, and add_up, from line 23 on"),
        (2, "the grid", "lines 32 and 33"),
        (0, "the launcher", "line 31"),
    ],
)
def test_lines_are_those_of_the_kernels_behind_it(wrong: int, look_at: str, where: str) -> None:
    part = involved(trial(wrong), SOURCE)
    assert pointed(look_at, SOURCE, part=part) == f"{look_at}: {where}"


def test_an_input_that_was_changed_was_changed_by_a_store() -> None:
    made = trial(memory=(Y, X, DWEIGHT), inputs=[DX, DY])
    made.findings = [Finding("input", "", {"tensor": "x", "changed": 0})]
    known = behind(made, TREE)
    assert known is not None
    assert known.stores == {"backward": {3}}, "who stored what that kernel read is none of it"


TWO_HIDDEN = """
challenge = Challenge("f", lambda case, draw: (draw(case.n),), lambda x: (2 * x, x.exp()), [Case(n=8)])
"""
TWO = """
@triton.jit
def kernel(x_ptr, a_ptr, b_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    b = x * x
    b = tl.exp(b)
    tl.store(a_ptr + offs, 2 * x, mask=offs < n)
    tl.store(b_ptr + offs, b, mask=offs < n)


def f(x):
    a, b = torch.empty_like(x), torch.empty_like(x)
    kernel[(1,)](x, a, b, x.numel(), BLOCK=64)
    return a, b
"""


def test_lines_that_make_what_is_wrong_and_nothing_right_are_named_where_they_are_few(judged: Judged) -> None:
    assert judged(TWO_HIDDEN, TWO).look_at.startswith("what is stored there")
    fewer = TWO.replace("    b = x * x\n    b = tl.exp(b)\n", "    b = x + 1\n")
    line = judged(TWO_HIDDEN, fewer)
    assert line.look_at == "what makes it: lines 11 and 13"
