"""Dequantising writes each level as fp32, and a second kernel scales what the first one wrote."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# Sixteen quantiles of a normal distribution, 0 and both ends among them. Each is an fp32 number exactly.
LEVELS = (
    -1.0,
    -0.6961928009986877,
    -0.5250730514526367,
    -0.39491748809814453,
    -0.28444138169288635,
    -0.18477343022823334,
    -0.09105003625154495,
    0.0,
    0.07958029955625534,
    0.16093020141124725,
    0.24611230194568634,
    0.33791524171829224,
    0.44070982933044434,
    0.5626170039176941,
    0.7229568362236023,
    1.0,
)
ELEMENTS = 4096  # of a program: whole blocks, of which the largest has as many


@triton.jit
def table_of(VALUES: tl.constexpr, COUNT: tl.constexpr):
    """VALUES, COUNT of them and at most 16, as a tensor fp32 [16] that tl.gather looks up in."""
    at = tl.arange(0, 16)
    table = tl.zeros((16,), tl.float32)
    for i in tl.static_range(COUNT):
        table = tl.where(at == i, VALUES[i], table)
    return table


@triton.jit
def quantize_kernel(
    x_ptr, packed_ptr, absmax_ptr, n, EDGES: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr
):
    """The bytes and the absmax of ROWS blocks; EDGES are the 15 numbers between the levels."""
    # 64 bits: n may pass 2**31.
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    offs = rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    # 2 bytes an element of fp16, the only read. A 0 is never the largest of a block.
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)
    absmax = tl.max(tl.abs(x), axis=1)
    tl.store(absmax_ptr + rows, absmax, mask=rows * BLOCK < n)
    # 0 / 1 is 0, which is level 7, where 0 / 0 would be NaN and no level at all.
    ratio = tl.ravel(x / tl.where(absmax > 0, absmax, 1.0)[:, None])
    edges = table_of(EDGES, 15)
    # Binary search: the code is how many edges lie below. Four look-ups an element, and not fifteen.
    code = tl.zeros((ROWS * BLOCK,), tl.int32)
    for bit in tl.static_range(4):
        step = 8 >> bit
        code += tl.where(ratio > tl.gather(edges, code + (step - 1), 0), step, 0)
    high, low = tl.split(tl.reshape(code, (ROWS, BLOCK // 2, 2)))
    offs_byte = rows[:, None] * (BLOCK // 2) + tl.arange(0, BLOCK // 2)[None, :]
    # Half a byte an element.
    tl.store(packed_ptr + offs_byte, ((high << 4) | low).to(tl.uint8), mask=2 * offs_byte < n)


def nf4_quantize(x: torch.Tensor, block: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return codes of x[n], uint8 [(n + 1) // 2], and max |x| of each block, fp32 [cdiv(n, block)]."""
    n = x.numel()
    packed = torch.empty(triton.cdiv(n, 2), dtype=torch.uint8, device=x.device)
    absmax = torch.empty(triton.cdiv(n, block), dtype=torch.float32, device=x.device)
    EDGES = tuple((LEVELS[i] + LEVELS[i + 1]) / 2 for i in range(15))
    grid = (triton.cdiv(n, ELEMENTS),)
    quantize_kernel[grid](x, packed, absmax, n, EDGES=EDGES, BLOCK=block, ROWS=ELEMENTS // block, num_warps=4)
    return packed, absmax


@triton.jit
def level_kernel(packed_ptr, level_ptr, n, LEVELS: tl.constexpr, SIZE: tl.constexpr):
    """Half a byte in, 4 bytes out."""
    offs = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    packed = tl.load(packed_ptr + offs, mask=2 * offs < n, other=0)
    levels = table_of(LEVELS, 16)
    high = tl.gather(levels, (packed >> 4).to(tl.int32), 0)
    low = tl.gather(levels, (packed & 0xF).to(tl.int32), 0)
    at = tl.program_id(0).to(tl.int64) * 2 * SIZE + tl.arange(0, 2 * SIZE)
    tl.store(level_ptr + at, tl.interleave(high, low), mask=at < n)


@triton.jit
def scale_kernel(level_ptr, absmax_ptr, out_ptr, n, BLOCK: tl.constexpr, SIZE: tl.constexpr):
    """4 bytes in, 4 out."""
    offs = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    level = tl.load(level_ptr + offs, mask=offs < n, other=0.0)
    absmax = tl.load(absmax_ptr + offs // BLOCK, mask=offs < n, other=0.0)
    tl.store(out_ptr + offs, level * absmax, mask=offs < n)


def nf4_dequantize(packed: torch.Tensor, absmax: torch.Tensor, n: int, block: int) -> torch.Tensor:
    level = torch.empty(n, dtype=torch.float32, device=packed.device)
    y = torch.empty(n, dtype=torch.float16, device=packed.device)
    level_kernel[(triton.cdiv(n, 4096),)](packed, level, n, LEVELS=LEVELS, SIZE=2048)
    scale_kernel[(triton.cdiv(n, 4096),)](level, absmax, y, n, BLOCK=block, SIZE=4096)
    return y
