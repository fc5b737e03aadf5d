"""What the evaluation takes from the compiler for an sm_90: read off the PTX that it writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime import driver

from grader import datasheets
from grader.performance.compiler.fake_driver import Driver
from grader.performance.compiler.recipe import Mock

pytestmark = pytest.mark.every_triton


@pytest.fixture(autouse=True)
def _h200() -> Iterator[None]:
    before = driver._active
    driver.set_active(Driver(datasheets.GPUS["h200"]))
    yield
    driver._active = before


def ptx(kernel: Any, *args: Any) -> str:
    built = kernel.warmup(*args, BLOCK=256, grid=(1, 1, 1))
    return (built.result() if hasattr(built, "result") else built).asm["ptx"]


@triton.jit
def cast_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs))


@pytest.mark.parametrize("wide", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("narrow", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_a_cast_to_fp8_cuts_what_is_too_large(wide, narrow):
    assert "cvt.rn.satfinite.e" in ptx(cast_kernel, Mock(wide), Mock(narrow))


@triton.jit
def tail_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(y_ptr, tl.sum(tl.load(x_ptr + offs, mask=offs < n).to(tl.float32), axis=0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64])
def test_a_lane_that_a_mask_holds_back_is_0_where_no_other_is_named(dtype):
    """Triton promises nothing of it. But a kernel that takes it for 0 is right on a GPU, so it is here."""
    text = ptx(tail_kernel, Mock(dtype), Mock(torch.float32), 100)
    loads = re.findall(r"@%p\d+ ld\.global\.\S+ \{ ([^}]*) \}", text)
    registers = [register.strip() for load in loads for register in load.split(",")]
    assert registers
    assert all(re.search(rf"mov\.[bu](16|32|64)\s+{register}, 0x0;", text) for register in registers)
