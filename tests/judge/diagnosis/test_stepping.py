"""An input that is read with a wrong stride, or without an offset, is told so, with the axis."""

from __future__ import annotations

import torch

from grader.challenge import Case
from tests.judge.tried import told, tried

X = torch.randn(3, 4, 8)


def read(x: torch.Tensor, *strides: int) -> torch.Tensor:
    """The square roots of what a kernel reads that takes these strides."""
    return X.as_strided(x.shape, strides).to(x.dtype).abs().sqrt()


def right(x: torch.Tensor) -> torch.Tensor:
    return x.abs().sqrt()


def test_an_offset_that_is_left_out() -> None:
    trial = tried(Case(b=3, m=4, n=8), (X,), right, lambda x: read(x, 32, 0, 1))
    assert "a is read as if elements along axis 1 were all the first one" in told(trial)


def test_another_number_than_the_stride() -> None:
    trial = tried(Case(b=3, m=4, n=8), (X,), right, lambda x: read(x, 8, 8, 1))
    assert "a is read as if elements along axis 0 lay 8 apart. They lie 32 apart" in told(trial)


def test_swapped_strides() -> None:
    x = torch.randn(5, 3)
    case, turned = Case(m=5, n=3), x.as_strided((5, 3), (1, 3))
    trial = tried(case, (x,), right, lambda x: turned.to(x.dtype).abs().sqrt())
    assert "if a is read with its last two strides swapped" in told(trial)


def test_a_tensor_of_any_strides_that_is_taken_for_contiguous() -> None:
    x = torch.randn(3, 5, 4).permute(1, 2, 0)
    flat = x.as_strided((5, 4, 3), (12, 3, 1))
    trial = tried(Case(b=5, m=4, n=3), (x,), right, lambda x: flat.to(x.dtype).abs().sqrt())
    assert "if a is read as if it was contiguous" in told(trial)


def test_results_that_are_nearly_all_one_number_tell_nothing() -> None:
    """Masked elements are 0 whatever is read, and all others NaN, from the gap between two rows."""
    x = torch.randn(5, 4)[:, :3]
    gone = torch.full((5, 3), torch.nan)
    gone[2] = 0.0
    trial = tried(
        Case(m=5, n=3), (x,), lambda x: x * torch.tensor([1, 1, 0, 1, 1])[:, None], lambda x: gone.to(x.dtype)
    )
    assert "is read" not in told(trial)


def test_what_no_stride_explains_is_not_told_so() -> None:
    trial = tried(Case(b=3, m=4, n=8), (X,), right, lambda x: right(x).roll(3, 1) + 0.25 * x)
    assert "apart" not in told(trial)
    assert "left out" not in told(trial)


def test_one_number_tells_no_stride() -> None:
    trial = tried(Case(b=3, m=4, n=8), (X,), lambda x: right(x).sum(), lambda x: read(x, 32, 0, 1).sum())
    assert "is read as if" not in told(trial)


def test_of_an_input_that_is_not_counted_no_reading_is_told() -> None:
    x = X.clone()
    x[1, 1] = torch.nan
    trial = tried(Case(b=3, m=4, n=8), (x, X), lambda a, b: 0.0 * a + b, lambda a, b: b)
    assert "is read as if" not in told(trial)
