"""Canaries of 8-bit numbers: casts to and from both kinds of fp8, and the dots of fp8 and of int8."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
NAN_CODE = 0x7F


@triton.jit
def _cast(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs).to(out_ptr.dtype.element_ty))


@triton.jit
def _dot(a_ptr, acc_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    a, acc = tl.load(a_ptr + offs), tl.load(acc_ptr + offs)
    tl.store(acc_ptr + offs, tl.dot(a, a, acc, out_dtype=acc.dtype))


# 31.6 has a carry, 17 and 19 lie halfway in e4m3, 18 and 22 in e5m2; what is past the largest is cut to it.
_NUMBERS = [31.6, 17.0, 19.0, 18.0, 22.0, 464.0, -465.0, 6e4, 1e9, -float("inf"), float("nan"), -1.9]
_NUMBERS += [0.0, 0.1, 0.0078125, 2**-10]


def _narrowing() -> bool:
    x = torch.tensor(_NUMBERS)
    largest = {dtype: torch.finfo(dtype).max for dtype in (E4M3, E5M2)}
    return all(_same(_into(x, dtype), x.clamp(-top, top).to(dtype)) for dtype, top in largest.items())


def _widening() -> bool:
    codes = torch.arange(256).to(torch.uint8)
    return all(_same(_into(codes.view(e), wide), codes.view(e)) for e in (E4M3, E5M2) for wide in _WIDER)


_WIDER = (torch.float32, torch.bfloat16)


def _into(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    out = torch.empty(len(x), dtype=dtype)
    _cast[(1,)](x, out, BLOCK=len(x))
    return out


def _same(out: torch.Tensor, right: torch.Tensor) -> bool:
    return torch.equal(out.float().nan_to_num(9.0), right.float().nan_to_num(9.0))


def _fp8_dot() -> bool:
    """NaN stays NaN; 14 bits hold sums of a thousand, and lose what is added to a million."""
    a = torch.arange(4096).remainder(7).reshape(64, 64).to(E4M3)
    a.view(torch.uint8)[3, 5] = NAN_CODE
    out, large = torch.zeros(64, 64), torch.full((64, 64), 2.0**20)
    _dot[(1,)](a, out, BLOCK=64)
    _dot[(1,)](torch.ones(64, 64).to(E4M3), large, BLOCK=64)
    return _same(out, a.float() @ a.float()) and bool((large == 2**20).all())


def _int8_dot() -> bool:
    a = torch.arange(1024).sub(128).reshape(32, 32).to(torch.int8)
    out = torch.full((32, 32), 2**24 + 1, dtype=torch.int32)
    right = (a.long() @ a.long() + out).int()
    _dot[(1,)](a, out, BLOCK=32)
    try:
        _dot[(1,)](a, out.float(), BLOCK=32)
    except Exception:
        return torch.equal(out, right)
    return False


EIGHT_BIT: dict[str, Callable[[], bool]] = {
    "casts to fp8": _narrowing,
    "casts of fp8": _widening,
    "fp8 tl.dot": _fp8_dot,
    "int8 tl.dot": _int8_dot,
}
