"""Inputs for a case: seeded values, laid out in memory as the case asks, with NaN everywhere around them.

Every tensor lies in a storage of its own between guard words that every float dtype reads as NaN; so do the
gaps of a view. A kernel that reads beside its input sees NaN, one that writes there is noticed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch

from grader.challenge import Case
from grader.challenge.case import EIGHT_BIT_FLOATS
from grader.tensor_storage import GUARD

# NaN in fp16, bf16, fp32 and fp64 alike, and with other bits than the poison of outputs: one that was copied
# into the result is told from one that was never overwritten.
NAN_WORD = -2
NAN_WORD_8_BIT = -1  # of its two bytes the other is -448 in e4m3

Shape = tuple[int, ...]


class Draw:
    """Draws the tensors of one case; called by a challenge's `inputs`.

    Args:
        case: fixes dtype, layout and values unless a call says otherwise.
        seed: of the generator.
        device: where the tensors are made; on a GPU, so that gigabytes need not travel.
    """

    def __init__(self, case: Case, seed: int, device: str = "cpu") -> None:
        self.case = case
        self.device = device
        self.generator = torch.Generator(device).manual_seed(seed)
        # The same on every device: kernels are compiled ahead for integers that 16 divides, or does not.
        self.scalars = torch.Generator().manual_seed(seed)

    def __call__(
        self,
        *shape: int,
        dtype: torch.dtype | None = None,
        layout: str | None = None,
        values: str | None = None,
    ) -> torch.Tensor:
        """A tensor of this shape, with the case's dtype, layout and values unless given.

        Raises:
            KeyError: there is no such layout or kind of values.
        """
        view = LAYOUTS[layout or self.case.layout](shape, dtype or self.case.dtype, self.device)
        memory = _memory(view)
        if view.numel():
            memory.copy_(_held(self._values(tuple(memory.shape), values or self.case.values), memory.dtype))
        return view

    def _values(self, shape: Shape, kind: str) -> torch.Tensor:
        normal = torch.randn(shape, generator=self.generator, device=self.device)
        return VALUES[kind](normal, self.generator)

    def integers(
        self, *shape: int, low: int, high: int, dtype: torch.dtype = torch.int64, layout: str = "contiguous"
    ) -> torch.Tensor:
        """A tensor of integers in [low, high), each as likely as any other: positions, targets, codes.

        Raises:
            KeyError: there is no such layout.
        """
        view = LAYOUTS[layout](shape, dtype, self.device)
        memory = _memory(view)
        if dtype == torch.bool:  # True is every integer but 0
            memory.copy_(torch.randint(low, high, memory.shape, generator=self.generator, device=self.device))
        elif view.numel():  # in place, for a matrix of packed weights in int64 would be 8 times as large
            memory.random_(low, high, generator=self.generator)
        return view

    def permutation(self, n: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        """The integers in [0, n) in any order, each once: an order of rows, slots."""
        view = LAYOUTS["contiguous"]((n,), dtype, self.device)
        return view.copy_(torch.randperm(n, generator=self.generator, device=self.device))

    def integer(self, low: int, high: int) -> int:
        """An integer in [low, high), for scalar arguments."""
        return int(torch.randint(low, high, (1,), generator=self.scalars))


def _memory(view: torch.Tensor) -> torch.Tensor:
    """A view of each element once: an expanded dimension is one in memory, however long it looks."""
    return view[tuple(slice(None, None if stride else 1) for stride in view.stride())]


def _held(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Cut to the largest number of a dtype that has no Inf, as torch does in some versions alone."""
    if dtype != torch.float8_e4m3fn:
        return values
    return values.clamp(torch.finfo(dtype).min, torch.finfo(dtype).max)


def guarded(span: int, dtype: torch.dtype, device: str, shift: int = 0) -> torch.Tensor:
    """`span` elements of NaN in the middle of guard words; starts `shift` elements behind a 16-byte
    boundary.
    """
    size = torch.empty(0, dtype=dtype).element_size()
    words = -(-(span + shift) * size // 8) * 4 + GUARD  # whole ones of eight bytes
    word = NAN_WORD_8_BIT if dtype in EIGHT_BIT_FLOATS else NAN_WORD
    raw = torch.full((words,), word, dtype=torch.int16, device=device).view(torch.uint8)
    return raw[GUARD : GUARD + (span + shift) * size].view(dtype)[shift:]


# What each layout is like says case.LAYOUTS.


def _contiguous(shape: Shape, dtype: torch.dtype, device: str) -> torch.Tensor:
    return guarded(math.prod(shape), dtype, device).view(shape)


def _offset(shape: Shape, dtype: torch.dtype, device: str) -> torch.Tensor:
    return guarded(math.prod(shape), dtype, device, shift=3).view(shape)


def _sliced(shape: Shape, dtype: torch.dtype, device: str) -> torch.Tensor:
    if len(shape) < 2:
        return _offset(shape, dtype, device)
    *outer, cols = shape
    return guarded(math.prod(outer) * (cols + 5), dtype, device).view(*outer, cols + 5)[..., :cols]


def _padded(shape: Shape, dtype: torch.dtype, device: str, by: int = 8) -> torch.Tensor:
    """Rows are a multiple of 16 bytes apart where they are one long, as descriptors ask."""
    if len(shape) < 2:
        return _contiguous(shape, dtype, device)
    *outer, cols = shape
    return guarded(math.prod(outer) * (cols + by), dtype, device).view(*outer, cols + by)[..., :cols]


def _columns(shape: Shape, dtype: torch.dtype, device: str) -> torch.Tensor:
    if len(shape) < 2:
        return _strided(shape, dtype, device)
    *outer, rows, cols = shape
    return _padded((*outer, cols, rows), dtype, device).mT


def _transposed(shape: Shape, dtype: torch.dtype, device: str) -> torch.Tensor:
    if len(shape) < 2:
        return _strided(shape, dtype, device)
    *outer, rows, cols = shape
    return guarded(math.prod(shape), dtype, device).view(*outer, cols, rows).mT


def _strided(shape: Shape, dtype: torch.dtype, device: str) -> torch.Tensor:
    *outer, cols = shape
    return guarded(math.prod(outer) * 2 * cols, dtype, device).view(*outer, 2 * cols)[..., ::2]


LAYOUTS: dict[str, Callable[[Shape, torch.dtype, str], torch.Tensor]] = {
    "contiguous": _contiguous,
    "offset": _offset,
    "sliced": _sliced,
    "padded": _padded,
    "far": partial(_padded, by=2**20),
    "transposed": _transposed,
    "columns": _columns,
    "strided": _strided,
    "expanded": lambda shape, dtype, device: _contiguous((1, *shape[1:]), dtype, device).expand(shape),
    "broadcast": lambda shape, dtype, device: _contiguous((*shape[:-1], 1), dtype, device).expand(shape),
    "scalar": lambda shape, dtype, device: _contiguous((1,) * len(shape), dtype, device).expand(shape),
}

Generator = torch.Generator


def _at_last(x: torch.Tensor, value: float) -> torch.Tensor:
    x[..., -1:] = value
    return x


def _scattered(x: torch.Tensor, generator: Generator, value: float, share: float = 0.25) -> torch.Tensor:
    hit = torch.rand(x.shape, generator=generator, device=x.device) < share
    hit[..., :1] = False  # no row is lost whole
    return x.masked_fill(hit, value)


def _one(x: torch.Tensor, generator: Generator, value: float) -> torch.Tensor:
    where = int(torch.randint(x.numel(), (1,), generator=generator, device=x.device))
    x.view(-1)[where] = value
    return x


def _minus_inf(x: torch.Tensor, generator: Generator) -> torch.Tensor:
    x = _scattered(x, generator, -math.inf)
    x[-1:] = -math.inf
    return x


def _ties(x: torch.Tensor, generator: Generator) -> torch.Tensor:
    top = x.amax(dim=-1, keepdim=True)
    hit = torch.rand(x.shape, generator=generator, device=x.device) < 0.3
    return torch.where(hit, top, x)


def _one_of(x: torch.Tensor, generator: Generator, *values: float) -> torch.Tensor:
    which = torch.randint(len(values), x.shape, generator=generator, device=x.device)
    return x.new_tensor(values)[which]


def _ramp(x: torch.Tensor, generator: Generator) -> torch.Tensor:
    return torch.arange(x.numel(), device=x.device, dtype=torch.float32).remainder(2048).view(x.shape)


VALUES: dict[str, Callable[[torch.Tensor, Generator], torch.Tensor]] = {
    "normal": lambda x, g: x,
    "heavy": lambda x, g: x * (1 / (0.05 + torch.rand(x.shape, generator=g, device=x.device))),
    "large": lambda x, g: torch.where(x > 0, 1e4, -1e4) + 10 * x,
    "constant": lambda x, g: torch.full_like(x, 3.0),
    "ties": _ties,
    "spike": lambda x, g: _at_last(x, 50.0),
    "integers": lambda x, g: torch.randint(-8, 9, x.shape, generator=g, device=x.device).float(),
    # White is rare among them: beside an integer guard words are legal values, and read as 254 and 255.
    "bytes": lambda x, g: torch.randint(0, 256, x.shape, generator=g, device=x.device).float(),
    "ramp": _ramp,
    "rising": lambda x, g: x.sort(dim=-1).values,
    "negative": lambda x, g: -x.abs() - 1,
    "low": lambda x, g: x - 300,
    "minus_inf": _minus_inf,
    "some_minus_inf": lambda x, g: _scattered(x, g, -math.inf),
    "inf": lambda x, g: _one(x, g, math.inf),
    "nan": lambda x, g: _one(x, g, math.nan),
    "zeros": lambda x, g: torch.zeros_like(x),
    "signed_zeros": lambda x, g: _one_of(x, g, -1.0, -0.0, 0.0),
}
