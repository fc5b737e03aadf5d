"""The memory of tensors, as every room speaks of it: its extent, its bytes, and what lies around it."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch._C import DisableTorchFunction
from torch.utils._python_dispatch import _disable_current_modes

# What nobody has written, two bytes at a time: a quiet NaN in fp16, bf16, fp32 and fp64, with other bits than
# any computation gives; 32762 or more in integers of two bytes and above, and neither 0 nor 1 in a bool.
POISON = 0x7FFA
PIECE = 1 << 23  # words of eight bytes that are looked at together: their products take as much memory
GUARD = 64 << 10  # bytes on either side of a tensor, a multiple of every alignment that matters


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


def digests(storages: Sequence[torch.UntypedStorage]) -> list[bytes]:
    """How many bytes each storage has, and a number that changes with them: 16 bytes for any size."""
    with unobserved():
        found = fetched([_sum(raw(one)) for one in storages])
    return [struct.pack("<qq", one.nbytes(), number) for one, number in zip(storages, found, strict=True)]


def _sum(memory: torch.Tensor) -> torch.Tensor:
    """A number, int64 [], that changes with these bytes, uint8 [n]: the sum of their words modulo 2⁶⁴, each
    by a factor that belongs to its place. Odd factors: no change of a single word is lost.
    """
    even, total = memory.numel() // 8 * 8, torch.zeros((), dtype=torch.int64, device=memory.device)
    places = 0
    for words in (*torch.split(memory[:even].view(torch.int64), PIECE), memory[even:].to(torch.int64)):
        factors = torch.arange(places, places + words.numel(), device=memory.device) * 2 + 1
        total += (words * factors).sum()
        places += words.numel()
    return total
