"""Canaries of what may stand in a kernel: what the compiler takes, and the stock interpreter does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as language
import triton.language as tl

TWO = tl.constexpr(2.0)
load = tl.load


@triton.jit
def _constant(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, tl.where(TWO / x >= 1, TWO * x, TWO - x))


@triton.jit
def _joined(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    inside = (offs > 1) and (offs < 12) and not (offs % 5 < 1)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=inside, other=0.0))


@triton.jit
def _arguments(x_ptr, out_ptr, eps, flag, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    if flag:
        tl.store(out_ptr + offs, tl.load(x_ptr + offs) + eps.to(tl.float32), mask=flag & (offs < 9))


@triton.jit
def _steps(x_ptr, out_ptr, BLOCK: tl.constexpr):
    for step in range(BLOCK // 2):
        at = (2 * step).to(tl.int64) + step.to(tl.int64) * 0  # type: ignore[attr-defined]
        tl.store(out_ptr + at, tl.load(x_ptr + at))


@triton.jit
def _counted(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    for at in range(n // 2, n):
        tl.store(out_ptr + at, tl.load(x_ptr + at))


@triton.jit
def _scalar(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, x, mask=(tl.load(x_ptr + 9) > 0) & (x > 1))


@triton.jit
def _alias(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, load(x_ptr + offs))


@triton.jit
def _methods(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, (x * x).sqrt() + x.floor())


@triton.jit
def _bytes(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    byte = (offs * 37).to(tl.uint8)
    signed = byte.to(tl.int8, bitcast=True) >> 4
    tl.store(out_ptr + offs, ((~byte >> 4) - byte + (byte << 4)).to(tl.float32) + signed)


@triton.jit
def _looked_up(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    at = (offs * 37).to(tl.uint8) >> 4
    tl.store(out_ptr + offs, tl.gather(tl.load(x_ptr + offs), at.to(tl.int32), 0))


@triton.jit
def _missed(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    found = tl.gather(tl.load(x_ptr + offs), 2 * offs - BLOCK // 2, 0)
    tl.store(out_ptr + offs, tl.where(found == found, found, 9.0))


@triton.jit
def _larger(one, i, other, j):
    first = (one > other) | ((one == other) & (i < j))
    return tl.where(first, one, other), tl.where(first, i, j)


@triton.jit
def _last(one, other):
    if one > 99:
        other = one
    return other


@triton.jit
def _combined(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.reshape(offs, (2, BLOCK // 2)))
    _, at = tl.reduce((x, tl.reshape(offs, (2, BLOCK // 2))), -1, _larger)
    tl.store(out_ptr + tl.arange(0, 2), at.to(tl.float32))
    tl.store(out_ptr + 2, tl.reduce(x, None, _last))
    ends, _ = tl.associative_scan((offs, offs), 0, _larger, reverse=True)
    tl.store(out_ptr + offs, ends.to(tl.float32), mask=offs > 2)


@triton.jit
def _annotated(x_ptr, out_ptr, n: tl.int64, two: tl.float32, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs) * ((n << 32) >> 33) * two.to(tl.float32))


def _made(op: Any) -> Any:
    @triton.jit
    def kernel(x_ptr, out_ptr, BLOCK: language.constexpr):
        offs = language.multiple_of(language.arange(0, BLOCK), 16)
        language.store(out_ptr + offs, op(language.load(x_ptr + offs)))

    return kernel


@triton.jit
def _doubled(x):
    return 2 * x


_X = torch.linspace(-3, 4, 16)
_AT = torch.arange(16)
_BYTE = _AT * 37 % 256
_TURNED = ((255 - _BYTE) // 16 - _BYTE + _BYTE * 16) % 256 + (_BYTE + 128) % 256 // 16 - 8


def _gives(kernel: Any, right: torch.Tensor, *arguments: Any, grid: Any = (1,)) -> bool:
    """Whether a kernel that is handed _X, zeros and `arguments` makes `right` of the zeros."""
    out = torch.zeros(16)
    kernel[grid](_X.clone(), out, *arguments, BLOCK=16)
    return torch.equal(out, right)


FORMS: dict[str, Callable[[], bool]] = {
    "constants left of blocks": lambda: _gives(_constant, torch.where((_X > 0) & (_X <= 2), 2 * _X, 2 - _X)),
    "and of blocks": lambda: _gives(_joined, _X * ((_AT > 1) & (_AT < 12) & (_AT % 5 != 0))),
    "float and bool arguments": lambda: _gives(_arguments, (_X + 0.5) * (_AT < 9), 0.5, True),
    "loop variables": lambda: _gives(_steps, _X * (_AT % 2 == 0)),
    "range() over an argument": lambda: _gives(_counted, _X * ((_AT > 4) & (_AT < 11)), 11),
    "comparisons of a scalar and a block": lambda: _gives(_scalar, _X * (_X > 1)),
    "words of tl under names of one's own": lambda: _gives(_alias, _X),
    "words of tl as methods": lambda: _gives(_methods, (_X * _X).sqrt() + _X.floor()),
    "bytes": lambda: _gives(_bytes, _TURNED.float()),
    "look-ups by tl.gather": lambda: _gives(_looked_up, _X[_BYTE // 16]),
    "look-ups beside the table": lambda: _gives(
        _missed, torch.where((_AT >= 4) & (_AT < 12), _X[(2 * _AT - 8) % 16], 9.0)
    ),
    "functions that combine": lambda: _gives(_combined, torch.tensor([7.0, 15.0, 4.0, *[15.0] * 13])),
    "kernels made by functions": lambda: _gives(_made(_doubled), 2 * _X),
    "annotated arguments": lambda: _gives(_annotated, 6 * _X, 6, 2),
    "grids that are lists": lambda: _gives(_alias, _X, grid=[1]) and _gives(_alias, _X, grid=lambda _: [1]),
}
