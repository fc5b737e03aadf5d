"""The arguments of a call as specs and bytes, and what comes back as tensors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from grader.challenge.case import readable
from grader.challenge.harness.runner_client import RunnerLost
from grader.challenge.optional_fields import Candidate
from grader.runner_answers import Called, Failed, TensorOutput
from grader.runner_measurements import Verified
from grader.tensor_storage import raw, span

LARGE = 256 << 20  # bytes; storages from here on are not fetched whole
Specs = list[dict[str, Any]]  # of the arguments of a call, their bytes apart


@dataclass
class Answer:
    """What came back from one call.

    Attributes:
        report: what the runner observed, or that the learner's code raised.
        outputs: tensors on the CPU, one for each tensor returned.
        inputs: for each tensor argument, the bytes of its storage after the call, or their digest.
    """

    report: Called | Failed
    outputs: list[torch.Tensor] = field(default_factory=list)
    inputs: list[torch.Tensor] = field(default_factory=list)


def pack_arguments(values: tuple[Any, ...], names: list[str]) -> tuple[Specs, list[torch.Tensor]]:
    """The arguments of a call as specs and whole storages, where they lie; tensors that share a storage share
    a blob.
    """
    specs: Specs = []
    blobs: dict[int, torch.Tensor] = {}
    for value, name in zip(values, names, strict=True):
        if isinstance(value, Candidate):
            specs.append({"name": name, "source": value.source, "entry": value.entry})
            continue
        if not isinstance(value, torch.Tensor):
            specs.append({"name": name, "value": value})
            continue
        storage = value.untyped_storage()
        index = list(blobs).index(storage.data_ptr()) if storage.data_ptr() in blobs else len(blobs)
        blobs.setdefault(storage.data_ptr(), raw(storage))
        start = value.storage_offset() * value.element_size()
        specs.append(
            {
                "name": name,
                "blob": index,
                "dtype": str(value.dtype).removeprefix("torch."),
                "shape": list(value.shape),
                "stride": list(value.stride()),
                "offset": value.storage_offset(),
                "start": start,
                "stop": start + span(value),
            }
        )
    return specs, list(blobs.values())


def storage_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """The whole storage behind a tensor as bytes on the CPU."""
    return raw(tensor.untyped_storage()).cpu()


def read_outputs(
    report: Called | Verified | Failed, blobs: list[bytearray], sliced: int | None
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The outputs of a call, made readable, and the bytes of its inputs after it.

    Args:
        sliced: number of elements sent of each output, when slices were asked for.

    Raises:
        RunnerLost: the bytes do not fit what the report says of them.
    """
    entries = [] if isinstance(report, Failed) else report.outputs
    tensors = [entry for entry in entries if isinstance(entry, TensorOutput)]
    outputs = []
    try:
        for entry, blob in zip(tensors, blobs, strict=False):
            dtype = getattr(torch, entry.dtype)
            shape = entry.shape if sliced is None else [sliced]
            empty = torch.empty(shape, dtype=dtype)
            out = torch.frombuffer(blob, dtype=dtype).view(shape) if empty.numel() else empty
            outputs.append(readable(out))
        return outputs, [torch.frombuffer(blob, dtype=torch.uint8) for blob in blobs[len(tensors) :]]
    except (TypeError, ValueError, RuntimeError, AttributeError) as error:
        raise RunnerLost("crashed", f"the process sent an answer that does not fit ({error})") from error
