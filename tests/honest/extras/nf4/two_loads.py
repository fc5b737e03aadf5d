"""Even and odd elements are loaded one after the other, as who wants two halves of a byte may do."""

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
def code_of(ratio, edges):
    """How many edges lie below each ratio of a tile."""
    flat = tl.ravel(ratio)
    code = tl.zeros(flat.shape, tl.int32)
    for bit in tl.static_range(4):
        step = 8 >> bit
        code += tl.where(flat > tl.gather(edges, code + (step - 1), 0), step, 0)
    return tl.reshape(code, ratio.shape)


@triton.jit
def quantize_kernel(
    x_ptr, packed_ptr, absmax_ptr, n, n_bytes, EDGES: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr
):
    """The bytes and the absmax of ROWS blocks; EDGES are the 15 numbers between the levels."""
    # 64 bits: n may pass 2**31.
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    pair = rows[:, None] * (BLOCK // 2) + tl.arange(0, BLOCK // 2)[None, :]
    # Each leaves every second element of a sector to the other, which finds it in L1.
    high = tl.load(x_ptr + 2 * pair, mask=2 * pair < n, other=0.0).to(tl.float32)
    low = tl.load(x_ptr + 2 * pair + 1, mask=2 * pair + 1 < n, other=0.0).to(tl.float32)
    absmax = tl.maximum(tl.max(tl.abs(high), axis=1), tl.max(tl.abs(low), axis=1))
    tl.store(absmax_ptr + rows, absmax, mask=rows * BLOCK < n)
    absmax = tl.where(absmax > 0, absmax, 1.0)[:, None]
    edges = table_of(EDGES, 15)
    byte = (code_of(high / absmax, edges) << 4) | code_of(low / absmax, edges)
    tl.store(packed_ptr + pair, byte.to(tl.uint8), mask=pair < n_bytes)


@triton.jit
def dequantize_kernel(
    packed_ptr, absmax_ptr, y_ptr, n, n_bytes, LEVELS: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr
):
    """ROWS blocks of y: a level times the absmax of its block."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    offs_byte = rows[:, None] * (BLOCK // 2) + tl.arange(0, BLOCK // 2)[None, :]
    packed = tl.ravel(tl.load(packed_ptr + offs_byte, mask=offs_byte < n_bytes, other=0))
    absmax = tl.load(absmax_ptr + rows, mask=rows * BLOCK < n, other=0.0)
    levels = table_of(LEVELS, 16)
    high = tl.gather(levels, (packed >> 4).to(tl.int32), 0)
    low = tl.gather(levels, (packed & 0xF).to(tl.int32), 0)
    # Levels and products in fp32; the only rounding is that to fp16, in the store.
    y = tl.reshape(tl.interleave(high, low), (ROWS, BLOCK)) * absmax[:, None]
    offs = rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(y_ptr + offs, y, mask=offs < n)


def nf4_quantize(x: torch.Tensor, block: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return codes of x[n], uint8 [(n + 1) // 2], and max |x| of each block, fp32 [cdiv(n, block)]."""
    n = x.numel()
    packed = torch.empty(triton.cdiv(n, 2), dtype=torch.uint8, device=x.device)
    absmax = torch.empty(triton.cdiv(n, block), dtype=torch.float32, device=x.device)
    EDGES = tuple((LEVELS[i] + LEVELS[i + 1]) / 2 for i in range(15))
    grid = (triton.cdiv(n, ELEMENTS),)
    quantize_kernel[grid](
        x, packed, absmax, n, len(packed), EDGES=EDGES, BLOCK=block, ROWS=ELEMENTS // block, num_warps=4
    )
    return packed, absmax


def nf4_dequantize(packed: torch.Tensor, absmax: torch.Tensor, n: int, block: int) -> torch.Tensor:
    """Return the fp16 [n] that packed uint8 [(n + 1) // 2] and absmax fp32 [cdiv(n, block)] stand for."""
    y = torch.empty(n, dtype=torch.float16, device=packed.device)
    grid = (triton.cdiv(n, ELEMENTS),)
    dequantize_kernel[grid](
        packed, absmax, y, n, len(packed), LEVELS=LEVELS, BLOCK=block, ROWS=ELEMENTS // block, num_warps=4
    )
    return y
