"""Lane by lane: arithmetic and casts, each held against torch or a result written down."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from tests.kernel.evaluated import evaluate, same

pytestmark = pytest.mark.every_triton

N = 16


@triton.jit
def integers_kernel(a_ptr, b_ptr, out_ptr, N: tl.constexpr):
    offs = tl.arange(0, N)
    a, b = tl.load(a_ptr + offs), tl.load(b_ptr + offs)
    tl.store(out_ptr + offs, a + b)
    tl.store(out_ptr + N + offs, a * b - b)
    tl.store(out_ptr + 2 * N + offs, a // b)
    tl.store(out_ptr + 3 * N + offs, a % b)
    tl.store(out_ptr + 4 * N + offs, tl.cdiv(a, b))
    tl.store(out_ptr + 5 * N + offs, (a & b) | (a ^ 5))
    tl.store(out_ptr + 6 * N + offs, (a << 3) + (a >> 2))
    tl.store(out_ptr + 7 * N + offs, tl.minimum(a, b) * 2 + tl.maximum(a, b))
    tl.store(out_ptr + 8 * N + offs, tl.where(a > b, a, -b) + tl.abs(a))
    tl.store(out_ptr + 9 * N + offs, (~a).to(out_ptr.dtype.element_ty))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
def test_integers_divide_toward_zero_and_keep_their_width(dtype):
    a = torch.tensor([7, -7, 7, -7, 100, -100, 127, -128, 0, 1, -1, 5, 6, -6, 64, 3], dtype=dtype)
    b = torch.tensor([2, 2, -2, -2, 3, 3, 127, 5, 4, 1, 2, 5, -4, 4, 64, 100], dtype=dtype)
    out = torch.empty(10, N, dtype=dtype)
    evaluate(integers_kernel, (1,), a, b, out, N=N)
    whole = torch.div(a, b, rounding_mode="trunc")
    up = torch.div(a + b - 1, b, rounding_mode="trunc")
    by_hand = [a + b, a * b - b, whole, torch.fmod(a, b), up, (a & b) | (a ^ 5), (a << 3) + (a >> 2)]
    by_hand += [torch.minimum(a, b) * 2 + torch.maximum(a, b), torch.where(a > b, a, -b) + a.abs(), ~a]
    for row, wanted in zip(out, by_hand, strict=True):
        assert same(row, wanted)


@triton.jit
def unsigned_kernel(a_ptr, b_ptr, out_ptr, N: tl.constexpr):
    offs = tl.arange(0, N)
    a, b = tl.load(a_ptr + offs).to(tl.uint32), tl.load(b_ptr + offs).to(tl.uint32)
    tl.store(out_ptr + offs, a // b)
    tl.store(out_ptr + N + offs, a % b)
    tl.store(out_ptr + 2 * N + offs, a >> 28)
    tl.store(out_ptr + 3 * N + offs, (a > b).to(tl.uint32))
    tl.store(out_ptr + 4 * N + offs, tl.umulhi(a, b))
    tl.store(out_ptr + 5 * N + offs, a.to(tl.float32).to(tl.int64))


def test_unsigned_integers_have_no_sign():
    a, b = (
        torch.tensor([-1, -2, 10, 2**31 - 1], dtype=torch.int32),
        torch.tensor([7, -1, 3, 2], dtype=torch.int32),
    )
    out = torch.empty(6, 4, dtype=torch.int64)
    evaluate(unsigned_kernel, (1,), a, b, out, N=4)
    x, y = a.long() % 2**32, b.long() % 2**32
    high = torch.tensor([int(i) * int(j) >> 32 for i, j in zip(x, y, strict=True)])
    for row, wanted in zip(
        out, [x // y, x % y, x >> 28, (x > y).long(), high, x.float().long()], strict=True
    ):
        assert same(row, wanted)


@triton.jit
def floats_kernel(a_ptr, b_ptr, out_ptr, N: tl.constexpr):
    offs = tl.arange(0, N)
    a, b = tl.load(a_ptr + offs), tl.load(b_ptr + offs)
    tl.store(out_ptr + offs, a + b)
    tl.store(out_ptr + N + offs, a * b - a)
    tl.store(out_ptr + 2 * N + offs, -a)
    tl.store(out_ptr + 3 * N + offs, tl.maximum(a, b))
    tl.store(out_ptr + 4 * N + offs, tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out_ptr + 5 * N + offs, tl.abs(a))
    tl.store(out_ptr + 6 * N + offs, tl.where(a < b, a, b))
    tl.store(out_ptr + 7 * N + offs, tl.clamp(a, -1.0, 1.0))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_floats_are_rounded_after_every_operation(dtype):
    torch.manual_seed(0)
    a, b = (torch.randn(64).to(dtype) for _ in range(2))
    a[0] = b[1] = torch.nan
    out = torch.empty(8, 64, dtype=dtype)
    evaluate(floats_kernel, (1,), a, b, out, N=64)
    most = torch.fmax(a, b)
    by_hand = [a + b, a * b - a, -a, most, torch.minimum(a, b), a.abs(), torch.where(a < b, a, b)]
    by_hand += [torch.fmin(torch.fmax(a, torch.tensor(-1).to(dtype)), torch.tensor(1).to(dtype))]
    for row, wanted in zip(out, by_hand, strict=True):
        assert same(row, wanted)


@triton.jit
def functions_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offs = tl.arange(0, N)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, tl.exp(x))
    tl.store(out_ptr + N + offs, tl.log2(x) + tl.log(x) - tl.exp2(x))
    tl.store(out_ptr + 2 * N + offs, tl.sqrt(x) * tl.rsqrt(x) + tl.sqrt_rn(x))
    tl.store(out_ptr + 3 * N + offs, tl.sin(x) + tl.cos(x))
    tl.store(out_ptr + 4 * N + offs, tl.floor(x) + tl.ceil(-x))
    tl.store(out_ptr + 5 * N + offs, tl.erf(x) + tl.sigmoid(x))
    tl.store(out_ptr + 6 * N + offs, tl.fma(x, x, 1.0) / tl.div_rn(x, 3.0))
    tl.store(out_ptr + 7 * N + offs, libdevice.tanh(x) + libdevice.log1p(x) + libdevice.pow(x, 1.5))
    tl.store(out_ptr + 8 * N + offs, libdevice.fast_dividef(x, 3.0) + libdevice.rint(x))


def test_functions_of_one_number_are_torchs():
    x = torch.linspace(0.01, 8, 64)
    out = torch.empty(9, 64)
    evaluate(functions_kernel, (1,), x, out, N=64)
    wide = x.double()
    by_hand = [wide.exp(), wide.log2() + wide.log() - wide.exp2(), 1 + wide.sqrt(), wide.sin() + wide.cos()]
    by_hand += [wide.floor() + (-wide).ceil(), wide.erf() + wide.sigmoid(), (wide * wide + 1) / (wide / 3)]
    by_hand += [wide.tanh() + wide.log1p() + wide**1.5, wide / 3 + wide.round()]
    for row, wanted in zip(out, by_hand, strict=True):
        torch.testing.assert_close(row.double(), wanted, rtol=1e-5, atol=1e-5)


@triton.jit
def cast_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offs = tl.arange(0, N)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs).to(out_ptr.dtype.element_ty))


DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]


def of_every_kind() -> torch.Tensor:
    """fp32 of all sizes and NaN, many of them halfway between two numbers of a narrower format."""
    bits = torch.randint(-(2**31), 2**31, (2048,), generator=torch.Generator().manual_seed(1)).to(torch.int32)
    near = 115 << 23 | bits & 0x87FFFFFF  # of the sizes that 8 bits have
    return torch.cat([some & (-1 << k) for some in (bits, near) for k in (0, 12, 15, 19)]).view(torch.float32)


CASTS = [(a, b) for a in DTYPES[1:] for b in DTYPES if a.itemsize + b.itemsize > 2]


@pytest.mark.parametrize(("source", "target"), CASTS)
def test_a_cast_rounds_to_the_nearest_even_and_to_8_bits_cuts_what_is_too_large(source, target):
    x = of_every_kind().to(source)
    out = torch.empty(len(x), dtype=target)
    evaluate(cast_kernel, (1,), x, out, N=len(x))
    most = torch.finfo(target).max if target.itemsize == 1 else torch.inf
    wanted = x.float().clamp(-most, most).to(target)
    assert same(out.double(), wanted.double())


@pytest.mark.parametrize("target", [torch.int8, torch.int32, torch.int64])
def test_a_float_becomes_an_integer_toward_zero(target):
    x = torch.tensor([1.9, -1.9, 0.5, -0.5, 100.7, -100.7, 3.0, -0.0])
    out = torch.empty(8, dtype=target)
    evaluate(cast_kernel, (1,), x, out, N=8)
    assert out.tolist() == [1, -1, 0, 0, 100, -100, 3, 0]


@triton.jit
def eight_bits_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offs = tl.arange(0, N)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, x.to(tl.float8e5, fp_downcast_rounding="rtz").to(tl.float32))
    tl.store(out_ptr + N + offs, x.to(tl.int32, bitcast=True).to(tl.float32))
    tl.store(out_ptr + 2 * N + offs, (x > 0).to(tl.float32) + (x > 0).to(tl.int8))


def test_a_cast_may_cut_off_and_a_bitcast_keeps_the_bits():
    x = torch.tensor([1.9, -1.9, 0.3, 1000.0])
    out = torch.empty(3, 4)
    evaluate(eight_bits_kernel, (1,), x, out, N=4)
    assert out[0].tolist() == [1.75, -1.75, 0.25, 896.0]
    assert same(out[1], x.view(torch.int32).float())
    assert out[2].tolist() == [2.0, 0.0, 2.0, 2.0]


@triton.jit
def libdevice_kernel(x_ptr, word_ptr, out_ptr, N: tl.constexpr):
    offs = tl.arange(0, N)
    x = tl.load(x_ptr + offs)
    word = libdevice.float2int_rn(x)
    tl.store(word_ptr + offs, word)
    tl.store(word_ptr + N + offs, libdevice.popc(word))
    tl.store(word_ptr + 2 * N + offs, libdevice.clz(word))
    tl.store(word_ptr + 3 * N + offs, libdevice.ffs(word))
    tl.store(word_ptr + 4 * N + offs, libdevice.float2int_rd(x))
    tl.store(out_ptr + offs, libdevice.normcdf(x))
    tl.store(out_ptr + N + offs, libdevice.erf(libdevice.erfinv(x / 32)) * 32)
    tl.store(out_ptr + 2 * N + offs, libdevice.int_as_float(libdevice.float_as_int(x)))
    tl.store(out_ptr + 3 * N + offs, tl.where(libdevice.isnan(x), 7.0, x))


def test_libdevice_converts_as_a_gpu_does():
    x = torch.tensor([12.0, -1.5, 2.5e10, torch.nan])
    words, out = torch.empty(5, 4, dtype=torch.int32), torch.empty(4, 4)
    evaluate(libdevice_kernel, (1,), x, words, out, N=4)
    most = 2**31 - 1
    rounded, cut = [12, -2, most, 0], [12, -2, most, 0]
    assert words.tolist() == [rounded, [2, 31, 31, 0], [28, 0, 1, 32], [3, 2, 1, 0], cut]
    normal = torch.special.ndtr(x)
    torch.testing.assert_close(out[0], normal, equal_nan=True)
    torch.testing.assert_close(out[1, :2], x[:2])
    assert same(out[2:], torch.stack([x, x.nan_to_num(7.0)]))


@triton.jit
def bessel_kernel(x_ptr):
    tl.store(x_ptr, libdevice.j0(tl.load(x_ptr)))


def test_a_function_of_libdevice_that_nobody_has_written_is_named():
    with pytest.raises(NotImplementedError, match="j0f is not evaluated"):
        evaluate(bessel_kernel, (1,), torch.zeros(1))
