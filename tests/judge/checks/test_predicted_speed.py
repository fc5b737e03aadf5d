"""A grading without a GPU ends in facts that were counted and compiled."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from grader.challenge import Case, Challenge, Speed
from grader.datasheets import GPUS, USUAL
from grader.judge.checks import predicted_speed
from grader.judge.failures import CheckFailed
from grader.performance.counting.counts import Extent, LaunchCounts, Site
from grader.performance.predict.prediction import Call, Compiled
from tests.made_up_day import Judged

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
        "Line 11 loads 8.0× the 32-byte sectors needed: neighbouring lanes are 65536 elements apart."
    )
    assert verdict.speed is None, "a time beside it would have to be explained away"
    cause = verdict.checks[-1].cause
    assert (cause["evidence"], cause["line"], verdict.look_at) == ("predicted", 11, "line 11")
    assert {fact["name"] for fact in cause["facts"]} >= {"compiles", "sectors", "bytes", "spills"}


@pytest.mark.every_triton
def test_what_does_not_compile_at_full_size_alone_is_not_called_slow(judged: Judged) -> None:
    more = "    acc = 2 * x\n    if BLOCK == 1024:\n        acc = 0\n"
    more += "        for step in range(0, 2 + 0 * stride):\n            acc = acc + x"
    source = KERNEL.format(offs=ROW, value="acc", more=more)
    source = source.replace("BLOCK=1024)", "BLOCK=1024 if x.numel() > 1e6 else 2048)")
    verdict = judged(HIDDEN, source)
    fast = verdict.checks[-1]
    assert (verdict.status, fast.name, fast.outcome) == ("failed", "fast", "failed")
    assert re.match(r"acc is int32 before the loop", verdict.diagnosis), verdict.diagnosis
    assert verdict.speed is None


def of_launches(*launches: LaunchCounts, results: Sequence[tuple[int, int]] = ()) -> str:
    """What is said of a call that must move 1 MB and makes these."""
    call = Call(GPUS[USUAL], launches, [Compiled()] * len(launches), ideal=1e6, results=results)
    try:
        case = Case(n=1)
        challenge, bar = Challenge("f", lambda case, draw: (), None, [case]), Speed(case, lambda: 0)
        predicted_speed._does_the_work(call, challenge, bar, "")
    except CheckFailed as failed:
        return str(failed.cause["reason"])
    return ""


def launch(kernel: str, line: int = 1, asked: float = 0.0, cut: bool = False) -> LaunchCounts:
    return LaunchCounts(kernel, line, (1, 1, 1), 1, cut=cut, sites=[Site("store", 1, "y", 4, asked=asked)])


def test_programs_that_store_to_one_result_or_another_are_taken_to_store_to_either() -> None:
    """Of 40 programs, 32 for q and 8 for k, one of each was counted: half of all is q's by that."""
    store = Site("store", 1, "y", 4, asked=5e5, most=1e6)
    stored = LaunchCounts("k", 1, (1, 1, 1), 1, sites=[store], tensors={"y": Extent(10**6, own=True, low=64)})
    load = launch("k", asked=1e6)
    assert of_launches(load, stored, results=[(64, 800_000)]) == ""
    stored.sites[0].most = 5e5
    assert "store 0.5 MB of a result of 0.8 MB" in of_launches(load, stored, results=[(64, 800_000)])


def test_at_full_size_torch_may_fill_but_not_compute() -> None:
    kernel = launch("k", asked=1e6)
    assert of_launches(launch("torch.zeros", line=0), launch("torch.fill_", line=0), kernel) == ""
    assert "torch did part of the work: add ran" in of_launches(launch("torch.add", line=0), kernel)


def test_at_full_size_kernels_touch_what_the_task_must_move() -> None:
    assert of_launches(launch("k", asked=4e5), launch("k", asked=6e5)) == ""
    assert of_launches(launch("k", asked=4e5, cut=True)) == "", "what was cut short is counted at least"
    assert "touch 0.4 MB where the task asks for 1.0 MB" in of_launches(launch("k", asked=4e5))


UNKNOWN = """
@triton.jit
def double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK
    more = at < n
    while more:
        offs = at + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n)
        for _ in tl.static_range({many}):
            x = tl.abs(x) * (2 * (x > 0) - 1)
        tl.store(y_ptr + offs, 2 * x, mask=offs < n)
        at += tl.num_programs(0) * BLOCK
        more = at < n


def double(x):
    y = torch.empty_like(x)
    double_kernel[(1056,)](x, y, x.numel(), BLOCK=2048)
    return y
"""


def test_of_what_was_not_counted_whole_no_time_is_shown(judged: Judged) -> None:
    verdict = judged(HIDDEN, UNKNOWN.format(many=60))
    fast = verdict.checks[-1]
    assert (verdict.status, fast.outcome, verdict.speed) == ("passed", "not measured", None)
    assert str(fast.cause["reason"]).startswith("at least ")
    assert str(fast.cause["reason"]).endswith("µs by prediction: not all that it does could be counted")
    assert judged(HIDDEN, UNKNOWN.format(many=1)).checks[-1].outcome == "passed"
