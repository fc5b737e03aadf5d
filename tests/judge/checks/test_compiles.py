"""A grading without a GPU compiles what a GPU would be handed, on days without a speed bar too."""

from __future__ import annotations

import pytest

from grader.judge.background_compile import Told
from grader.judge.checks import compiles
from grader.runner_answers import Fault
from tests.made_up_day import Judged

HIDDEN = """
challenge = Challenge(
    entry="double",
    inputs=lambda case, draw: (draw(case.n),),
    reference=lambda x: 2 * x,
    cases=[Case(n=32), Case(n=100), Case(n=128, dtype=torch.float16), Case(n=128, values="large")],
)
"""
KERNEL = """
{head}
@triton.jit
def double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
{body}
    tl.store(y_ptr + offs, y, mask=offs < n)


def double(x):
    y = torch.empty_like(x)
    {launch}
    return y
"""
LAUNCH = "double_kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)"
# A tile in shared memory, for it is read crosswise: 4 bytes an element.
LARGE = """    rows = tl.arange(0, 512)
    tile = tl.zeros((512, 512), tl.float32) + rows[:, None] * n
    y = 2 * x + 0 * tl.sum(tl.dot(tile, tl.trans(tile) + 1, input_precision="ieee"))"""


def source(body: str = "    y = 2 * x", head: str = "", launch: str = LAUNCH) -> str:
    return KERNEL.format(head=head, body=body, launch=launch)


@pytest.mark.every_triton
def test_a_kernel_that_compiles_passes(judged: Judged) -> None:
    verdict = judged(HIDDEN, source())
    assert [check.name for check in verdict.checks][-2:] == ["compiles", "honest"]
    assert {check.outcome for check in verdict.checks} == {"passed"}


@pytest.mark.every_triton
def test_what_a_gpu_alone_is_handed_is_compiled_and_the_line_is_named(judged: Judged) -> None:
    body = "    y = 2 * x\n    if BLOCK == 128:\n        y = 0.0\n        for step in range(0, n * 0 + 2):\n"
    launch = LAUNCH.replace("BLOCK=64", "BLOCK=128 if x.is_cuda else 64")
    verdict = judged(HIDDEN, source(body + "            y = y + x", launch=launch))
    assert (verdict.status, verdict.look_at) == ("failed", "line 15")
    assert verdict.diagnosis.startswith("Triton cannot compile line 15: "), verdict.diagnosis
    last = verdict.checks[-2]
    assert (last.name, last.outcome, last.cause["fact"]) == ("compiles", "failed", "compiles")


def test_a_kernel_that_fits_no_gpu_is_no_pass(judged: Judged) -> None:
    verdict = judged(HIDDEN, source(LARGE))
    assert verdict.status == "failed"
    assert "KB of shared memory where an H200 has 227." in verdict.diagnosis


def test_of_an_autotuners_configs_one_that_fits_will_do(judged: Judged) -> None:
    body = f"    if BLOCK == 128:\n{LARGE.replace('    ', '        ')}\n    else:\n        y = 2 * x"
    tuned = "@triton.autotune([triton.Config({{'BLOCK': block}}) for block in {}], key=['n'])"
    launch = "double_kernel[lambda meta: (triton.cdiv(x.numel(), meta['BLOCK']),)](x, y, x.numel())"
    verdict = judged(HIDDEN, source(body, tuned.format([64, 128]), launch))
    assert verdict.status == "passed", verdict.diagnosis
    verdict = judged(HIDDEN, source(body, tuned.format([128]), launch))
    assert "shared memory" in verdict.diagnosis


def test_a_kernel_that_returns_a_value_is_refused_behind_the_front_end(judged: Judged) -> None:
    verdict = judged(
        HIDDEN,
        KERNEL.format(head="", body="    y = 2 * x", launch=LAUNCH).replace(
            "mask=offs < n)\n\n\n", "mask=offs < n)\n    return y\n\n\n"
        ),
    )
    assert verdict.checks[-2].name == "compiles"
    assert "Triton cannot compile double_kernel: PassManager::run failed." in verdict.diagnosis


def test_kernels_of_one_name_are_not_taken_for_one_another(judged: Judged) -> None:
    head = "@triton.jit\ndef double_kernel(x_ptr, NONE):\n    pass\n\n\nother = double_kernel\n"
    verdict = judged(HIDDEN, source(head=head))
    compiles = verdict.checks[-2]
    assert (verdict.status, compiles.name, compiles.outcome) == ("passed", "compiles", "not measured")
    assert "not known" in compiles.cause["reason"]


def test_where_the_compiler_says_no_more_the_kernel_and_the_case_are_named() -> None:
    fault = Fault("exception", "RuntimeError", "PassManager::run failed", 0, "", [])
    failed = compiles._rejected(Told("n=8-fp32", "double_kernel", 7, False, fault=fault), "")
    assert failed.told == (
        "With n=8-fp32 Triton cannot compile double_kernel: PassManager::run failed. A pass of its compiler "
        "breaks off, and says no more.",
        "double_kernel, from line 7 on",
    )
