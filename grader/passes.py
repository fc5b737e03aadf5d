"""What is timed of a function: its forward pass, its backward pass, or both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch

Part = Literal["forward", "backward", "both"]
Timed = tuple[Callable[..., Any], list[Any]]


def timed(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    upstream: Sequence[Any],
    of: Sequence[int],
    part: Part,
) -> Timed:
    """The part as a function of its own, and what it is called with.

    Args:
        upstream: a gradient for each output, None where the output is not used; empty for `forward`.
        of: positions of the arguments whose gradients are asked for.
    """
    if part == "forward":
        return function, list(arguments)
    if part == "backward":
        leaves = _leaves(arguments, of)
        outputs = _as_list(function(*leaves))
        return (lambda *grads: _gradients(outputs, leaves, grads, of)), list(upstream)

    def both(*given: Any) -> tuple[Any, ...]:
        leaves = _leaves(given[: len(arguments)], of)
        outputs = _as_list(function(*leaves))
        return (*outputs, *_gradients(outputs, leaves, given[len(arguments) :], of))

    return both, [*arguments, *upstream]


def _leaves(arguments: Sequence[Any], of: Sequence[int]) -> list[Any]:
    leaves = list(arguments)
    for position in of:
        leaves[position] = leaves[position].detach().requires_grad_()
    return leaves


def _gradients(
    outputs: list[Any], leaves: Sequence[Any], grads: Sequence[Any], of: Sequence[int]
) -> tuple[torch.Tensor, ...]:
    used = [(out, grad) for out, grad in zip(outputs, grads, strict=True) if grad is not None]
    wanted = [leaves[position] for position in of]
    return torch.autograd.grad(
        [out for out, _ in used], wanted, [grad for _, grad in used], retain_graph=True
    )


def _as_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]
