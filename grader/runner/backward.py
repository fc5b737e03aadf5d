"""The backward pass of a call: what the forward pass kept for it, and the gradients it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction

from grader.operator_memory_effects import tensors_in
from grader.performance.timing import autograd_passes
from grader.runner.tensor_provenance import World
from grader.runner_answers import Kept
from grader.tensor_storage import unwritten

# Laid out as challenge/harness/draw.py does it, without contents.
UPSTREAM: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": torch.empty_like,
    "transposed": lambda out: torch.empty_like(out.mT, memory_format=torch.contiguous_format).mT,
    "strided": lambda out: out.new_empty(*out.shape[:-1], 2 * out.shape[-1])[..., ::2],
    "sliced": lambda out: out.new_empty(*out.shape[:-1], out.shape[-1] + 5)[..., : out.shape[-1]],
    "far": lambda out: out.new_empty(*out.shape[:-1], out.shape[-1] + 2**20)[..., : out.shape[-1]],
    "expanded": lambda out: out.new_empty(1, *out.shape[1:]).expand(out.shape),
    "broadcast": lambda out: out.new_empty(*out.shape[:-1], 1).expand(out.shape),
    "scalar": lambda out: out.new_empty((1,) * out.ndim).expand(out.shape),
}


def gradients(result: Any, leaves: list[torch.Tensor], upstream: list[Any], times: int) -> list[Any]:
    """The gradient of each leaf, None where none arrives.

    Args:
        upstream: a gradient for each output, None where the output is not used.
        times: how often the backward pass runs; the last one counts.

    Returns:
        nothing when there are no leaves, or when no output is connected to them.
    """
    if not leaves or len(autograd_passes.as_list(result)) != len(upstream):
        return []
    found: tuple[Any, ...] = ()
    for _ in range(times):
        found = autograd_passes.gradients(result, leaves, upstream)
    return list(found)


def unasked(result: Any) -> list[torch.Tensor]:
    """A list that grows while backward passes run: gradients that they return for tensors that need none."""
    found: list[torch.Tensor] = []

    def note(node: Any, given: Any) -> None:
        edges = zip(node.next_functions, given, strict=False)
        found.extend(grad for (following, _), grad in edges if following is None and grad is not None)

    for node in _nodes(result):
        if isinstance(node, BackwardCFunction):  # torch's own leave such gradients out
            node.register_hook(lambda given, _, node=node: note(node, given))
    return found


def computed(gradients: list[torch.Tensor]) -> int:
    """Bytes of those that somebody wrote."""
    distinct = {grad.data_ptr(): grad for grad in gradients if not bool(unwritten(grad).all())}
    return sum(grad.nbytes for grad in distinct.values())


def any_upstream(result: Any, layout: str = "contiguous") -> list[torch.Tensor | None]:
    """A gradient for each output, where its values do not matter.

    Raises:
        KeyError: it is not known how to lay it out so.
    """
    return [
        UPSTREAM[layout](out) if isinstance(out, torch.Tensor) and out.is_floating_point() else None
        for out in autograd_passes.as_list(result)
    ]


def size(outputs: list[Any]) -> int:
    """Bytes of the tensors among them."""
    return sum(out.nbytes for out in outputs if isinstance(out, torch.Tensor))


def kept(result: Any, world: World) -> list[Kept]:
    """The tensors that the graph behind a result holds on to: name and bytes, one entry a storage."""
    found = {}
    for tensor in _held(result):
        known = world.memory.find(tensor)
        name = known.name if known else "a tensor that torch computed"
        size = known.stop - known.start if known else tensor.nbytes
        found[tensor.untyped_storage().data_ptr()] = Kept(name, size)
    return list(found.values())


def _held(result: Any) -> Iterator[torch.Tensor]:
    """Tensors saved by, or set as attributes of, every node of the graph."""
    for node in _nodes(result):
        saved = getattr(node, "saved_tensors", ())
        yield from tensors_in([*saved, *getattr(node, "__dict__", {}).values()])


def _nodes(result: Any) -> Iterator[Any]:
    """The graph behind a result."""
    nodes = [
        out.grad_fn
        for out in autograd_passes.as_list(result)
        if isinstance(out, torch.Tensor) and out.grad_fn
    ]
    seen: set[Any] = set()
    while nodes:
        node = nodes.pop()
        if node in seen:
            continue
        seen.add(node)
        nodes += [following for following, _ in node.next_functions if following is not None]
        yield node
