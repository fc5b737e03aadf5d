"""8-bit floats in and out: drawn, handed over, poisoned, and compared code by code."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case, Challenge
from grader.challenge.harness.argument_serialization import Answer
from grader.challenge.harness.compare import Expected
from grader.challenge.harness.draw import Draw
from grader.challenge.harness.oracle import expect
from grader.challenge.harness.trial import Trial
from grader.challenge.harness.value_checks import value_findings
from grader.tensor_storage import poison, span
from tests.judge.tried import REPORT
from tests.made_up_day import Judged, fails

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
NARROWING = """
challenge = Challenge(
    entry="halved",
    inputs=lambda case, draw: (draw(case.m, case.n),),
    reference=lambda x: (x.double() / 2).clamp(-448, 448).to(torch.float8_e4m3fn),
    cases=[
        Case(m=3, n=100),
        Case(m=3, n=100, dtype=torch.bfloat16, layout="sliced"),
        Case(m=2, n=65, values="large"),
        Case(m=2, n=33, values="nan"),
    ],
)
"""
NARROW = """@triton.jit
def halved_kernel(x_ptr, q_ptr, n, stride_xm, BLOCK: tl.constexpr):
    row, offs = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_xm + offs, mask=offs < n, other=0.0).to(tl.float32) / 2
    tl.store(q_ptr + row * n + offs, x.to(q_ptr.dtype.element_ty), mask=offs < n)


def halved(x):
    q = torch.empty(x.shape, dtype=torch.float8_e4m3fn, device=x.device)
    halved_kernel[(len(x),)](x, q, x.shape[1], x.stride(0), BLOCK=128)
    return q
"""
WIDENING = """
challenge = Challenge(
    entry="doubled",
    inputs=lambda case, draw: (draw(case.m, case.n),),
    reference=lambda q: 2 * q.double(),
    returns=torch.float32,
    cases=[
        Case(m=m, n=n, dtype=dtype, layout=layout, values=values, calls=calls)
        for dtype in (torch.float8_e4m3fn, torch.float8_e5m2)
        for m, n, layout, values, calls in [
            (3, 100, "contiguous", "normal", 1),
            (3, 65, "sliced", "heavy", 1),
            (2, 33, "offset", "nan", 1),
            (4, 80, "contiguous", "normal", 2),
        ]
    ],
)
"""
WIDEN = """@triton.jit
def doubled_kernel(q_ptr, out_ptr, n, stride_qm, BLOCK: tl.constexpr):
    row, offs = tl.program_id(0), tl.arange(0, BLOCK)
    q = tl.load(q_ptr + row * stride_qm + offs, mask=offs < n)
    tl.store(out_ptr + row * n + offs, q.to(tl.float32) * 2, mask=offs < n)


def doubled(q):
    out = torch.empty(q.shape, device=q.device)
    doubled_kernel[(len(q),)](q, out, q.shape[1], q.stride(0), BLOCK=128)
    return out
"""


@pytest.mark.parametrize(("hidden", "kernel"), [(NARROWING, NARROW), (WIDENING, WIDEN)])
def test_a_right_kernel_passes(judged: Judged, hidden: str, kernel: str) -> None:
    verdict = judged(hidden, kernel)
    assert verdict.status == "passed", verdict.diagnosis


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("BLOCK=128", "BLOCK=64", "never written"),
        (", mask=offs < n)\n\n", ")\n\n", "past the end"),
        ("dtype=torch.float8_e4m3fn", "dtype=torch.float8_e5m2", "fp8_e5m2 where fp8_e4m3 is asked for"),
        ("dtype=torch.float8_e4m3fn", "dtype=torch.uint8", "uint8 where fp8_e4m3 is asked for"),
        ("x.to(q_ptr.dtype.element_ty)", "x.to(tl.float8e5).to(tl.float32)", ""),
        ("x.to(q_ptr.dtype.element_ty)", "offs", "cannot cast int32"),
        ("x.to(q_ptr.dtype.element_ty)", "x * 0.99", ""),
        ("x.to(q_ptr.dtype.element_ty)", "-x.to(tl.float8e4nv)", "there is no arithmetic in fp8e4nv"),
    ],
)
def test_codes_that_are_wrong_fail(judged: Judged, old: str, new: str, says: str) -> None:
    fails(judged, NARROWING, NARROW, (old, new), says)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("mask=offs < n)\n    tl.store", "mask=offs < n - 1)\n    tl.store", ""),
        ("q = tl.load(q_ptr + row * stride_qm + offs, mask=offs < n)",
         "q = tl.load(q_ptr + row * stride_qm + offs)", "past the end"),
        ("row * stride_qm", "row * n", ""),
        ("q.to(tl.float32)", "q.to(tl.int8, bitcast=True).to(tl.float32)", ""),
    ],
)  # fmt: skip
def test_codes_that_are_read_wrongly_fail(judged: Judged, old: str, new: str, says: str) -> None:
    fails(judged, WIDENING, WIDEN, (old, new), says)


@pytest.mark.parametrize("dtype", [E4M3, E5M2])
@pytest.mark.parametrize("layout", ["contiguous", "offset", "sliced", "transposed", "columns", "strided"])
def test_what_lies_around_one_that_is_drawn_is_nan(dtype: torch.dtype, layout: str) -> None:
    drawn = Draw(Case(dtype=dtype), seed=1)(6, 10, layout=layout, values="large")
    assert drawn.shape == (6, 10)
    assert drawn.dtype == dtype
    assert bool(drawn.float().isfinite().all()) or dtype == E5M2
    whole = torch.empty(0, dtype=dtype).set_(drawn.untyped_storage())
    start = drawn.storage_offset()
    assert bool(whole[:start].isnan().all())
    assert bool(whole[start + span(drawn) :].isnan().all())
    assert int(whole.isnan().sum()) == len(whole) - 60


def _findings(dtype: torch.dtype, change: object) -> list[str]:
    x = torch.linspace(-9, 9, 64)
    challenge = Challenge("f", lambda case, draw: (x,), lambda x: x.to(dtype), [Case(n=64)])
    trial = Trial(challenge, challenge.cases[0], (x,), ["x"], oracle_arguments=(x,))
    trial.expected = expect(challenge, (x,))
    assert isinstance(trial.expected[0], Expected)
    out = x.to(dtype)
    change(out)  # type: ignore[operator]
    trial.answer = Answer(REPORT, [out.float()])
    return [finding.kind for finding in value_findings(trial)]


@pytest.mark.parametrize("dtype", [E4M3, E5M2])
def test_one_code_is_enough_and_poison_is_told(dtype: torch.dtype) -> None:
    assert _findings(dtype, lambda out: None) == []
    assert _findings(dtype, lambda out: out.view(torch.uint8)[9:10].add_(1)) == ["values"]
    assert _findings(dtype, lambda out: out.view(torch.uint8)[9:10].fill_(0x7F)) == ["nan"]
    assert _findings(dtype, lambda out: poison(out.view(torch.uint8)[8:12]))[0] == "unwritten"
