"""How far the right result moves when all that is computed on its way is rounded once more.

The error of a stable kernel is its backward error, a few roundings, times the condition number: where terms
cancel, no kernel has less. Source: Higham, Accuracy and Stability of Numerical Algorithms (2nd edition, SIAM,
2002), section 1.6. Both are measured in one: the oracle is asked again, with every sum's terms and every
result of arithmetic moved by one rounding at random. Source of that: Parker, Monte Carlo Arithmetic (1997).

The rounding is that of the arithmetic: fp32, also where inputs and results have 16 bits. Inputs are not
moved: they are exact, and so is the difference of two that are near. But the matrix units take operands of
16 bits alone: what is worked out, and then multiplied as a matrix, as attention's weights are, may be rounded
to them. Such operands are moved by that much in draws of their own, and count less: there is one of them,
and beside it the rounding of the result, which is independent of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any

import torch

from grader.challenge.harness.compare import errors
from grader.operator_memory_effects import Watch

Values = tuple[Any, ...]

ROUNDINGS = 8.0  # that add up in a sum of a few hundred terms, one behind the other
OPERANDS = 1.1  # by luck, no draw moves a row as far as it can be
DRAWS = 16  # by luck, one may leave a row where it was
SEED = 2002  # the same inputs move the same way in every replay
UNIT = torch.finfo(torch.float32).eps / 2  # the largest relative error of one rounding
# Sums of products and of terms, and how many of their tensors hold such: what cancels in them was rounded.
PRODUCTS = {"mm": 2, "bmm": 2, "mv": 2, "dot": 2, "addmm": 3, "baddbmm": 3}
SUMS = {**PRODUCTS, "sum": 1, "mean": 1, "cumsum": 1}
SUMS |= {"norm": 1, "linalg_vector_norm": 1}
# What else rounds. A choice among elements (max, where, sort) does not: there equal must stay equal.
POINTWISE = (
    "add sub rsub mul div addcmul addcdiv pow reciprocal sqrt rsqrt square exp exp2 expm1 log log2 log1p"
)
POINTWISE += " tanh erf sigmoid silu sin cos var var_mean std prod logsumexp _softmax"
ROUNDING = {*SUMS, *POINTWISE.split(), "native_layer_norm", "add_", "sub_", "mul_", "div_"}
SATURATING = {"sigmoid", "tanh", "erf", "mul"}  # where they, or their squares, round to 1, 1 - 1 is 0
# One operator of torch's, several roundings, and they cancel inside: 1 + tanh(x) below 0, a slope near its 0,
# x - max - log(sum).
FUSED = re.compile("gelu|_log_softmax|.*_backward")


class Movement:
    """How far each result of a function moves.

    Args:
        function: the oracle, from all of its inputs in float64 to its results.
        inputs: of any dtype.
    """

    def __init__(self, function: Callable[[Values], Values], inputs: Values) -> None:
        self.function, self.wide = function, tuple(map(_widened, inputs))

    @cached_property
    def exact(self) -> Values:
        return self.function(self.wide)

    def explains(self, number: int, dtype: torch.dtype) -> Iterator[tuple[float, torch.Tensor]]:
        """The error of result `number` that roundings explain where it is of `dtype`, whole and per row.

        It grows with each draw: whoever has seen enough asks for no other.
        """
        plain, operands = Rounding(), RoundedOperands(dtype) if dtype.itemsize == 2 else None
        whole, rows = 0.0, torch.zeros(1, dtype=torch.float64)
        for _ in range(DRAWS):
            moved, row_moved = self._moved(plain, number)
            whole, rows = max(whole, ROUNDINGS * moved), (ROUNDINGS * row_moved).maximum(rows.to(row_moved))
            if operands:
                result = row_moved.new_tensor(torch.finfo(dtype).eps / 2)
                rows = rows.maximum((OPERANDS * self._moved(operands, number)[1]).hypot(result))
            yield whole, rows

    def _moved(self, rounding: Rounding, number: int) -> tuple[float, torch.Tensor]:
        """How far one draw moves a result: where that lies, for half a gigabyte off a GPU takes its time."""
        with rounding:
            moved = self.function(self.wide)[number]
        return errors(moved.detach(), self.exact[number].detach().double())


class Rounding(Watch):  # type: ignore[no-untyped-call]
    """Inside of it arithmetic in float64 rounds as fp32 may: terms of sums, and results."""

    def __init__(self) -> None:
        super().__init__()
        self.generators: dict[torch.device, torch.Generator] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Values = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        name = func.overloadpacket.__name__
        parts = _parts(func)
        if parts is not None:
            with self:
                return parts(*args, **(kwargs or {}))
        terms = SUMS.get(name, 0)
        result = func(*map(self.moved, args[:terms]), *args[terms:], **(kwargs or {}))
        if name not in ROUNDING:
            return result
        if name.endswith("_"):
            return result.copy_(self.moved(result))
        if name in SATURATING and _is_wide(result):
            return torch.where(result.float().abs() == 1, result, self.moved(result))
        return tuple(map(self.moved, result)) if isinstance(result, tuple) else self.moved(result)

    def moved(self, value: Any) -> Any:
        """Each element up or down by as much as one rounding may be; what is not floating stays."""
        return self.moved_by(UNIT * value, value) if _is_wide(value) else value

    def moved_by(self, step: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """Each element up or down by its `step`."""
        if value.device not in self.generators:
            self.generators[value.device] = torch.Generator(value.device).manual_seed(SEED)
        generator = self.generators[value.device]
        ups = torch.randint(2, value.shape, generator=generator, device=value.device)
        return torch.where(value.isfinite(), value + step * (2 * ups - 1).double(), value)


class RoundedOperands(Rounding):  # type: ignore[no-untyped-call]
    """Inside of it what a matrix product multiplies is rounded to 16 bits, where it is not of so few."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype
        self.unit = torch.finfo(dtype).eps / 2
        self.least = self.unit * torch.finfo(dtype).smallest_normal  # half of the steps below normal numbers

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Values = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        terms = PRODUCTS.get(func.overloadpacket.__name__, 0)
        return func(*map(self.moved, args[:terms]), *args[terms:], **(kwargs or {}))

    def moved(self, value: Any) -> Any:
        """Each element up or down by as much as one rounding may be; what is of `dtype` already stays."""
        if not _is_wide(value):
            return value
        exact = value.to(self.dtype).double() == value
        step = (self.unit * value.abs()).clamp(min=self.least)
        return torch.where(exact, value, self.moved_by(step, value))


@cache  # torch goes through its whole table each time
def _parts(func: Any) -> Callable[..., Any] | None:
    """The arithmetic that a fused operator stands for."""
    if not FUSED.match(func.overloadpacket.__name__):
        return None
    return torch._decomp.get_decompositions([func]).get(func)


def _is_wide(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype == torch.float64


def _widened(value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) and value.dtype.is_floating_point else value
