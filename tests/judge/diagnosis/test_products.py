"""Which part of a long sum is counted how often, and whose weights a row was given."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from grader.challenge import Case
from grader.judge.case.trial import Trial
from tests.judge.tried import told, tried

SIZES = ((5, 20, 7), (9, 33, 20), (20, 65, 30), (16, 100, 25))  # m, k, n


def product(m: int, k: int, n: int, counts: Callable[[int], torch.Tensor], dtype=torch.float32) -> Trial:
    """a @ b with product j of k counted counts(k)[j] times."""
    arguments = (torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype))
    given = lambda a, b: ((a.double() * counts(k)) @ b.double()).float()  # noqa: E731
    return tried(Case(m=m, k=k, n=n, dtype=dtype), arguments, lambda a, b: a @ b, given)


def in_blocks(times: Callable[[int, int], int], block: int = 32) -> Callable[[int], torch.Tensor]:
    """Counts from a function of the number of a block and of all blocks."""
    return lambda k: torch.tensor([float(times(j // block, -(-k // block))) for j in range(k)])


COUNTS = {
    "Of k = 33 only the first 32 products are counted: the last, partial block": lambda k: (
        torch.arange(k) < k // 32 * 32
    ).double(),
    "Of k = 20 the last product is left out: a mask or a range ends one": lambda k: (
        torch.arange(k) < k - 1
    ).double(),
    "only the first 16 products are counted": lambda k: (torch.arange(k) < 16).double(),
    "Of k = 33 only the products from 32 on are counted": in_blocks(lambda j, of: j == of - 1),
    "Of k = 33 not every product is counted once: 0 to 31 twice.": in_blocks(lambda j, of: 2 ** (of - 1 - j)),
    "0 to 31 3 times, number 32 not at all": in_blocks(lambda j, of: 3 * (j == 0)),
}


@pytest.mark.parametrize("says", COUNTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_uneven_counts_are_told(says: str, dtype: torch.dtype) -> None:
    trials = [product(*sizes, COUNTS[says], dtype) for sizes in SIZES]
    assert says in told(*[trial for trial in trials if not trial.passed])


def test_of_a_batch_the_first_product_is_counted() -> None:
    arguments = (torch.randn(3, 9, 33), torch.randn(3, 33, 20))
    early = lambda a, b: (a[..., :-1].double() @ b[:, :-1].double()).float()  # noqa: E731
    says = told(tried(Case(g=3, m=9, k=33, n=20), arguments, lambda a, b: a @ b, early))
    assert "Of k = 33 the last product is left out" in says


def test_k_too_long_for_the_output_is_counted_in_slices() -> None:
    assert "products from 992 on are counted" in told(
        product(7, 1000, 7, in_blocks(lambda j, of: j == of - 1))
    )


def test_all_products_counted_twice_are_a_factor() -> None:
    twice = product(9, 33, 20, lambda k: torch.full((k,), 2.0))
    assert "2 times what it should be" in told(twice)


def test_a_product_with_something_else_wrong_is_not_explained() -> None:
    noise = tried(
        Case(m=9, k=33, n=20),
        (torch.randn(9, 33), torch.randn(33, 20)),
        lambda a, b: a @ b,
        lambda a, b: a @ b + torch.randn(9, 20),
    )
    assert "counted" not in told(noise)


def grouped(given: Callable[[int], int]) -> Trial:
    """Rows in groups of 3, 5 and 2, where row i is given the weights of group given(i)."""
    own = [0] * 3 + [1] * 5 + [2] * 2

    def result(x: torch.Tensor, w: torch.Tensor, groups: list[int]) -> torch.Tensor:
        return torch.stack([row @ w[group] for row, group in zip(x, groups, strict=True)])

    arguments = (torch.randn(10, 7), torch.randn(3, 7, 5), torch.tensor([3, 5, 2], dtype=torch.int32))
    wrong = [given(i) for i in range(10)]
    return tried(
        Case(k=7, n=5), arguments, lambda x, w, s: result(x, w, own), lambda x, w, s: result(x, w, wrong)
    )


def test_rows_with_the_weights_of_another_group_are_told() -> None:
    assert told(grouped(lambda i: 0)).startswith(
        "Row 3 is multiplied by the weights of group 0 where those of"
    )
    assert "Row 8 is multiplied by the weights of group 1" in told(grouped(lambda i: int(i > 2)))
