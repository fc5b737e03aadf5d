"""Extra: NF4, sixteen levels of 4 bits and a scale a block: into it, and back to fp16."""

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
    x_ptr, packed_ptr, absmax_ptr, n, n_bytes, EDGES: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr
):
    """The bytes and the absmax of ROWS blocks; EDGES are the 15 numbers between the levels."""
    # TODO 1: load ROWS blocks of x, as rows. What may lanes past n hold?
    # TODO 2: the largest |x| of each row, stored; and x over it. What if it is 0?
    # TODO 3: the code of each ratio: how many of EDGES lie below it? table_of and tl.gather look numbers up.
    # TODO 4: two codes to a byte, the first one in the high half; n_bytes of them are there.


@triton.jit
def dequantize_kernel(
    packed_ptr, absmax_ptr, y_ptr, n, n_bytes, LEVELS: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr
):
    """ROWS blocks of y: a level times the absmax of its block."""
    # TODO 5: load the bytes of ROWS blocks, and the absmax of each.
    # TODO 6: look up the levels of both halves, and put them side by side again.
    # TODO 7: the level times the absmax of its block, rounded once.


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
