"""Lists, DLPack exporters and collectives: what the learner's function takes that is no tensor.

The judge knows the tensors alone. They become an argument here, in front of each call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import triton
import triton.language as tl

from grader.runner_answers import Parameter

BLOCK = 1024


class DLPackExporter:
    """What another library's array is to torch: memory that is handed over by DLPack, and nothing else."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor

    def __dlpack__(self, **how: Any) -> Any:
        if self._tensor.untyped_storage().device.type == "cpu":  # where a GPU is pretended, too
            return torch._C._to_dlpack(self._tensor)
        return self._tensor.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        return self._tensor.__dlpack_device__()


@triton.jit
def all_reduce_kernel(tensor_ptr, others_ptr, given_ptr, size, BLOCK: tl.constexpr):
    """A kernel, so that the work of a call is that of its launches: they are repeated on other contents."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < size
    given = tl.load(tensor_ptr + offs, mask=mask)
    tl.store(given_ptr + offs, given, mask=mask)
    tl.store(tensor_ptr + offs, given + tl.load(others_ptr + offs, mask=mask), mask=mask)


class AllReduce:
    """A sum over ranks where one rank runs alone: what the others hold is known.

    Args:
        others: their sum.
        given: left in it is what the function was called with, for the judge.
    """

    def __init__(self, others: torch.Tensor, given: torch.Tensor) -> None:
        self._others, self._given = others, given

    def __call__(self, tensor: torch.Tensor) -> None:
        """Add what all other ranks hold to `tensor`, in place.

        Raises:
            ValueError: it has another shape or dtype than theirs, or is not contiguous.
        """
        want, got = self._others, tensor
        if got.shape != want.shape or got.dtype != want.dtype or not got.is_contiguous():
            raise ValueError(
                f"all ranks hold {_told(want)}, and this one calls reduce with {_told(got)}: "
                "they have to be alike"
            )
        size = got.numel()
        all_reduce_kernel[(triton.cdiv(size, BLOCK),)](got, want, self._given, size, BLOCK=BLOCK)


def _told(tensor: torch.Tensor) -> str:
    """`float32 [12, 30]`."""
    lies = "" if tensor.is_contiguous() else ", not contiguous"
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}{lies}"


MAKES: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "dlpack": lambda tensors: DLPackExporter(*tensors),
    "all_reduce": lambda tensors: AllReduce(*tensors),
}
NAMES: dict[str, Callable[[str, int], str]] = {
    "list": lambda name, number: f"{name}[{number}]",
    "dlpack": lambda name, _: name,
    "all_reduce": lambda name, number: f"the record of {name}'s calls" if number else f"what {name} adds",
}


class TakingTensors:
    """The learner's function as the judge calls it.

    Args:
        function: the learner's.
        made: of each argument that is made the position of its first tensor, its kind and their number.
    """

    def __init__(self, function: Callable[..., Any], made: Sequence[tuple[int, str, int]]) -> None:
        self.function, self.made = function, {at: (kind, count) for at, kind, count in made}

    def __call__(self, *tensors: Any) -> Any:
        arguments, at = [], 0
        while at < len(tensors):
            kind, count = self.made.get(at, ("", 1))
            arguments.append(MAKES[kind](list(tensors[at : at + count])) if kind else tensors[at])
            at += count
        return self.function(*arguments)

    def parameters(self, own: list[Parameter] | None) -> list[Parameter] | None:
        """The function's own parameters, with one for each tensor in the place of what is made of them."""
        found: list[Parameter] = []
        for one in own or []:
            kind, count = self.made.get(len(found), ("", 1))
            names = [NAMES[kind](one.name, number) if kind else one.name for number in range(count)]
            found += [Parameter(name, one.required) for name in names]
        return found if own is not None else None
