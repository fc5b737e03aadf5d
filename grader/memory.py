"""The memory of tensors, as every room speaks of it: its extent, its bytes, and what lies around it."""

from __future__ import annotations

import torch

POISON = 0xFF  # every byte that nobody has written: NaN in every float dtype, -1 in every signed integer
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
