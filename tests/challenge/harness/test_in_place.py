"""An entry that writes to its arguments is judged by what they hold then, and by what it must not touch."""

from __future__ import annotations

import pytest

from tests.made_up_day import Judged, fails

HIDDEN = """
def inputs(case, draw):
    x = draw(case.n)
    return x, draw(case.n, layout=case.get("b_layout")), 0.5


challenge = Challenge(
    entry="decay",
    inputs=inputs,
    reference=lambda x, total, share: (x * share, total + x),
    writes=(0, 1),
    cases=[
        Case(n=3),
        Case(n=40),
        Case(n=0),
        Case(n=16, dtype=torch.bfloat16),
        Case(n=33, layout="strided"),
        Case(n=33, layout="offset"),
        Case(n=40, calls=2),
    ],
    suspects={"total is not added to.": lambda x, total, share: (x * share, x)},
)
"""
KERNEL = """@triton.jit
def decay_kernel(x_ptr, total_ptr, n, share, stride_x, stride_total, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs * stride_x, mask=mask)
    total = tl.load(total_ptr + offs * stride_total, mask=mask)
    tl.store(x_ptr + offs * stride_x, x * share, mask=mask)
    tl.store(total_ptr + offs * stride_total, total + x, mask=mask)


def decay(x, total, share):
    grid = (triton.cdiv(len(x), 16),)
    decay_kernel[grid](x, total, len(x), share, x.stride(0), total.stride(0), BLOCK=16)
"""


def test_what_the_arguments_hold_afterwards_is_the_result(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL)
    assert verdict.status == "passed", verdict.diagnosis


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "    tl.store(x_ptr + offs * stride_x, x * share, mask=mask)\n",
            "",
            "x is after the call what it was",
        ),
        ("total + x, mask", "x, mask", "total is not added to."),
        ("triton.cdiv(len(x), 16)", "len(x) // 16", "grid is empty"),
        ("triton.cdiv(len(x), 16)", "1", "one program ran, and what it stores ends there"),
        (
            "total.stride(0), BLOCK=16)",
            "total.stride(0), BLOCK=16)\n    return x",
            "where nothing is asked for",
        ),
        (
            "tl.store(total_ptr + offs * stride_total",
            "tl.store(total_ptr + offs",
            "bytes of total's memory that are no element",
        ),
        ("x * share, mask", "x, mask", "x is after the call what it was"),
        ("x * share, mask", "3 * x * share, mask", "Every element is 3 times what it should be"),
        (
            "    grid =",
            "    if x is decay.__dict__.get('x'):\n        return\n    decay.x = x\n    grid =",
            "Every element is 2 times what it should be",
        ),
        ("    grid =", "    x.mul_(1.0)\n    grid =", "mul_ ran outside of your kernel"),
        (
            "total + x, mask=mask)",
            "total + x + 0 * tl.load(x_ptr), mask=mask)",
            "A race between programs",
        ),
    ],
)
def test_a_wrong_one_is_told_why(judged: Judged, old: str, new: str, says: str) -> None:
    fails(judged, HIDDEN, KERNEL, (old, new), says)


def test_what_is_not_to_be_written_stays_as_it_was(judged: Judged) -> None:
    hidden = HIDDEN.replace("(x * share, total + x)", "x * share").replace("writes=(0, 1)", "writes=(0,)")
    verdict = judged(hidden, KERNEL)
    assert "Your kernel changed its input total" in verdict.diagnosis


def test_beside_what_is_written_something_may_be_returned(judged: Judged) -> None:
    hidden = HIDDEN.replace("writes=(0, 1)", "writes=(0,)")
    kernel = KERNEL.replace(
        "    grid =", "    out = torch.empty(len(x), dtype=x.dtype, device=x.device)\n    grid ="
    )
    kernel = kernel.replace("total_ptr, n", "total_ptr, out_ptr, n").replace(
        "](x, total,", "](x, total, out,"
    )
    kernel = kernel.replace("tl.store(total_ptr + offs * stride_total", "tl.store(out_ptr + offs")
    assert "returns None where 1 output is asked for" in judged(hidden, kernel).diagnosis
    verdict = judged(hidden, f"{kernel}    return out\n")
    assert verdict.status == "passed", verdict.diagnosis
    assert (
        "output 1" in judged(hidden, f"{kernel}    return out\n".replace("total + x", "total + 2")).diagnosis
    )
