"""What a timed call may be off by."""

from __future__ import annotations

import pytest
import torch

from grader.challenge.harness.compare import gate
from grader.judge.speed.values_of_timed_calls import near, widened, wrong


def product(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """a, b and their product in float64, for a sum of 4096 products."""
    generator = torch.Generator().manual_seed(1)
    a, b = (torch.randn(64, 4096, generator=generator).to(dtype) for _ in "ab")
    return a, b, a.double() @ b.double().T


def test_one_rounding_is_right_and_sums_in_half_precision_are_not() -> None:
    for dtype in (torch.float16, torch.bfloat16):
        a, b, exact = product(dtype)
        plain, wide = exact.to(dtype), exact.float()
        assert not wrong(exact.to(dtype), plain, wide)
        rounded = torch.zeros(64, 64, dtype=dtype)
        for start in range(0, 4096, 16):
            part = slice(start, start + 16)
            rounded = (rounded.float() + a[:, part].float() @ b[:, part].float().T).to(dtype)
        assert wrong(rounded, plain, wide)


def test_a_torch_that_is_coarse_itself_makes_room() -> None:
    wide = torch.full((64, 64), 1.5e-6)  # fp16 holds such numbers to a few digits
    plain = wide.half()
    assert not wrong(plain, plain, wide)
    assert wrong(2 * plain, plain, wide)


def test_fp32_that_went_through_half_precision_is_wrong() -> None:
    exact = torch.randn(64, 64)
    assert not wrong(exact * (1 + 1e-6), exact, exact)
    assert wrong(exact.half().float(), exact, exact)
    assert wrong(exact.where(exact < 2, torch.nan), exact, exact)


def test_only_what_has_16_bits_is_widened() -> None:
    assert widened(torch.ones(2).half()).dtype == torch.float32
    assert widened(torch.ones(2, dtype=torch.int16)).dtype == torch.int16
    assert widened(3) == 3


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("of_torch", [0.0, 0.3, 1.0, 5.0])
def test_whatever_is_near_to_torchs_own_is_not_wrong(dtype: torch.dtype, of_torch: float) -> None:
    """Both off by so many gates, to opposite sides, which is the worst."""
    wide = torch.rand(1000).add(1).double()
    plain = (wide * (1 + of_torch * gate(dtype))).to(dtype)
    found = []
    for off in (0.0, 0.5, 0.9, 1.1, 3.0, 20.0):
        got = (plain.double() * (1 - off * gate(dtype))).to(dtype)
        found.append(near(got, plain))
        assert not (near(got, plain) and wrong(got, plain, wide))
    assert found[0]
    assert not any(found[-2:])


def test_what_is_no_number_where_torch_has_one_is_not_near() -> None:
    plain = torch.ones(10)
    assert not near(plain.where(torch.arange(10) < 9, torch.nan), plain)
    assert near(plain.long(), plain.long())
    assert not near(plain.long() + 1, plain.long())
