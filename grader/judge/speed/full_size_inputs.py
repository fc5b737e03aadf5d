"""Inputs at full size: what steers a kernel is drawn, what it only computes on has no contents."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from grader.challenge import Case, Challenge
from grader.challenge.harness.draw import LAYOUTS, Draw
from grader.performance.counting.fake_tensors import LARGE, Hollow, reserved
from grader.randomness import rng
from grader.tensor_storage import GUARD, raw, span


class HollowDraw(Draw):
    """Draws as `Draw` does, but leaves large tensors of floats and bytes as the system hands them out."""

    def __call__(
        self,
        *shape: int,
        dtype: torch.dtype | None = None,
        layout: str | None = None,
        values: str | None = None,
    ) -> torch.Tensor:
        view = LAYOUTS[layout or self.case.layout](shape, dtype or self.case.dtype, "meta")
        return (
            _left(view)
            if _empty(view)
            else super().__call__(*shape, dtype=dtype, layout=layout, values=values)
        )

    def integers(
        self, *shape: int, low: int, high: int, dtype: torch.dtype = torch.int64, layout: str = "contiguous"
    ) -> torch.Tensor:
        """A mask has contents however large it is, for it decides what is loaded; so have ids."""
        view = LAYOUTS[layout](shape, dtype, "meta")
        if _empty(view):
            return _left(view)
        with _disable_current_modes() if dtype == torch.bool else nullcontext():
            return super().integers(*shape, low=low, high=high, dtype=dtype, layout=layout)


def _empty(value: torch.Tensor) -> bool:
    """Whether it is too large to be filled, and its elements, floats or bytes, lead nowhere."""
    leads = not value.is_floating_point() and value.dtype not in (torch.int8, torch.uint8)
    return not leads and span(value) >= LARGE * value.element_size()


def _left(view: torch.Tensor) -> torch.Tensor:
    """A tensor that lies as this one on `meta`, without guard words: whatever is beside it is no memory."""
    start = int(view.storage_offset()) * view.element_size() - GUARD
    memory = reserved(start + span(view)).untyped_storage()
    offset = start // view.element_size()
    return torch.empty(0, dtype=view.dtype).set_(memory, offset, view.shape, view.stride())


def hollow_inputs(
    challenge: Challenge,
    case: Case,
    seed: int,
    blobs: list[memoryview],
) -> tuple[tuple[Any, ...], list[dict[str, Any]]]:
    """The arguments of a case, and their specs for a runner's `meter`; their bytes are added to `blobs`."""
    draw = HollowDraw(case, rng(seed, case.id).getrandbits(48))
    with Hollow(lambda *_: None):
        arguments = challenge.inputs(case, draw)
    return arguments, hollow_specs(arguments, blobs)


def hollow_specs(values: tuple[Any, ...], blobs: list[memoryview]) -> list[dict[str, Any]]:
    """How a runner is told of these; the bytes of those that have contents are added to `blobs`."""
    specs: list[dict[str, Any]] = []
    for value in values:
        if not isinstance(value, torch.Tensor):
            specs.append({"value": value})
            continue
        storage = value.untyped_storage()
        hollow = _empty(value)
        specs.append(
            {
                "dtype": str(value.dtype).removeprefix("torch."),
                "shape": list(value.shape),
                "stride": list(value.stride()),
                "offset": value.storage_offset(),
                "bytes": storage.nbytes(),
                "blob": None if hollow else len(blobs),
            }
        )
        if not hollow:
            blobs.append(raw(storage).numpy().data)
    return specs
