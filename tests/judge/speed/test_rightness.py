"""What a timed call may be off by."""

from __future__ import annotations

import torch

from grader.judge.speed.rightness import widened, wrong


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
