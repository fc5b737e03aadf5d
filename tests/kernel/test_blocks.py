"""What combines lanes or moves them: products, reductions, scans, and new places for them."""

from __future__ import annotations

import functools
import operator

import pytest
import torch
import triton
import triton.language as tl

from tests.kernel.evaluated import evaluate, same

pytestmark = pytest.mark.every_triton


@triton.jit
def dot_kernel(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, HOW: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.store(out_ptr + m[:, None] * N + n[None, :], tl.dot(a, b, input_precision=HOW))


def product(a: torch.Tensor, b: torch.Tensor, out: torch.dtype, how: str = "ieee") -> torch.Tensor:
    got = torch.empty(a.shape[0], b.shape[1], dtype=out)
    evaluate(dot_kernel, (1,), a, b, got, M=a.shape[0], N=b.shape[1], K=a.shape[1], HOW=how)
    return got


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float8_e5m2])
def test_a_dot_adds_up_in_fp32(dtype):
    torch.manual_seed(0)
    a, b = torch.randn(16, 32).to(dtype), torch.randn(32, 16).to(dtype)
    torch.testing.assert_close(product(a, b, torch.float32), a.float() @ b.float(), rtol=1e-5, atol=1e-5)


@triton.jit
def long_kernel(a_ptr, b_ptr, out_ptr, k, INTO: tl.constexpr, MOST: tl.constexpr, M: tl.constexpr):
    offs_m, offs_n, offs_k = tl.arange(0, M), tl.arange(0, 16), tl.arange(0, 128)
    acc = tl.zeros((M, 16), tl.float32 if out_ptr.dtype.element_ty == tl.float32 else tl.int32)
    for start in range(0, k, 128):
        a = tl.load(a_ptr + offs_m[:, None] * k + start + offs_k[None, :])
        b = tl.load(b_ptr + offs_n[None, :] * k + start + offs_k[:, None])
        if INTO:
            acc = tl.dot(a, b, acc, max_num_imprecise_acc=MOST, out_dtype=acc.dtype)
        else:
            acc += tl.dot(a, b, max_num_imprecise_acc=MOST)
    tl.store(out_ptr + offs_m[:, None] * 16 + offs_n[None, :], acc)


@pytest.mark.parametrize("into", [True, False])
def test_a_dot_of_int8_is_exact(into):
    a = torch.full((16, 16384), -128, dtype=torch.int8)
    a[:, ::2] = torch.randint(-128, 128, (16, 8192), generator=torch.Generator().manual_seed(0))
    out = torch.empty(16, 16, dtype=torch.int32)
    evaluate(long_kernel, (1,), a, a, out, a.shape[1], INTO=into, MOST=None, M=16)
    assert torch.equal(out.long(), a.long() @ a.long().T)
    assert (out > 2**24).all(), "or fp32 would be exact, too"


def eights(into: bool, most: int | None, m: int, k: int, dtype: torch.dtype) -> tuple[torch.Tensor, float]:
    """A product of fp8 matrices, and how far it is off."""
    rng = torch.Generator().manual_seed(k)
    a, b = [torch.rand(rows, k, generator=rng).add(0.5).to(dtype) for rows in (m, 16)]
    out, exact = torch.empty(m, 16), a.double() @ b.double().T
    evaluate(long_kernel, (1,), a, b, out, k, INTO=into, MOST=most, M=m)
    return out, float((out - exact).norm() / exact.norm())


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_sums_of_fp8_products_are_imprecise_unless_they_are_promoted(dtype):
    assert eights(True, None, 64, 8192, dtype)[1] > 0.1
    promoted = [(True, 128, 64), (True, 32, 64), (True, 0, 64), (False, None, 64), (True, None, 32)]
    assert max(eights(*how, 8192, dtype)[1] for how in promoted) < 1e-3


def test_sums_of_fp8_products_are_those_of_an_h100_bit_for_bit():
    """By Triton 3.6 there, a block of 64 rows and 16 columns in sums of 1024: some, and their total."""
    out, _ = eights(True, None, 64, 1024, torch.float8_e4m3fn)
    assert out[0, :4].tolist() == [1017.625, 1007.0, 1022.875, 1024.75]
    assert out.double().sum() == 1033097.4375


@triton.jit
def half_kernel(a_ptr, b_ptr, out_ptr, N: tl.constexpr):
    offs = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + offs, tl.dot(tl.load(a_ptr + offs), tl.load(b_ptr + offs), out_dtype=tl.float16))


def test_a_dot_whose_total_is_fp16_rounds_it_at_every_step():
    torch.manual_seed(0)
    a, b, out = torch.rand(64, 64).half(), torch.rand(64, 64).half(), torch.empty(64, 64)
    evaluate(half_kernel, (1,), a, b, out, N=64)
    exact = a.double() @ b.double()
    assert 1e-4 < (out - exact).norm() / exact.norm() < 5e-3


def test_tf32_keeps_ten_bits_and_ieee_all():
    a, b = torch.full((16, 16), 1 + 2.0**-12), torch.eye(16)
    assert product(a, b, torch.float32, "ieee")[0, 0] == 1 + 2.0**-12
    assert product(a, b, torch.float32, "tf32")[0, 0] == 1
    assert product(a, b, torch.float32, "tf32x3")[0, 0] == 1 + 2.0**-12


@triton.jit
def reduce_kernel(x_ptr, out_ptr, at_ptr, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :])
    tl.store(out_ptr + m, tl.sum(x, axis=1))
    tl.store(out_ptr + M + m, tl.max(x, axis=1))
    tl.store(out_ptr + 2 * M + m, tl.min(x, axis=1))
    tl.store(out_ptr + 3 * M + m, tl.zeros((M,), tl.float32) + tl.sum(x))
    tl.store(at_ptr + m, tl.argmax(x, axis=1))
    tl.store(at_ptr + M + m, tl.argmin(x, axis=1))
    tl.store(at_ptr + 2 * M + m, tl.xor_sum(n[None, :] + m[:, None] * 3, axis=1))


def test_reductions_go_along_their_axis_and_of_equals_the_first_wins():
    x = torch.randn(8, 32, generator=torch.Generator().manual_seed(0)).round()
    out, at = torch.empty(4, 8), torch.empty(3, 8, dtype=torch.int32)
    evaluate(reduce_kernel, (1,), x, out, at, M=8, N=32)
    assert same(out, torch.stack([x.sum(1), x.amax(1), x.amin(1), x.sum().expand(8)]))
    first = [
        [row.tolist().index(best) for row, best in zip(x, b, strict=True)] for b in (x.amax(1), x.amin(1))
    ]
    assert at[:2].tolist() == first
    assert at[2].tolist() == [
        functools.reduce(operator.xor, [n + 3 * m for n in range(32)]) for m in range(8)
    ]


@triton.jit
def after(a1, b1, a2, b2):
    """x → a1·x + b1, then a2·x + b2: whoever changes places gets another result."""
    return a1 * a2, b1 * a2 + b2


@triton.jit
def sum_and_most(a1, b1, a2, b2):
    return a1 + a2, tl.maximum(b1, b2)


@triton.jit
def pair_kernel(a_ptr, b_ptr, out_ptr, ends_ptr, N: tl.constexpr, BACK: tl.constexpr):
    n = tl.arange(0, N)
    a, b = tl.load(a_ptr + n), tl.load(b_ptr + n)
    x, y = tl.associative_scan((a, b), 0, after, reverse=BACK)
    tl.store(out_ptr + n, x)
    tl.store(out_ptr + N + n, y)
    total, most = tl.reduce((a, b), 0, sum_and_most)
    tl.store(ends_ptr, total)
    tl.store(ends_ptr + 1, most)


@pytest.mark.parametrize("back", [False, True])
def test_a_combiner_of_two_values_is_applied_in_order(back):
    a, b = torch.tensor([1.0, 2.0, -1.0, 3.0, 1.0, 2.0, 1.0, -2.0]), torch.arange(8.0)
    out, ends = torch.empty(2, 8), torch.empty(2)
    evaluate(pair_kernel, (1,), a, b, out, ends, N=8, BACK=back)
    x, y = 1.0, 0.0
    for n in reversed(range(8)) if back else range(8):
        x, y = x * float(a[n]), y * float(a[n]) + float(b[n])
        assert out[:, n].tolist() == [x, y]
    assert ends.tolist() == [7.0, 7.0]


@triton.jit
def scan_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    offs = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, tl.cumsum(x, axis=1))
    tl.store(out_ptr + M * N + offs, tl.cumsum(x, axis=0, reverse=True))
    tl.store(out_ptr + 2 * M * N + offs, tl.cumprod(x, axis=1))
    tl.store(out_ptr + 3 * M * N + offs, tl.sort(x, dim=1))
    tl.store(out_ptr + 4 * M * N + offs, tl.sort(x, dim=1, descending=True))
    tl.store(out_ptr + 5 * M * N + offs, tl.flip(x, dim=1))


def test_scans_sorts_and_flips_are_torchs():
    x = torch.randint(-2, 3, (4, 8), generator=torch.Generator().manual_seed(0)).float()
    out = torch.empty(6, 4, 8)
    evaluate(scan_kernel, (1,), x, out, M=4, N=8)
    wanted = [x.cumsum(1), x.flip(0).cumsum(0).flip(0), x.cumprod(1), x.sort(1).values]
    wanted += [x.sort(1, descending=True).values, x.flip(1)]
    assert same(out + 0.0, torch.stack(wanted) + 0.0)


@triton.jit
def places_kernel(x_ptr, at_ptr, out_ptr, bins_ptr, N: tl.constexpr):
    n, m = tl.arange(0, N), tl.arange(0, 2)
    x = tl.load(x_ptr + n)
    at = tl.load(at_ptr + n)
    tl.store(out_ptr + n, tl.gather(x, at, axis=0))
    even, odd = tl.split(tl.reshape(x, (N // 2, 2)))
    tl.store(out_ptr + N + n, tl.reshape(tl.join(odd, even), (N,)))
    tl.store(out_ptr + 2 * N + n, tl.reshape(tl.trans(tl.reshape(x, (N // 4, 4))), (N,)))
    tl.store(out_ptr + 3 * N + n, tl.reshape(tl.permute(tl.reshape(x, (2, N // 4, 2)), (2, 0, 1)), (N,)))
    tl.store(
        out_ptr + 4 * N + n,
        tl.interleave(even, odd) + tl.reshape(tl.broadcast_to(m[:, None], (2, N // 2)), (N,)),
    )
    tl.store(out_ptr + 5 * N + n, tl.cat(odd, odd, can_reorder=True))
    tl.store(bins_ptr + n, tl.histogram(at, N, mask=n < N - 1))


def test_lanes_go_where_they_are_sent():
    x, at = (
        torch.arange(16.0),
        torch.tensor([3, 3, 0, 15, 1, 1, 1, 2, 9, 8, 7, 6, 5, 5, 5, 5], dtype=torch.int32),
    )
    out, bins = torch.empty(6, 16), torch.empty(16, dtype=torch.int32)
    evaluate(places_kernel, (1,), x, at, out, bins, N=16)
    wanted = [x[at.long()], x.view(8, 2).flip(1).reshape(-1), x.view(4, 4).T.reshape(-1)]
    wanted += [x.view(2, 4, 2).permute(2, 0, 1).reshape(-1), x + torch.arange(2).repeat_interleave(8)]
    wanted += [x[1::2].repeat(2)]
    assert same(out, torch.stack(wanted))
    assert bins.tolist() == torch.bincount(at[:15], minlength=16).tolist()


@triton.jit
def random_kernel(out_ptr, word_ptr, seed, first, N: tl.constexpr):
    n = tl.arange(0, N)
    tl.store(out_ptr + n, tl.rand(seed, first + n))
    a, b, c, d = tl.randint4x(seed, first + n)
    tl.store(word_ptr + n, a)
    tl.store(word_ptr + N + n, b)
    tl.store(word_ptr + 2 * N + n, c)
    tl.store(word_ptr + 3 * N + n, d)


def philox(seed: int, offset: int) -> list[int]:
    """Philox 4x32-10, by the paper (Salmon et al., 2011)."""
    c, k = [offset % 2**32, offset >> 32, 0, 0], [seed % 2**32, seed >> 32]
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [b >> 32 ^ c[1] ^ k[0], b % 2**32, a >> 32 ^ c[3] ^ k[1], a % 2**32]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


@pytest.mark.parametrize("first", [0, 2**33 + 5])
def test_random_numbers_are_philoxs(first):
    out, words = torch.empty(64), torch.empty(4, 64, dtype=torch.int32)
    evaluate(random_kernel, (1,), out, words, 1234567, first, N=64)
    wanted = torch.tensor([philox(1234567, first + n) for n in range(64)]).to(torch.int32).T
    assert torch.equal(words, wanted)
    assert same(out, torch.where(wanted[0] < 0, -wanted[0] - 1, wanted[0]).float() * 4.6566127342e-10)
