"""Inputs lie as the case asks, and among NaN."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case
from grader.challenge import case as words
from grader.challenge.harness.argument_serialization import storage_bytes
from grader.challenge.harness.draw import LAYOUTS, VALUES, Draw
from grader.tensor_storage import GUARD, unwritten

STRIDES = {
    "contiguous": (6, 1), "offset": (6, 1), "sliced": (11, 1), "transposed": (1, 4), "strided": (12, 2),
    "expanded": (0, 1), "broadcast": (1, 0), "scalar": (0, 0), "padded": (14, 1), "columns": (1, 12),
    "far": (2**20 + 6, 1),
}  # fmt: skip


def test_every_word_that_a_case_may_use_is_drawn_and_no_other() -> None:
    assert set(LAYOUTS) == set(words.LAYOUTS)
    assert set(VALUES) == set(words.VALUES)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_has_its_strides(layout: str) -> None:
    x = Draw(Case(layout=layout), seed=1)(4, 6)
    assert x.shape == (4, 6)
    assert x.stride() == STRIDES[layout]
    assert bool(x.isfinite().all())
    assert (x.data_ptr() % 16 == 0) == (layout != "offset")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_everything_around_an_input_is_nan_and_no_poison(layout: str, dtype: torch.dtype) -> None:
    x = Draw(Case(layout=layout, dtype=dtype), seed=1)(4, 6)
    held = storage_bytes(x)
    everything = held[: held.numel() // 8 * 8].view(dtype)
    memory = x[tuple(slice(None, None if stride else 1) for stride in x.stride())]
    memory.fill_(0.0)
    assert int((everything == 0).sum()) == memory.numel()
    assert bool(everything[everything != 0].isnan().all())
    assert not bool(unwritten(everything).any())


@pytest.mark.parametrize("kind", VALUES)
def test_values_are_seeded(kind: str) -> None:
    case = Case(values=kind)
    first, again, other = (Draw(case, seed)(5, 40) for seed in (1, 1, 2))
    assert torch.equal(first.nan_to_num(7.5), again.nan_to_num(7.5))
    if kind not in ("constant", "zeros", "ramp"):
        assert not torch.equal(first.nan_to_num(7.5), other.nan_to_num(7.5))


def test_an_expanded_vector_of_gigabytes_takes_no_memory() -> None:
    x = Draw(Case(layout="expanded", dtype=torch.float16), seed=1)(2**33)
    assert x.untyped_storage().nbytes() < 1 << 20


def test_integers_are_seeded_lie_in_their_range_and_fill_it() -> None:
    first, again, other = (Draw(Case(), seed).integers(40, 50, low=-3, high=4) for seed in (1, 1, 2))
    assert first.dtype == torch.int64
    assert first.is_contiguous()
    assert first.unique().tolist() == list(range(-3, 4))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert Draw(Case(), 1).integers(0, 5, low=0, high=0, dtype=torch.int32).shape == (0, 5)


def test_a_permutation_has_each_number_once() -> None:
    first, again, other = (Draw(Case(), seed).permutation(50, torch.int32) for seed in (1, 1, 2))
    assert first.dtype == torch.int32
    assert first.sort().values.tolist() == list(range(50))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert Draw(Case(), 1).permutation(0).shape == (0,)


def test_bytes_are_all_that_eight_bits_hold_and_white_is_rare() -> None:
    image = Draw(Case(layout="sliced"), 1)(64, 48, 3, dtype=torch.uint8, values="bytes")
    assert image.stride() == (144 + 48 * 5, 8, 1)
    assert len(image.unique()) == 256
    assert float((image >= 254).double().mean()) < 0.02
    around = storage_bytes(image)[:GUARD]
    assert set(around.tolist()) == {254, 255}
