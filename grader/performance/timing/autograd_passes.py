"""What is timed of a function: its forward pass, its backward pass, or both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch

# torch.autograd.grad compares shapes by torch.fx, whose first import takes 0.4 s, and 2 s from a slow disk.
from torch.autograd.graph import _engine_run_backward

Part = Literal["forward", "backward", "both"]
Timed = tuple[Callable[..., Any], list[Any]]


def timed(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    upstream: Sequence[Any],
    of: Sequence[int],
    part: Part,
    writes: Sequence[int] = (),
) -> Timed:
    """The part as a function of its own, and what it is called with.

    Args:
        upstream: a gradient for each output, None where the output is not used; empty for `forward`.
        of: positions of the arguments whose gradients are asked for.
        writes: positions of those that the function changes in place: the part returns them first.
    """
    if writes:
        function = _returning(function, writes)
    if part == "forward":
        return function, list(arguments)
    if part == "backward":
        leaves = _leaves(arguments, of)
        result, wanted = function(*leaves), [leaves[position] for position in of]
        return (lambda *grads: gradients(result, wanted, grads)), list(upstream)

    def both(*given: Any) -> tuple[Any, ...]:
        leaves = _leaves(given[: len(arguments)], of)
        result, wanted = function(*leaves), [leaves[position] for position in of]
        return (*as_list(result), *gradients(result, wanted, given[len(arguments) :]))

    return both, [*arguments, *upstream]


def results_of(returned: Any, written: Sequence[torch.Tensor]) -> list[Any]:
    """The results of a call: the arguments that it is to write, then what it returned, if anything."""
    return [*written, *([] if written and returned is None else as_list(returned))]


def _returning(function: Callable[..., Any], writes: Sequence[int]) -> Callable[..., Any]:
    return lambda *given: results_of(function(*given), [given[position] for position in writes])


def _leaves(arguments: Sequence[Any], of: Sequence[int]) -> list[Any]:
    leaves = list(arguments)
    for position in of:
        leaves[position] = leaves[position].detach().requires_grad_()
    return leaves


def gradients(
    result: Any, wanted: Sequence[torch.Tensor], upstream: Sequence[Any]
) -> tuple[torch.Tensor | None, ...]:
    """torch's gradients of the leaves `wanted`, None where none arrives.

    Args:
        upstream: a gradient for each output of `result`, None where the output is not used.

    Returns:
        nothing when no output that is used is connected to a leaf.
    """
    used = [(out, grad) for out, grad in zip(as_list(result), upstream, strict=True) if grad is not None]
    used = [(out, grad) for out, grad in used if isinstance(out, torch.Tensor) and out.requires_grad]
    if not used:
        return ()
    outputs, grads = zip(*used, strict=True)
    if any(out.shape != grad.shape for out, grad in used):  # which the engine alone would add up
        return torch.autograd.grad(outputs, wanted, grads, retain_graph=True, allow_unused=True)
    return _engine_run_backward(outputs, grads, True, False, tuple(wanted), True, accumulate_grad=False)


def as_list(result: Any) -> list[Any]:
    """What a function returned, as a list of its outputs."""
    return list(result) if isinstance(result, tuple | list) else [result]
