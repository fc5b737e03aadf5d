"""8-bit floats and integers in the interpreter: casts, dots and what the compiler refuses of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.environments import plain
from tests.interpreter.fresh import REPO, interpreted

EVERY_FLOAT = """
from grader.interpreter import fp8

bits = torch.arange(-2**31, 2**31, 65537 * 3, dtype=torch.int64).to(torch.int32)
for dtype, torchs in ((tl.float8e4nv, torch.float8_e4m3fn), (tl.float8e5, torch.float8_e5m2)):
    codes = torch.arange(0x7F if dtype == tl.float8e4nv else 0x7C).to(torch.uint8).view(torchs).float()
    ties = (codes[1:] + codes[:-1]) / 2
    beside = [ties.nextafter(torch.tensor(to)) for to in (0.0, 1e9)]
    x = torch.cat([bits.view(torch.float32), codes, -codes, ties, -ties, *beside])
    want = x.clamp(-torch.finfo(torchs).max, torch.finfo(torchs).max).to(torchs).view(torch.uint8)
    mine = torch.from_numpy(fp8.narrow(x.numpy(), dtype))
    print(bool((mine == want)[~x.isnan()].all()), bool((mine == 0x7F)[x.isnan()].all()))
"""


def test_rounding_to_fp8_is_torchs_for_every_kind_of_number_and_cuts_what_is_too_large() -> None:
    assert interpreted(EVERY_FLOAT) == "True True\nTrue True\n"


KERNELS = """
@triton.jit
def cast(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs))

@triton.jit
def work(x_ptr, out_ptr, BLOCK: tl.constexpr, HOW: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < 30, other=0.0)
    if HOW == "+":
        x = x + x
    elif HOW == "<":
        x = tl.where(x < x, x, x)
    elif HOW == "max of two":
        x = tl.maximum(x, x)
    elif HOW == "sum":
        x += tl.sum(x, axis=0)
    elif HOW == "another":
        x = x.to(tl.float8e5)
    elif HOW == "integer":
        x = x.to(tl.int32)
    elif HOW == "of integer":
        x = offs.to(tl.float8e4nv)
    elif HOW == "abs":
        x = tl.abs(x)
    elif HOW == "max":
        x = tl.where(offs < 3, x, tl.max(x, axis=0).to(x.dtype))
    elif HOW == "fp32":
        x = x.to(tl.float32) * 2
    tl.store(out_ptr + offs, x.to(tl.float8e4nv))

repairs.install()
E4M3 = torch.float8_e4m3fn
x = torch.linspace(-30, 10, 32).to(E4M3)

def worked(how):
    out = torch.zeros(32).to(E4M3)
    try:
        work[(1,)](x, out, BLOCK=32, HOW=how)
    except Exception as error:
        return str(error.__cause__ or error)
    kept = torch.where(torch.arange(32) < 30, x.float(), 0.0)
    top = torch.where(torch.arange(32) < 3, kept, kept.max())
    right = {"abs": kept.abs(), "max": top, "fp32": 2 * kept}[how]
    return torch.equal(out.float(), right.to(E4M3).float())
"""


@pytest.mark.every_triton
def test_fp8_has_no_arithmetic_and_says_so() -> None:
    hows = ("+", "<", "max of two", "sum", "another", "integer", "of integer")
    told = interpreted(KERNELS + f"for how in {hows}: print(worked(how))").splitlines()
    refusal = "there is no arithmetic in fp8e4nv: convert to fp32 first, .to(tl.float32)"
    assert [refusal in line for line in told[:4]] == [True] * 4
    pairs = [("fp8e4nv", "fp8e5"), ("fp8e4nv", "int32"), ("int32", "fp8e4nv")]
    assert told[4:] == [f"cannot cast {a} to {b}: go by way of tl.float32" for a, b in pairs]


@pytest.mark.every_triton
def test_what_the_compiler_takes_of_fp8_is_right() -> None:
    assert (
        interpreted(KERNELS + "print([worked(how) for how in ('abs', 'max', 'fp32')])")
        == "[True, True, True]\n"
    )


@pytest.mark.every_triton
def test_a_store_into_an_fp8_tensor_rounds_whatever_float_it_is_handed() -> None:
    out = interpreted(
        KERNELS
        + """
for wide in (torch.float32, torch.float16, torch.bfloat16):
    x, out = torch.linspace(-600, 600, 256).to(wide), torch.zeros(256).to(E4M3)
    cast[(1,)](x, out, BLOCK=256)
    print(torch.equal(out.float(), x.float().clamp(-448, 448).to(E4M3).float()))
"""
    )
    assert out == "True\n" * 3


DOTS = """
@triton.jit
def multiply(a_ptr, b_ptr, out_ptr, k, HOW: tl.constexpr, MOST: tl.constexpr, M: tl.constexpr):
    offs_m, offs_n, offs_k = tl.arange(0, M), tl.arange(0, 16), tl.arange(0, 128)
    acc = tl.zeros((M, 16), tl.float32 if out_ptr.dtype.element_ty == tl.float32 else tl.int32)
    for start in range(0, k, 128):
        a = tl.load(a_ptr + offs_m[:, None] * k + start + offs_k[None, :])
        b = tl.load(b_ptr + offs_n[None, :] * k + start + offs_k[:, None])
        if HOW == "into":
            acc = tl.dot(a, b, acc, max_num_imprecise_acc=MOST, out_dtype=acc.dtype)
        else:
            acc += tl.dot(a, b, max_num_imprecise_acc=MOST)
    tl.store(out_ptr + offs_m[:, None] * 16 + offs_n[None, :], acc)

def product(a, b, how, most=None):
    out = torch.empty(len(a), len(b))
    multiply[(1,)](a, b, out, a.shape[1], HOW=how, MOST=most, M=len(a))
    return out

def drawn(m, k, dtype=torch.float8_e4m3fn):
    from_seed = torch.Generator().manual_seed(k)
    return [torch.rand(rows, k, generator=from_seed).add(0.5).to(dtype) for rows in (m, 16)]

def error(how, most=None, m=64, dtype=torch.float8_e4m3fn):
    a, b = drawn(m, 8192, dtype)
    out = product(a, b, how, most)
    exact = a.double() @ b.double().T
    return float((out - exact).norm() / exact.norm())

repairs.install()
"""


@pytest.mark.every_triton
@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_sums_of_fp8_products_are_imprecise_unless_they_are_promoted(dtype: str) -> None:
    tried = ("'into'", "'into', 128", "'into', 32", "'into', 0", "'add'", "'into', m=32")
    errors = ", ".join(f"error({one}, dtype=torch.{dtype})" for one in tried)
    out = interpreted(DOTS + f"print([{errors}])")
    cut, *promoted = eval(out)
    assert cut > 0.1
    assert max(promoted) < 1e-3


@pytest.mark.every_triton
def test_sums_of_fp8_products_are_those_of_an_h100_bit_for_bit() -> None:
    """By Triton 3.6 there, a block of 64 rows and 16 columns in sums of 1024: some, and their total."""
    out = interpreted(
        DOTS + "c = product(*drawn(64, 1024), 'into'); print(c[0, :4].tolist(), c.double().sum())"
    )
    assert out == ("[1017.625, 1007.0, 1022.875, 1024.75] tensor(1033097.4375, dtype=torch.float64)\n")


@pytest.mark.every_triton
def test_int8_products_are_added_up_exactly_in_int32() -> None:
    out = interpreted(
        DOTS
        + """
for how in ("into", "add"):
    a = torch.full((16, 65536), -128, dtype=torch.int8)
    a[:, 1::2] = torch.randint(-128, 128, (16, 32768))
    out = torch.empty(16, 16, dtype=torch.int32)
    multiply[(1,)](a, a, out, 65536, HOW=how, MOST=None, M=16)
    print(torch.equal(out.long(), a.long() @ a.long().T), bool((out > 2**24).all()))
try:
    multiply[(1,)](a, a, torch.empty(16, 16), 128, HOW="into", MOST=None, M=16)
except Exception as error:
    print(error.__cause__ or error)
"""
    )
    refusal = "tl.dot adds int8 products up in int32: acc and out_dtype must be tl.int32"
    assert out.splitlines() == ["True True", "True True", refusal]


COMPILED = """
import torch, triton, triton.language as tl
from triton.runtime import driver
from grader import datasheets
from grader.compiler.driver import Driver
from grader.compiler.recipe import Mock

@triton.jit
def kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs))

driver.set_active(Driver(datasheets.GPUS["h200"]))
for wide in (torch.float32, torch.float16, torch.bfloat16):
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        built = kernel.warmup(Mock(wide), Mock(dtype), BLOCK=256, grid=(1, 1, 1))
        built = built.result() if hasattr(built, "result") else built
        print("cvt.rn.satfinite.e" in built.asm["ptx"])
"""


def test_the_compiler_s_casts_to_fp8_cut_too_large_numbers_as_well(tmp_path: Path) -> None:
    (tmp_path / "compiled.py").write_text(COMPILED)
    done = subprocess.run(
        [sys.executable, tmp_path / "compiled.py"], env=plain(PYTHONPATH=str(REPO)), capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["True"] * 6, done.stderr
