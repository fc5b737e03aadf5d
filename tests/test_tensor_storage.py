"""How far a tensor reaches in memory, and its bytes."""

from __future__ import annotations

import pytest
import torch

from grader.tensor_storage import (
    PIECE,
    digests,
    fetched,
    overwritten,
    poison,
    raw,
    span,
    unwritten,
)


@pytest.mark.parametrize(
    ("shape", "stride", "elements"),
    [
        ((), (), 1),
        ((6,), (1,), 6),
        ((6,), (2,), 11),
        ((4, 6), (11, 1), 39),
        ((4, 6), (1, 4), 24),
        ((4, 6), (0, 1), 6),  # expanded: all rows are one
        ((0, 6), (6, 1), 0),
        ((4, 0), (1, 1), 0),
    ],
)
def test_a_tensor_spans_its_gaps_and_no_more(
    shape: tuple[int, ...], stride: tuple[int, ...], elements: int
) -> None:
    for dtype, size in ((torch.int8, 1), (torch.bfloat16, 2), (torch.float64, 8)):
        assert span(torch.zeros(64, dtype=dtype).as_strided(shape, stride, 3)) == elements * size


def test_the_bytes_of_a_storage_are_those_of_its_tensors() -> None:
    x = torch.arange(4, dtype=torch.int16)
    everything = raw(x[2:].untyped_storage())
    assert everything.tolist() == [0, 0, 1, 0, 2, 0, 3, 0]
    everything[1] = 1
    assert x[0] == 256


DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int16, torch.int32, torch.int64]


@pytest.mark.parametrize("dtype", [*DTYPES, torch.int8, torch.uint8, torch.bool])
def test_what_nobody_has_written_is_told_from_every_number(dtype: torch.dtype) -> None:
    memory = torch.empty(64, dtype=torch.uint8)
    poison(memory)
    x = memory.view(dtype)
    assert bool(unwritten(x).all())
    for value in (-1, 0, 1, 127, -6):
        x.copy_(torch.tensor(value))
        assert not bool(unwritten(x).any())


def test_of_bytes_a_single_one_counts_beside_a_pair() -> None:
    memory = torch.empty(7, dtype=torch.uint8)
    poison(memory)
    assert bool(unwritten(memory).all())
    memory[2] = 0
    assert unwritten(memory).tolist() == [True, True, False, True, True, True, True]
    assert not bool(unwritten(memory[:1]).any()), "of one alone nobody knows"


@pytest.mark.parametrize("dtype", DTYPES[:4])
def test_poison_is_nan(dtype: torch.dtype) -> None:
    memory = torch.empty(64, dtype=torch.uint8)
    poison(memory)
    assert bool(memory.view(dtype).isnan().all())


@pytest.mark.parametrize("start", [0, 1, 6, 7])
def test_bytes_that_were_written_over_are_found_from_any_address_on(start: int) -> None:
    memory = torch.empty(21, dtype=torch.uint8)
    poison(memory)
    memory[12] = 0
    assert overwritten(memory[start:], start).nonzero().tolist() == [[12 - start]]


def _digest(memory: torch.Tensor) -> bytes:
    return digests([memory.untyped_storage()])[0]


@pytest.mark.parametrize("size", [0, 3, 8, 1000, 8 * PIECE - 1, 8 * PIECE + 5])
def test_a_digest_tells_sizes_a_changed_byte_and_two_places_that_change_places(size: int) -> None:
    memory = torch.randint(0, 256, (size,), dtype=torch.uint8)
    before = _digest(memory)
    assert _digest(memory.clone()) == before
    assert _digest(torch.cat([memory, torch.zeros(1, dtype=torch.uint8)])) != before
    for at in {at for at in (0, size // 2, size - 9, size - 1) if 0 <= at < size}:
        memory[at] += 1
        assert _digest(memory) != before, at
        memory[at] -= 1
    if size >= 32:
        memory[:16], memory[16:32] = memory[16:32].clone(), memory[:16].clone()
        assert _digest(memory) != before


def test_numbers_come_in_their_order_from_wherever_they_are() -> None:
    assert fetched([torch.tensor(3), torch.tensor(1)]) == [3, 1]
    assert fetched([torch.tensor(True), torch.tensor(False)]) == [True, False]
    assert fetched([]) == []
