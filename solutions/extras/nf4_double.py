"""Extra: double quantisation, absmax of NF4 into codes of 8 bits, and with them weights back to fp16."""

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
def table_of(VALUES: tl.constexpr):
    """VALUES, sixteen of them, as a tensor fp32 [16] that tl.gather looks up in."""
    at = tl.arange(0, 16)
    table = tl.zeros((16,), tl.float32)
    for i in tl.static_range(16):
        table = tl.where(at == i, VALUES[i], table)
    return table


@triton.jit
def sum_kernel(x_ptr, part_ptr, n, BLOCK: tl.constexpr):
    """Part pid: the sum of BLOCK elements of x."""
    # 64 bits: n may pass 2**31.
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(part_ptr + tl.program_id(0), tl.sum(x, axis=0))


@triton.jit
def mean_kernel(part_ptr, mean_ptr, n_parts, n, BLOCK: tl.constexpr):
    """The sum of all parts over n, by one program."""
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_parts, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(part_ptr + offs, mask=offs < n_parts, other=0.0)
    # 0 / 0 is NaN, the mean of nothing.
    tl.store(mean_ptr, tl.sum(acc, axis=0) / n)


@triton.jit
def codes_kernel(
    absmax_ptr,
    table_ptr,
    codes_ptr,
    scales_ptr,
    offset_ptr,
    n,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
):
    """The codes and the scales of ROWS blocks of absmax, by a table of 256 entries."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    offs = rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = offs < n
    offset = tl.load(offset_ptr)
    # What is not there may not count: no `other` can be the offset, so the difference is made 0.
    rest = tl.where(mask, tl.load(absmax_ptr + offs, mask=mask, other=0.0) - offset, 0.0)
    scale = tl.max(tl.abs(rest), axis=1)
    tl.store(scales_ptr + rows, scale, mask=rows * BLOCK < n)
    # 0 / 1 is 0, whose nearest entry is looked for, where 0 / 0 would be NaN.
    ratio = rest / tl.where(scale > 0, scale, 1.0)[:, None]
    # Binary search: the code is how many edges lie below, and an edge halfway between two entries.
    code = tl.zeros((ROWS, BLOCK), tl.int32)
    for bit in tl.static_range(8):
        step = 128 >> bit
        entry_ptrs = table_ptr + code + step
        edge = (tl.load(entry_ptrs - 1) + tl.load(entry_ptrs)) / 2
        code += tl.where(ratio > edge, step, 0)
    tl.store(codes_ptr + offs, code.to(tl.uint8), mask=mask)


@triton.jit
def dequantize_kernel(
    packed_ptr,
    codes_ptr,
    table_ptr,
    scales_ptr,
    offset_ptr,
    y_ptr,
    n,
    n_bytes,
    LEVELS: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCK2: tl.constexpr,
    ROWS: tl.constexpr,
):
    """ROWS blocks of y: a level times the absmax of its block, which is a code itself."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    offs_byte = rows[:, None] * (BLOCK // 2) + tl.arange(0, BLOCK // 2)[None, :]
    # Triton knows that 16 divides n_bytes, so 16 bytes are one load with one mask.
    packed = tl.ravel(tl.load(packed_ptr + offs_byte, mask=offs_byte < n_bytes, other=0))
    # A byte a block of weights, and 4 bytes for BLOCK2 such blocks. The table is 1 KiB, and stays in L1. One
    # load waits for another: they begin here, and not behind the look-ups, where nothing would hide them.
    there = rows * BLOCK < n
    code = tl.load(codes_ptr + rows, mask=there, other=0).to(tl.int32)
    scale = tl.load(scales_ptr + rows // BLOCK2, mask=there, other=0.0)
    absmax = tl.load(table_ptr + code) * scale + tl.load(offset_ptr)
    levels = table_of(LEVELS)
    high = tl.gather(levels, (packed >> 4).to(tl.int32), 0)
    low = tl.gather(levels, (packed & 0xF).to(tl.int32), 0)
    level = tl.reshape(tl.interleave(high, low), (ROWS, BLOCK))
    # All in fp32; the only rounding is that to fp16, in the store.
    offs = rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(y_ptr + offs, level * absmax[:, None], mask=offs < n)


def quantize_absmax(
    absmax: torch.Tensor, table: torch.Tensor, block: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return codes uint8 [n] of absmax fp32 [n], scales fp32 [cdiv(n, block)], and their offset fp32 [1]."""
    n = absmax.numel()
    codes = torch.empty(n, dtype=torch.uint8, device=absmax.device)
    scales = torch.empty(triton.cdiv(n, block), dtype=torch.float32, device=absmax.device)
    offset = torch.empty(1, dtype=torch.float32, device=absmax.device)
    tiles = triton.cdiv(n, ELEMENTS)
    part = torch.empty(tiles, dtype=torch.float32, device=absmax.device)
    sum_kernel[(tiles,)](absmax, part, n, BLOCK=ELEMENTS)
    mean_kernel[(1,)](part, offset, tiles, n, BLOCK=1024)
    codes_kernel[(tiles,)](absmax, table, codes, scales, offset, n, BLOCK=block, ROWS=ELEMENTS // block)
    return codes, scales, offset


def nf4_double_dequantize(
    packed: torch.Tensor,
    codes: torch.Tensor,
    table: torch.Tensor,
    scales: torch.Tensor,
    offset: torch.Tensor,
    n: int,
    block: int,
    block2: int,
) -> torch.Tensor:
    """Return the fp16 [n] that packed uint8 [(n + 1) // 2] stands for, its absmax being codes themselves."""
    y = torch.empty(n, dtype=torch.float16, device=packed.device)
    grid = (triton.cdiv(n, ELEMENTS),)
    dequantize_kernel[grid](
        packed,
        codes,
        table,
        scales,
        offset,
        y,
        n,
        len(packed),
        LEVELS=LEVELS,
        BLOCK=block,
        BLOCK2=block2,
        ROWS=ELEMENTS // block,
        num_warps=4,
    )
    return y
