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
    # TODO 1: store the mean of all n elements, from the sums of their parts. What is it if there are none?


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
    # TODO 2: absmax without the offset; what is left where no absmax is? store each row's largest magnitude.
    # TODO 3: what is left, over the scale of its row. What if that is 0?
    # TODO 4: store for each ratio its code: which of 256 ascending entries of the table is the nearest to it?


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
    # TODO 5: load the code of each row, and the scale that the row shares with others.
    # TODO 6: the absmax of each row.
    levels = table_of(LEVELS)
    high = tl.gather(levels, (packed >> 4).to(tl.int32), 0)
    low = tl.gather(levels, (packed & 0xF).to(tl.int32), 0)
    level = tl.reshape(tl.interleave(high, low), (ROWS, BLOCK))
    # TODO 7: store the level times the absmax of its row, rounded once.


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
