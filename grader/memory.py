"""The memory of tensors, as every room speaks of it: its extent, its bytes, and what lies around it."""

from __future__ import annotations

import zlib

import torch
from torch.utils._python_dispatch import _disable_current_modes

POISON = 0xFF  # every byte that nobody has written: NaN in every float dtype, -1 in every signed integer
CHECKSUM_LIMIT = 64 << 20  # bytes
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


def checksum(storage: torch.UntypedStorage) -> int:
    """A number that changes with the bytes; 0 for storages too large to look at before every launch."""
    if storage.nbytes() > CHECKSUM_LIMIT:
        return 0
    with _disable_current_modes():
        whole = raw(storage)
        if storage.device.type == "cpu":
            return zlib.crc32(whole.numpy().data)
        words = whole[: whole.numel() // 4 * 4].view(torch.int32).to(torch.int64)
        return int((words * torch.arange(1, words.numel() + 1, device=words.device)).sum())
