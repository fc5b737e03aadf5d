"""What a launcher does where it sees a GPU, tried by its values on every CPU."""

from __future__ import annotations

import re

import pytest

from grader.verdict import Check, Verdict
from tests.made_up_day import Judged

HIDDEN = """
challenge = Challenge(
    entry="double",
    inputs=lambda case, draw: (draw(case.rows, case.cols),),
    reference=lambda x: 2 * x,
    cases=[Case(rows=3, cols=32), Case(rows=7, cols=32), Case(rows=150, cols=4), Case(rows=1, cols=70)],
)
"""
KERNEL = """
@triton.jit
def double_kernel(x_ptr, y_ptr, rows, cols, rows_each, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    first = tl.program_id(0) * rows_each
    for row in range(first, min(first + rows_each, rows)):
        x = tl.load(x_ptr + row * cols + offs, mask=offs < cols)
        tl.store(y_ptr + row * cols + offs, 2 * x, mask=offs < cols)


def double(x):
    y = torch.empty_like(x)
    rows, cols = x.shape
    programs = 2
    if {sees}:
        programs = {programs}
    rows_each = triton.cdiv(rows, programs)
    double_kernel[({grid},)](x, y, rows, cols, rows_each, BLOCK=triton.next_power_of_2(cols))
    return y
"""
SMS = "torch.cuda.get_device_properties(x.device).multi_processor_count"
RIGHT = {"sees": "x.is_cuda", "programs": SMS, "grid": "programs"}


def staged(verdict: Verdict) -> list[Check]:
    return [check for check in verdict.checks if check.name.endswith("-staged]")]


def test_a_right_branch_passes_in_the_case_where_each_size_is_largest(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL.format(**RIGHT))
    assert (verdict.status, verdict.diagnosis) == ("passed", "")
    names = ["edges[rows=150-cols=4-fp32-staged]", "edges[rows=1-cols=70-fp32-staged]"]
    assert [(check.name, check.outcome) for check in staged(verdict)] == [(name, "passed") for name in names]


@pytest.mark.parametrize("sees", ["x.is_cuda", "x.device.type == 'cuda'", "torch.cuda.is_available()"])
def test_rows_left_out_where_there_is_a_gpu_alone_are_seen(judged: Judged, sees: str) -> None:
    wrong = KERNEL.format(**{**RIGHT, "sees": sees, "grid": "min(programs, 74)"})
    verdict = judged(HIDDEN, wrong)
    assert (verdict.status, verdict.failed.group if verdict.failed else "") == ("failed", "edges")
    assert verdict.diagnosis.startswith("Where the launcher sees a GPU (here an H200 with 132 SMs): ")
    assert "never written" in verdict.diagnosis


def test_what_the_launcher_raises_there_is_told(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL.format(**{**RIGHT, "programs": f"{SMS} * (32 // cols)"}))
    assert (verdict.status, verdict.look_at) == ("failed", "line 22")
    assert "(here an H200 with 132 SMs): Your code raised ZeroDivisionError on line 22" in verdict.diagnosis


def test_a_file_that_asks_triton_for_its_device_as_triton_s_tutorials_do_is_right_here_too(
    judged: Judged,
) -> None:
    asks = "DEVICE = triton.runtime.driver.active.get_active_torch_device()\n"
    own = KERNEL.format(**RIGHT).replace("    y = torch", "    assert x.device == DEVICE\n    y = torch")
    verdict = judged(HIDDEN, asks + own)
    assert (verdict.status, {check.outcome for check in staged(verdict)}) == ("passed", {"passed"})


PERSISTENT = """
@triton.jit
def double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
{before}    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        {each}offs = start + tl.arange(0, BLOCK)
        out += 2 * tl.load(x_ptr + offs, mask=offs < n)
        tl.store(y_ptr + offs, out, mask=offs < n)


def double(x):
    y = torch.empty_like(x)
    sms = torch.cuda.get_device_properties(x.device).multi_processor_count if x.is_cuda else 132
    double_kernel[(min(triton.cdiv(x.numel(), 32), sms),)](x, y, x.numel(), BLOCK=32)
    return y
"""
ZEROS = "out = tl.zeros((BLOCK,), tl.float32)\n"


def test_a_loop_over_tiles_goes_round_more_than_once(judged: Judged) -> None:
    """Four to nineteen tiles, and 132 SMs."""
    verdict = judged(HIDDEN, PERSISTENT.format(before="", each=ZEROS + " " * 8))
    assert (verdict.status, verdict.diagnosis) == ("passed", "")
    verdict = judged(HIDDEN, PERSISTENT.format(before="    " + ZEROS, each=""))
    assert verdict.status == "failed"
    said = (
        "Where the launcher sees a GPU with a single SM, so that each program has more to do than one tile: "
    )
    # Of the smallest case no more than one number may be told; then it is a later one that is named.
    assert re.sub(r"^With \S+-staged: ", "", verdict.diagnosis).startswith(said)


def test_tiles_that_the_programs_do_not_share_evenly_are_all_done(judged: Judged) -> None:
    right, end = PERSISTENT.format(before="", each=ZEROS + " " * 8), "n, tl.num_programs"
    assert end in right
    step = "(tl.num_programs(0) * BLOCK)"
    floored = right.replace(end, f"tl.cdiv(n, BLOCK) * BLOCK // {step} * {step}, tl.num_programs")
    verdict = judged(HIDDEN, floored)
    assert verdict.status == "failed"
    assert "with three SMs, so that some programs have more to do than others" in verdict.diagnosis


def test_what_is_for_gpus_alone_is_not_measured(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL.format(**{**RIGHT, "programs": "torch.cuda.Stream().priority or 1"}))
    assert (verdict.status, {check.outcome for check in staged(verdict)}) == ("passed", {"not measured"})


def test_a_file_that_cannot_tell_a_gpu_from_a_cpu_is_not_tried_twice(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL.format(**{**RIGHT, "sees": "rows > 5", "programs": "4"}))
    assert (verdict.status, staged(verdict)) == ("passed", [])
