"""Bytes on a GPU handed to another process, with no way through the host: 1 GB took 1.5 s on that way.

Who lends copies them into memory that holds nothing else, for CUDA shows the other process whole allocations,
in pages of 2 MiB; who borrows copies them out of it again. Source: CUDA Driver API, cuIpcGetMemHandle and
cuIpcOpenMemHandle. Where they are not to be had (WSL, some namespaces) the bytes travel as any others.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

PAGE = 2 << 20
ALIGNED = 512  # bytes, as torch's own allocations
LAZY_PEER_ACCESS = 1  # the only flag there is


class Unlendable(Exception):
    """This machine, or its memory that is left, does not allow it."""


class _Handle(ctypes.Structure):
    _fields_ = (("reserved", ctypes.c_byte * 64),)


Pointer = ctypes.c_uint64


@contextlib.contextmanager
def lent(tensors: Sequence[torch.Tensor]) -> Iterator[dict[str, Any]]:
    """Lend the bytes of these while the block runs.

    Args:
        tensors: uint8 [n] on a GPU.

    Yields:
        what `borrowed` asks for, as JSON.

    Raises:
        Unlendable: CUDA refuses.
    """
    sizes = [len(tensor) for tensor in tensors]
    starts = [sum(map(_whole, sizes[:at])) for at in range(len(sizes))]
    torch.cuda.synchronize()
    memory = Pointer()
    _do("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(_whole(sum(map(_whole, sizes)), PAGE)))
    try:
        handle = _Handle()
        _do("cuIpcGetMemHandle", ctypes.byref(handle), memory)
        for tensor, start in zip(tensors, starts, strict=True):
            _copy(memory.value + start, tensor.data_ptr(), len(tensor))
        torch.cuda.synchronize()
        yield {"handle": bytes(handle).hex(), "starts": starts, "sizes": sizes}
    finally:
        _do("cuMemFree_v2", memory)


def borrowed(note: dict[str, Any]) -> list[torch.Tensor]:
    """What another process lends, as tensors of one's own; uint8 [n] each, on the GPU.

    Args:
        note: what `lent` yields.

    Raises:
        Unlendable: CUDA refuses.
    """
    found = [torch.empty(size, dtype=torch.uint8, device="cuda") for size in note["sizes"]]
    torch.cuda.synchronize()
    memory, handle = Pointer(), _Handle.from_buffer_copy(bytes.fromhex(note["handle"]))
    _do("cuIpcOpenMemHandle_v2", ctypes.byref(memory), handle, ctypes.c_uint(LAZY_PEER_ACCESS))
    try:
        for tensor, start in zip(found, note["starts"], strict=True):
            _copy(tensor.data_ptr(), memory.value + start, len(tensor))
        torch.cuda.synchronize()
    finally:
        _do("cuIpcCloseMemHandle", memory)
    return found


def _whole(size: int, pieces: int = ALIGNED) -> int:
    return -(-size // pieces) * pieces


def _copy(target: int, source: int, size: int) -> None:
    if size:
        _do("cuMemcpyDtoD_v2", Pointer(target), Pointer(source), ctypes.c_size_t(size))


def _do(name: str, *arguments: Any) -> None:
    code = _function(name)(*arguments)
    if code:
        raise Unlendable(f"{name} gives {code}")


@functools.cache
def _function(name: str) -> Callable[..., int]:
    try:
        found: Callable[..., int] = getattr(ctypes.CDLL("libcuda.so.1"), name)
    except (OSError, AttributeError) as error:
        raise Unlendable(str(error)) from error
    return found
