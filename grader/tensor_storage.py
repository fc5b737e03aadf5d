"""The memory of tensors, as every room speaks of it: its extent, its bytes, and what lies around it."""

from __future__ import annotations

import contextlib
import functools
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import torch
from torch._C import DisableTorchFunction
from torch.utils._python_dispatch import _disable_current_modes

# What nobody has written, two bytes at a time: a quiet NaN in fp16, bf16, fp32 and fp64, with other bits than
# any computation gives; 32762 or more in integers of two bytes and above, and neither 0 nor 1 in a bool.
POISON = 0x7FFA
CHECKSUM_LIMIT = 64 << 20  # bytes
ROW = 1 << 17  # words of eight bytes, each of which has a factor: 1 MB of them
ROWS = 64  # at once: their products take as much memory
GUARD = 64 << 10  # bytes on either side of a tensor, a multiple of every alignment that matters


def is_memory(value: Any) -> bool:
    """Whether it is memory that is no tensor's, or a view of some: an array of NumPy's, a bytearray.

    What changes there shows in it. Numbers and text do not change.
    """
    if isinstance(value, int | float | str | bytes | tuple | torch.Tensor | np.generic) or value is None:
        return False
    try:
        memoryview(value)
    except (TypeError, ValueError, BufferError):
        return False
    return True


def span(tensor: torch.Tensor) -> int:
    """Bytes from a tensor's first element to behind its last."""
    if tensor.numel() == 0:
        return 0
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return (last + 1) * tensor.element_size()


def raw(storage: torch.UntypedStorage) -> torch.Tensor:
    """All bytes of a storage, where they lie; uint8."""
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def poison(memory: torch.Tensor) -> None:
    """Mark these bytes, uint8 [n] from an even address on, as written by nobody."""
    even = len(memory) // 2 * 2
    memory[:even].view(torch.int16).fill_(POISON)
    memory[even:].fill_(POISON & 0xFF)


def overwritten(memory: torch.Tensor, start: int) -> torch.Tensor:
    """Which of these bytes, uint8 [n] from the `start`-th of their storage on, hold no poison; bool [n]."""
    odd = 1 - start % 2
    differs = memory != POISON & 0xFF
    differs[odd::2] = memory[odd::2] != POISON >> 8
    return differs


def unwritten(tensor: torch.Tensor) -> torch.Tensor:
    """Which elements hold the poison that they were allocated with; bool, of the tensor's shape.

    One byte of poison may be a number of eight bits as well (-6, 127): such elements count in pairs, and
    single ones beside a pair.
    """
    size = tensor.element_size()
    whole = tensor.contiguous().reshape(-1)
    even = whole.numel() * size // 2 * 2
    words = whole.view(torch.uint8)[:even].view(torch.int16) == POISON
    each = torch.zeros(whole.numel(), dtype=torch.bool, device=tensor.device)
    if size == 1:
        each[:even] = words.repeat_interleave(2)
        poisoned = whole.view(torch.uint8) == POISON & 0xFF
        poisoned[1::2] = whole.view(torch.uint8)[1::2] == POISON >> 8
        beside = torch.zeros_like(each)
        beside[1:] |= each[:-1]
        beside[:-1] |= each[1:]
        each |= poisoned & beside
    else:
        each[:] = words.view(-1, size // 2).all(dim=1)
    return each.view(tensor.shape)


@contextlib.contextmanager
def unobserved() -> Iterator[None]:
    """No mode of torch's is told of what the block asks torch for."""
    with _disable_current_modes(), DisableTorchFunction():
        yield


def fetched(numbers: Sequence[torch.Tensor]) -> list[Any]:
    """The numbers that these tensors hold, [] each: the host waits for a GPU once, not for each."""
    if not numbers:
        return []
    alike = len({number.device for number in numbers}) == 1
    return torch.stack(list(numbers)).tolist() if alike else [number.item() for number in numbers]


def checksums(storages: Iterable[torch.UntypedStorage]) -> list[int]:
    """For each a number that changes with its bytes; 0 for those too large to look at before every launch."""
    with unobserved():
        looked = [raw(one) if one.nbytes() <= CHECKSUM_LIMIT else None for one in storages]
        summed = iter(sums([memory for memory in looked if memory is not None and memory.is_cuda]))
        return [
            0 if memory is None else next(summed) if memory.is_cuda else _crc32(memory) for memory in looked
        ]


def _crc32(memory: torch.Tensor) -> int:
    return zlib.crc32(memory.numpy().data)


def sums(memories: Sequence[torch.Tensor]) -> list[int]:
    """For each of these bytes, uint8 [n], a number that changes with them: the host waits for a GPU once for
    all short ones, and once for the others.
    """
    short = [
        at for at, memory in enumerate(memories) if 0 < memory.numel() <= 8 * ROW and memory.numel() % 8 == 0
    ]
    others = [at for at in range(len(memories)) if at not in short]
    found = dict(zip(short, _together([memories[at].view(torch.int64) for at in short]), strict=True))
    found |= zip(others, fetched([_sum(memories[at]) for at in others]), strict=True)
    return [found[at] for at in range(len(memories))]


def _together(rows: list[torch.Tensor]) -> list[int]:
    """The sum of each as `_weighted` has it: of so few words, asking for it takes longer than the sum."""
    if not rows:
        return []
    factors, ends = _laid_out(tuple(row.numel() for row in rows), rows[0].device)
    running = (torch.cat(rows) * factors).cumsum(0)[ends].tolist()
    return [_signed(end - start) for start, end in pairwise([0, *running])]


@functools.lru_cache(maxsize=4)
def _laid_out(sizes: tuple[int, ...], device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """The factors of rows of so many words, one behind the other, and where the last word of each lies: the
    same, but for its results, whenever a call is looked at.
    """
    factors = torch.cat([_factors(device)[:size] for size in sizes])
    return factors, torch.tensor([end - 1 for end in accumulate(sizes)], device=device)


def sum_of_poison(size: int) -> int | None:
    """What `sums` gives of so many bytes of poison; None where it has to be asked.

    A backward pass allocates ten tensors, and to ask a GPU took 0.6 ms for each.
    """
    words, rest = divmod(size, 8)
    if rest or not 0 < words <= ROW:
        return None
    return _signed(POISON * 0x0001_0001_0001_0001 * _sums_of_factors()[words - 1])


def _signed(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


@functools.cache
def _sums_of_factors() -> list[int]:
    sums: list[int] = _factors(torch.device("cpu")).cumsum(0).tolist()
    return sums


def digests(storages: Sequence[torch.UntypedStorage]) -> list[bytes]:
    """How many bytes each storage has, and a number that changes with them: 16 bytes for any size."""
    with unobserved():
        found = sums([raw(one) for one in storages])
    return [struct.pack("<qq", one.nbytes(), number) for one, number in zip(storages, found, strict=True)]


def _sum(memory: torch.Tensor) -> torch.Tensor:
    """A number, int64 [], that changes with these bytes, uint8 [n]."""
    size = memory.numel()
    if size % 8 == 0:
        return _weighted(memory.view(torch.int64))
    even = size // 8 * 8
    return _weighted(memory[:even].view(torch.int64)) + _weighted(memory[even:].to(torch.int64))


def _weighted(words: torch.Tensor) -> torch.Tensor:
    """The sum of these, int64 [n], each by a factor that belongs to its place, modulo 2⁶⁴.

    Odd factors: no change of a single word is lost.
    """
    size = words.numel()
    if size <= ROW:
        return (words * _factors(words.device)[:size]).sum()
    whole, factors = size // ROW * ROW, _factors(words.device)
    sums = [(some * factors).sum(dim=1) for some in torch.split(words[:whole].view(-1, ROW), ROWS)]
    return _weighted(torch.cat([*sums, _weighted(words[whole:])[None]]))


@functools.cache
def _factors(device: torch.device) -> torch.Tensor:
    drawn = torch.randint(-(2**63), 2**63 - 1, (ROW,), generator=torch.Generator().manual_seed(ROW))
    return (drawn | 1).to(device)
