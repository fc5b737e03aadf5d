"""Tensors on the wire: arguments arrive as whole storages, outputs leave as plain bytes."""

from __future__ import annotations

from typing import Any

import torch

from grader.performance.counting.fake_tensors import reserved
from grader.runner.loading import handed
from grader.runner.tensor_provenance import World
from grader.runner_answers import PlainOutput, TensorOutput
from grader.tensor_storage import digests, raw

Specs = list[dict[str, Any]]


def unpack_arguments(specs: Specs, blobs: list[Any], device: str, apart: int = 0) -> list[Any]:
    """The call's arguments. A tensor's spec has dtype, shape, stride, offset (elements) and the index of its
    blob; one without a blob has `bytes` that nobody has written, and costs no memory until somebody does. A
    function's spec has its source and its name there.

    Args:
        apart: bytes that one without a blob lies away from all others.
    """
    return [_argument(spec, blobs, device, apart) for spec in specs]


def _argument(spec: dict[str, Any], blobs: list[Any], device: str, apart: int) -> Any:
    if "source" in spec:
        return handed(spec["source"], spec["entry"])
    if "dtype" not in spec:
        return spec["value"]
    dtype = getattr(torch, spec["dtype"])
    if spec["blob"] is None:
        memory = reserved(spec["bytes"], apart)
    elif isinstance(blobs[spec["blob"]], torch.Tensor):  # borrowed: in memory of its own already
        memory = blobs[spec["blob"]]
    else:
        memory = torch.frombuffer(blobs[spec["blob"]], dtype=torch.uint8).to(device)
    tensor = torch.empty(0, dtype=dtype, device=device)
    return tensor.set_(memory.untyped_storage(), spec["offset"], spec["shape"], spec["stride"])


def address_of(values: list[Any], number: int, index: list[int]) -> int:
    """Where an element of one of the tensors among these lies; 0 where there is none."""
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    if number >= len(tensors) or len(index) != tensors[number].dim():
        return 0
    tensor = tensors[number]
    offset = sum(at * step for at, step in zip(index, tensor.stride(), strict=True))
    return tensor.data_ptr() + offset * tensor.element_size()


def pack_outputs(
    values: list[Any], world: World, slices: list[list[int]] | None
) -> tuple[list[TensorOutput | PlainOutput], list[memoryview]]:
    """What the function returned, and its gradients.

    Args:
        slices: flat element ranges to send instead of the whole, for outputs too large to send.
    """
    entries: list[TensorOutput | PlainOutput] = []
    data = []
    for value in values:
        if type(value) not in (
            torch.Tensor,
            torch.nn.Parameter,
        ):  # a subclass may compute when it is looked at
            plain = isinstance(value, int | float | bool)
            entries.append(PlainOutput(type(value).__name__, value if plain else None))
            continue
        value = torch.Tensor.detach(value)  # and so may what is set on a single tensor
        known = world.memory.find(value)
        entries.append(
            TensorOutput(
                dtype=str(value.dtype).removeprefix("torch."),
                shape=list(value.shape),
                stride=list(value.stride()),
                device=value.device.type,
                source=known.name if known else "torch",
                launched=bool(known and known.launched),
                older=bool(known and known.born is not None and known.born < world.call),
                memory=value.untyped_storage().data_ptr(),
            )
        )
        data.append(_bytes_of(value, slices))
    return entries, data


def _bytes_of(tensor: torch.Tensor, slices: list[list[int]] | None) -> memoryview:
    """A copy of its elements, or of flat ranges of them."""
    flat = tensor.resolve_conj().contiguous().reshape(-1)
    if slices:
        flat = torch.cat([flat[start:stop] for start, stop in slices])
    if flat.numel() == 0:
        return memoryview(b"")
    return _copied(flat.view(torch.uint8))


def contents(storages: list[torch.UntypedStorage], whole: list[bool]) -> list[memoryview]:
    """What inputs hold after the call: the bytes of those that are asked for `whole`, of others their digest:
    268 MB took a second from a GPU to the judge.
    """
    asked = list(zip(storages, whole, strict=True))
    short = iter(digests([one for one, is_whole in asked if not is_whole]))
    return [_copied(raw(one)) if is_whole else memoryview(next(short)) for one, is_whole in asked]


def _copied(whole: torch.Tensor) -> memoryview:
    """Bytes as they are now: whoever still writes where they came from changes nothing of them."""
    return whole.to("cpu", copy=True).numpy().data
