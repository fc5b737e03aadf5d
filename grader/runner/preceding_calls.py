"""The calls of one case that come before the one that counts.

A right function remembers nothing. So the same tensors hold other contents first, changed by their bytes
alone, which no version counter notices; then other tensors the same contents. A result that was remembered by
address, by version, by contents or by a glance at them is wrong in the last call, or lies in memory that an
earlier call returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from grader.performance.timing.autograd_passes import as_list
from grader.runner.tensor_provenance import World
from grader.runner.tensors_on_the_wire import Specs, unpack_arguments
from grader.tensor_storage import poison, raw


def in_calls(blobs: list[bytearray], others: int) -> list[list[bytearray]]:
    """The blobs of the call that counts, then those of so many others."""
    each = len(blobs) // (1 + others)
    return [blobs[call * each : (call + 1) * each] for call in range(1 + others)]


def rehearse(
    entry: Callable[..., Any],
    arguments: list[Any],
    world: World,
    header: dict[str, Any],
    blobs: list[bytearray],
    others: Sequence[list[bytearray]],
) -> None:
    """Make the earlier calls; the arguments are then as they were drawn.

    Args:
        header: of the command, with the specs of the arguments.
        blobs: of the arguments; on a CPU they are their memory.
        others: for each further call, other contents for the blobs, as many bytes.
    """
    specs, drawn = header["arguments"], [bytearray(blob) for blob in blobs]
    for contents in others:
        write(specs, arguments, contents)
        _spoil(entry(*arguments), world)
        world.call += 1
    write(specs, arguments, drawn)
    device = next((a.device.type for a in arguments if isinstance(a, torch.Tensor)), "cpu")
    with _disable_current_modes():  # the same contents in other tensors
        twins = unpack_arguments(specs, drawn, device)
    for position in header["of"]:
        twins[position].requires_grad_()
    world.memory.add_inputs(specs, twins, header["writes"])
    _spoil(entry(*twins), world)
    world.call += 1


def write(specs: Specs, values: list[Any], contents: list[bytearray]) -> None:
    """Give the tensors among these values other contents, where they lie."""
    for spec, value in zip(specs, values, strict=True):
        if isinstance(value, torch.Tensor) and contents[spec["blob"]]:
            given = torch.frombuffer(contents[spec["blob"]], dtype=torch.uint8)
            with _disable_current_modes():
                raw(value.untyped_storage()).copy_(given)


def _spoil(result: Any, world: World) -> None:
    """A result is its caller's, who may write into it what it likes: here, poison."""
    for tensor in as_list(result):
        if not isinstance(tensor, torch.Tensor):
            continue
        known = world.memory.find(tensor)
        if known is None or known.born is None:  # an argument, or what the honest check will tell of
            continue
        with _disable_current_modes():
            poison(raw(known.storage)[known.start : known.stop])
