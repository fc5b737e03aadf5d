"""Proof, before anything is graded, that the interpreter computes what a GPU computes.

Each canary runs one small kernel whose right answer is known. One that fails means that this version of
Triton has moved under our repairs: cases of that kind cannot be graded here, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from grader.interpreter.eightbit import EIGHT_BIT
from grader.interpreter.forms import FORMS


@triton.jit
def _add(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs) + tl.load(y_ptr + offs))


@triton.jit
def _double(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, tl.where(offs >= 0, x * 2.0, 1.0))


@triton.jit
def _round(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs).to(out_ptr.dtype.element_ty))


@triton.jit
def _dot(a_ptr, b_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(out_ptr + offs, tl.dot(tl.load(a_ptr + offs), tl.load(b_ptr + offs)))


@triton.jit
def _tanh(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, libdevice.tanh(tl.load(x_ptr + offs)))


@triton.jit
def _sum(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.sum(x, axis=1))
    tl.store(out_ptr + BLOCK, tl.sum(tl.sum(x, axis=0), axis=0))
    tl.store(out_ptr + 2 * BLOCK + offs, tl.cumsum(x, axis=1))


@triton.jit
def _extrema(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, tl.maximum(x, -1.0))
    tl.store(out_ptr + BLOCK + offs, tl.minimum(x, 1.0))
    tl.store(out_ptr + 2 * BLOCK + offs, tl.clamp(x, -1.0, 1.0))
    tl.store(out_ptr + 3 * BLOCK + offs, tl.maximum(x, -1.0, propagate_nan=tl.PropagateNan.ALL))


@triton.jit
def _atomic(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + offs // 2, tl.load(x_ptr + offs), mask=offs < BLOCK - 1)


@triton.autotune([triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32})], key=[])
@triton.jit
def _tuned(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs))


# 257 and 1.00390625 lie halfway between two bf16 values: truncation and round-to-nearest-even differ on them.
_HALFWAY = torch.tensor([257.0, 259.0, 1.00390625, 1.01171875, -257.0, 3.0e38, 1e-40, 0.1] * 4)


def _bf16_arithmetic() -> bool:
    x, y = torch.linspace(-3, 3, 32).bfloat16(), torch.linspace(5, -2, 32).bfloat16()
    out = torch.empty_like(x)
    _add[(1,)](x, y, out, BLOCK=32)
    return torch.equal(out, x + y)


def _bf16_constants() -> bool:
    x = torch.linspace(-3, 3, 32).bfloat16()
    out = torch.empty_like(x)
    _double[(1,)](x, out, BLOCK=32)
    return torch.equal(out, 2 * x)


def _bf16_rounding() -> bool:
    out = torch.empty(32, dtype=torch.bfloat16)
    _round[(1,)](_HALFWAY, out, BLOCK=32)
    return torch.equal(out, _HALFWAY.bfloat16())


def _bf16_sum() -> bool:
    x = torch.arange(256).remainder(3).sub(1).reshape(16, 16).bfloat16()  # whose sums are exact
    out = torch.zeros(18, 16).bfloat16()
    _sum[(1,)](x, out, BLOCK=16)
    right = torch.equal(out[0], x.sum(1)) and torch.equal(out[1, 0], x.sum())
    return right and torch.equal(out[2:], x.cumsum(1))


def _bf16_atomics() -> bool:
    x, out = torch.arange(1.0, 33.0).bfloat16(), torch.full((16,), 256.0).bfloat16()
    by_hand = out.clone()
    for pair in (x[0::2], torch.cat([x[1:-1:2], torch.zeros(1).bfloat16()])):
        by_hand += pair
    _atomic[(1,)](x, out, BLOCK=32)
    return torch.equal(out, by_hand)


def _maximum() -> bool:
    nan = float("nan")
    x, out = torch.tensor([nan, -5.0, 0.5, 5.0] * 4), torch.empty(4, 16)
    _extrema[(1,)](x, out, BLOCK=16)
    want = [[-1.0, -1.0, 0.5, 5.0], [1.0, -5.0, 0.5, 1.0], [-1.0, -1.0, 0.5, 1.0], [nan, -1.0, 0.5, 5.0]]
    return torch.equal(out.nan_to_num(9.0), torch.tensor(want).repeat(1, 4).nan_to_num(9.0))


def _bf16_dot() -> bool:
    a = torch.arange(256, dtype=torch.float32).remainder(7).reshape(16, 16).bfloat16()
    out = torch.empty(16, 16)
    _dot[(1,)](a, a, out, BLOCK=16)
    return torch.equal(out, a.float() @ a.float())


def _fp16_dot() -> bool:
    a = torch.arange(256, dtype=torch.float32).remainder(5).reshape(16, 16).half()
    out = torch.empty(16, 16)
    _dot[(1,)](a, a, out, BLOCK=16)
    return torch.equal(out, a.float() @ a.float())


def _tf32_dot() -> bool:
    a = torch.eye(16) * (1 + 2**-9 + 2**-13)
    out = torch.empty(16, 16)
    _dot[(1,)](a, torch.eye(16), out, BLOCK=16)
    return torch.equal(out, torch.eye(16) * (1 + 2**-9))


def _narrow_dot() -> bool:
    a = torch.ones(4, 4)
    try:
        _dot[(1,)](a, a, a, BLOCK=4)
    except Exception:
        return True
    return False


def _libdevice() -> bool:
    x = torch.linspace(-4, 4, 32)
    out = torch.empty_like(x)
    _tanh[(1,)](x, out, BLOCK=32)
    return torch.allclose(out, torch.tanh(x), rtol=1e-6, atol=1e-7)


def _autotune() -> bool:
    x = torch.arange(32, dtype=torch.float32)
    out = torch.zeros_like(x)
    _tuned[lambda meta: (32 // meta["BLOCK"],)](x, out)
    return torch.equal(out, x)


OF_CASES: dict[str, Callable[[], bool]] = {
    "bf16 arithmetic": _bf16_arithmetic,
    "bf16 constants": _bf16_constants,
    "fp32 to bf16 rounding": _bf16_rounding,
    "bf16 sum": _bf16_sum,
    "bf16 atomics": _bf16_atomics,
    "maximum": _maximum,
    "bf16 tl.dot": _bf16_dot,
    "fp16 tl.dot": _fp16_dot,
    **EIGHT_BIT,
    "tl.dot": lambda: _tf32_dot() and _narrow_dot(),
    "libdevice": _libdevice,
    "autotune": _autotune,
}
CANARIES = {**OF_CASES, **FORMS}  # no case is known to need a form, so gradings do not wait for those


def failures(names: Any = CANARIES) -> list[str]:
    """The canaries, of those named, that do not sing; an exception counts as silence."""
    return [name for name in names if not _sings(CANARIES[name])]


def _sings(canary: Callable[[], bool]) -> bool:
    try:
        return canary()
    except Exception:
        return False
