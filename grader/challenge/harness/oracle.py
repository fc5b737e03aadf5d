"""What is right: torch in float64, with torch in the submission's dtype as the yardstick."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from grader.challenge import Challenge
from grader.challenge.case import EIGHT_BIT_FLOATS, readable
from grader.challenge.harness.compare import Expected, errors
from grader.challenge.harness.rounding_sensitivity import Movement
from grader.performance.timing import autograd_passes

LARGE = 1 << 20  # elements: from here on results are compared where the oracle computed them

Values = tuple[Any, ...]
Moves = Callable[[torch.dtype], Iterable[tuple[float, torch.Tensor]]]


def as_tuple(result: Any) -> Values:
    return tuple(autograd_passes.as_list(result))


def in_calls(
    function: Callable[..., Any], writes: Sequence[int], arguments: Values, calls: int
) -> Callable[..., Any]:
    """A function that is applied `calls` times, on what it left in the arguments at positions `writes`."""

    def applied(*given: Any) -> Any:
        return function(*before_last(function, writes, arguments, calls, given))

    return applied if writes and calls > 1 else function


def before_last(
    function: Callable[..., Any], writes: Sequence[int], arguments: Values, calls: int, given: Values
) -> Values:
    """What the last of so many calls is given.

    In between, what is written has its own dtype of `arguments`, whichever it is computed in.
    """
    held = list(given)
    for _ in range(calls - 1 if writes else 0):
        for position, left in zip(writes, as_tuple(function(*held)), strict=False):
            held[position] = left.detach().to(arguments[position].dtype).to(given[position].dtype)
    return tuple(held)


def expect(challenge: Challenge, arguments: Values, kept: Values = ()) -> Values:
    """What the challenge's reference gives: an `Expected` for each tensor, plain numbers as they are.

    Args:
        kept: what the reference of a random function gets behind the arguments: the mask of kept elements.
    """
    inputs = (*arguments, *kept)
    plain = as_tuple(challenge.reference(*inputs))
    exact = as_tuple(challenge.reference(*cast(inputs, torch.float64)))
    wanted = _dtypes(challenge, arguments, plain)
    if challenge.returns is not None:
        widest = max((d for d in wanted if d and d.is_floating_point), key=lambda d: d.itemsize, default=None)
        if widest is not None:
            plain = as_tuple(challenge.reference(*cast(inputs, widest)))
    movement = Movement(lambda moved: as_tuple(challenge.reference(*moved)), inputs)
    of_each = enumerate(zip(plain, exact, wanted, strict=True))
    return tuple(_expected(p, e, d, partial(movement.explains, number)) for number, (p, e, d) in of_each)


def expect_gradients(
    challenge: Challenge,
    arguments: Values,
    upstream: Values,
    kept: Values,
    names: Sequence[str],
    of: Sequence[int],
) -> tuple[Expected, ...]:
    """The gradients of the arguments at positions `of`, labelled by `names`.

    Args:
        upstream: a gradient for each output, None where the output is not used.
    """
    inputs = (*arguments, *kept)
    plain = gradients(challenge.reference, inputs, of, upstream)
    exact = gradients(challenge.reference, cast(inputs, torch.float64), of, cast(upstream, torch.float64))
    count = len(inputs)
    movement = Movement(
        lambda moved: gradients(challenge.reference, moved[:count], of, moved[count:]), (*inputs, *upstream)
    )
    return tuple(
        replace(
            _expected(p, e, arguments[position].dtype, partial(movement.explains, number)),
            label=f"the gradient of {names[position]}",
            handed_on=any(grad is not None and alike(e, grad) for grad in upstream),
        )
        for number, (p, e, position) in enumerate(zip(plain, exact, of, strict=True))
    )


def alike(exact: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether the second holds the numbers of the first, NaN where that has NaN.

    What is on `meta`, gigabytes that nobody kept, is like nothing.
    """
    if exact.is_meta or exact.shape != other.shape:
        return False
    other = other.to(exact)  # large ones are where the oracle computed them
    return bool(((exact == other) | (exact.isnan() & other.isnan())).all())


def gradient_positions(challenge: Challenge, arguments: Values) -> list[int]:
    """Positions of the arguments that are tensors and whose gradients are asked for."""
    of = challenge.gradients.of if challenge.gradients else ()
    return [position for position in of if isinstance(arguments[position], torch.Tensor)]


def reached(challenge: Challenge, arguments: Values, upstream: Values, kept: Values) -> list[int]:
    """Of `gradient_positions` those that a gradient reaches: where an output is not used, some get none."""
    of = gradient_positions(challenge, arguments)
    if None not in upstream:
        return of
    leaves = _leaves((*arguments, *kept), of)
    found = autograd_passes.gradients(
        challenge.reference(*leaves), [leaves[position] for position in of], upstream
    )
    return [position for position, grad in zip(of, found, strict=False) if grad is not None]


def gradients(function: Callable[..., Any], arguments: Values, of: Sequence[int], upstream: Values) -> Values:
    """torch's gradients of the arguments at positions `of`; zeros where none arrives."""
    leaves = _leaves(arguments, of)
    wanted = [leaves[position] for position in of]
    found = autograd_passes.gradients(function(*leaves), wanted, upstream) or (None,) * len(wanted)
    return tuple(
        torch.zeros_like(leaf) if grad is None else grad for grad, leaf in zip(found, wanted, strict=True)
    )


def _leaves(arguments: Values, of: Sequence[int]) -> list[Any]:
    leaves = list(arguments)
    for position in of:
        leaves[position] = arguments[position].detach().clone().requires_grad_()
    return leaves


def suspect(
    wrong: Callable[..., Any], arguments: Values, kept: Values, upstream: Values, of: Sequence[int]
) -> tuple[torch.Tensor, ...]:
    """What a suspect function gives for these inputs, and its gradients of those at positions `of`, in
    float64 where the inputs are.
    """
    inputs = cast((*arguments, *kept), torch.float64)
    outputs = as_tuple(wrong(*inputs))
    results = [output for output in outputs if isinstance(output, torch.Tensor)]
    # A suspect whose outputs have other shapes is none, and can be handed no gradient.
    fits = len(outputs) == len(upstream) and all(
        grad is None or grad.shape == getattr(out, "shape", None)
        for grad, out in zip(upstream, outputs, strict=True)
    )
    if fits:
        results += gradients(wrong, inputs, of, cast(upstream, torch.float64))
    return tuple(result.detach().double() for result in results)


def cast(values: Values, dtype: torch.dtype) -> Values:
    """The same, floating tensors among them in this dtype."""
    return tuple(
        value.to(dtype) if isinstance(value, torch.Tensor) and value.dtype.is_floating_point else value
        for value in values
    )


def values_of(challenge: Challenge, arguments: Values) -> Values:
    """What the reference gives, for where only shapes matter: of a random function, with all kept."""
    if challenge.chance is None:
        return as_tuple(challenge.reference(*arguments))
    first = next(value for value in arguments if isinstance(value, torch.Tensor))
    return as_tuple(challenge.reference(*arguments, torch.ones_like(first, dtype=torch.bool)))


def as_asked(
    challenge: Challenge, arguments: Values, results: Values, part: autograd_passes.Part, of: Sequence[int]
) -> Values:
    """What the reference gives for a part, outputs in the dtypes that the challenge asks for: it may compute
    in more bits. Gradients have their leaves' dtypes anyway.
    """
    outputs = results[: {"forward": len(results), "backward": 0, "both": len(results) - len(of)}[part]]
    dtypes = _dtypes(challenge, arguments, outputs) if outputs else []
    rounded = (out.to(dtype) if dtype else out for out, dtype in zip(outputs, dtypes, strict=True))
    return (*rounded, *results[len(outputs) :])


def _dtypes(challenge: Challenge, arguments: Values, outputs: Values) -> list[Any]:
    """Of each output; what is written has that of its argument."""
    wanted = result_dtypes(challenge.returns, outputs)
    for number, position in enumerate(challenge.writes):
        wanted[number] = arguments[position].dtype
    return wanted


def result_dtypes(returns: torch.dtype | Sequence[torch.dtype] | None, plain: Values) -> list[Any]:
    """The dtype of each result as the challenge has them; None for a plain number."""
    if isinstance(returns, torch.dtype):
        return [returns] * len(plain)
    if returns is not None:
        return list(returns)
    return [value.dtype if isinstance(value, torch.Tensor) else None for value in plain]


def _expected(plain: Any, exact: Any, dtype: torch.dtype | None, movement: Moves) -> Any:
    if dtype is None:
        return exact
    if exact.numel() < LARGE:
        exact, plain = exact.cpu(), plain.cpu()
    plain = plain.to(dtype)
    if not dtype.is_floating_point or dtype in EIGHT_BIT_FLOATS:
        return Expected(readable(exact.to(dtype)), dtype, (0.0, torch.zeros(1)))
    exact = exact.double()
    return Expected(exact, dtype, errors(plain, exact), movement=partial(movement, dtype))
