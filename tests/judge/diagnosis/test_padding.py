"""Lanes past the end of a row that count are told by the `other=` that fills them."""

from __future__ import annotations

import torch

from grader.challenge import Case
from grader.judge.diagnosis import padding
from tests.judge.tried import told, tried

SOURCE = "m = tl.max(x)\nx = tl.load(x_ptr + offs, mask=offs < n{other})\ny = tl.log(tl.sum(tl.exp(x)))"
GIVEN = SOURCE.format(other=", other=0.0")


def right(x: torch.Tensor) -> torch.Tensor:
    return torch.logsumexp(x, dim=-1)


def with_zeros(x: torch.Tensor) -> torch.Tensor:
    return right(torch.nn.functional.pad(x, (0, -x.shape[-1] % 64)))


def rows(n: int, given=with_zeros):
    return tried(Case(m=5, n=n), (torch.randn(5, n),), right, given)


def test_what_is_right_for_a_longer_row_is_laid_to_other() -> None:
    said = told(rows(33), rows(70), source=GIVEN)
    assert "right for a longer row that ends in 0" in said
    assert "by the `other=` of line 2, and count" in said
    assert "-inf for a maximum and a sum of exponentials" in said


def test_without_other_none_is_said_to_be_there() -> None:
    assert "or as there is none, on line 2" in told(rows(33), source=SOURCE.format(other=""))


def test_other_errors_are_not() -> None:
    wrong = rows(33, lambda x: right(x) + 0.1 * x[:, 0])
    assert "other=" not in told(wrong, source=GIVEN)
    neutral = SOURCE.format(other=", other=-1e30")
    assert "other=" not in told(rows(33), source=neutral)


def test_what_a_dot_multiplies_must_be_0() -> None:
    assert "`other=`" not in told(rows(33), source=f"{GIVEN}\nz = tl.dot(x, y)")


def test_a_reference_that_takes_no_longer_rows_explains_nothing() -> None:
    def reference(x: torch.Tensor) -> torch.Tensor:
        assert x.shape[-1] == 33
        return x.logsumexp(-1)

    trial = rows(33)
    object.__setattr__(trial.challenge, "reference", reference)
    assert padding._explains(padding.Padding("n", 33, 64, 0.0), trial) is False


def test_axes_of_one_size_grow_at_once_and_only_while_that_is_small() -> None:
    padding_of_one = padding.Padding("n", 1, 16384, 0.0)
    assert padding_of_one.elements(torch.empty(1, 3, 1)) == 3 * 16384**2
    assert padding_of_one.elements(1.5) == 0
    tiny = tried(Case(n=1), (torch.randn(1, 1, 1),), right, lambda x: right(x) + 1)
    assert padding._padding(tiny, {0.0: [2]}) is None
