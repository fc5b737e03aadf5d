"""A grading without a GPU ends in facts that were counted and compiled."""

from __future__ import annotations

import re

import pytest

from tests.judge.conftest import Judged

HIDDEN = """
big = Case(n=2**26)
challenge = Challenge(
    entry="double",
    inputs=lambda case, draw: (draw(case.n),),
    reference=lambda x: 2 * x,
    cases=[Case(n=32), Case(n=100), Case(n=128, values="large")],
    speed=Speed(big, moved=lambda x: 2 * x.nbytes, of_copy=0.60),
)
"""
KERNEL = """
@triton.jit
def double_kernel(x_ptr, y_ptr, n, stride, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = {offs}
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
{more}
    tl.store(y_ptr + offs, {value}, mask=offs < n)


def double(x):
    y = torch.empty_like(x)
    programs = triton.cdiv(x.numel(), 1024)
    double_kernel[(programs,)](x, y, x.numel(), programs, BLOCK=1024)
    return y
"""
ROW = "pid * BLOCK + tl.arange(0, BLOCK)"
SUM = """    acc = 0
    for step in range(0, 2 + 0 * stride):
        acc = acc + x"""


@pytest.mark.every_triton
def test_a_good_kernel_passes_with_facts_alone(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL.format(offs=ROW, value="2 * x", more=""))
    assert (verdict.status, verdict.diagnosis) == ("passed", "")
    fast = verdict.checks[-1]
    assert (fast.name, fast.outcome) == ("fast", "passed")
    assert fast.seconds < 10


@pytest.mark.every_triton
def test_a_strided_walk_is_slow_by_prediction_and_its_line_is_named(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL.format(offs="pid + stride * tl.arange(0, BLOCK)", value="2 * x", more=""))
    assert verdict.status == "slow"
    assert verdict.diagnosis == (
        "Line 11 loads 8.0× the sectors needed: neighbouring lanes are 65536 elements apart."
    )
    assert verdict.speed is None, "a time beside it would have to be explained away"
    cause = verdict.checks[-1].cause
    assert (cause["evidence"], cause["line"], verdict.look_at) == ("predicted", 11, "line 11")
    assert {fact["name"] for fact in cause["facts"]} >= {"compiles", "sectors", "bytes", "spills"}


@pytest.mark.every_triton
def test_what_only_the_interpreter_accepts_is_rejected_with_the_learners_line(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL.format(offs=ROW, value="acc", more=SUM))
    assert verdict.status == "failed"
    assert re.match(r"Triton cannot compile line 1[345]: .*acc", verdict.diagnosis), verdict.diagnosis


@pytest.mark.every_triton
def test_what_does_not_compile_at_full_size_alone_is_not_called_slow(judged: Judged) -> None:
    more = "    acc = 2 * x\n    if BLOCK == 1024:\n        acc = 0\n"
    more += "        for step in range(0, 2 + 0 * stride):\n            acc = acc + x"
    source = KERNEL.format(offs=ROW, value="acc", more=more)
    source = source.replace("BLOCK=1024)", "BLOCK=1024 if x.numel() > 1e6 else 2048)")
    verdict = judged(HIDDEN, source)
    fast = verdict.checks[-1]
    assert (verdict.status, fast.name, fast.cause["fact"]) == ("failed", "fast", "compiles")
    assert re.match(r"The compiler rejects line \d+: .*acc", verdict.diagnosis), verdict.diagnosis
    assert verdict.speed is None
