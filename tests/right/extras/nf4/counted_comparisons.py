"""NF4 as bitsandbytes has it: rows of blocks, codes by counted comparisons, levels from memory; int32.

May have limits.
"""

from itertools import pairwise

import torch
import triton
import triton.language as tl

NF4 = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
    -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
    0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
    0.7229568362236023, 1.0,
)  # fmt: skip
EDGES = tuple((a + b) / 2 for a, b in pairwise(NF4))


@triton.jit
def quantize_nf4_blockwise(
    A_ptr, absmax_ptr, out_ptr, n_elements, n_bytes, EDGES: tl.constexpr,
    QUANT_BLOCK: tl.constexpr, SPLIT_NUM_BLOCKS: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(axis=0)
    rows = pid * SPLIT_NUM_BLOCKS + tl.arange(0, SPLIT_NUM_BLOCKS)
    offsets = rows[:, None] * QUANT_BLOCK + tl.arange(0, QUANT_BLOCK)[None, :]
    A = tl.load(A_ptr + offsets, mask=offsets < n_elements, other=0.0).to(tl.float32)
    absmax = tl.max(tl.abs(A), axis=1)
    tl.store(absmax_ptr + rows, absmax, mask=rows < tl.cdiv(n_elements, QUANT_BLOCK))
    A_normalized = A / tl.where(absmax == 0, 1.0, absmax)[:, None]
    codes = tl.zeros((SPLIT_NUM_BLOCKS, QUANT_BLOCK), dtype=tl.int32)
    for i in tl.static_range(15):
        codes += (A_normalized > EDGES[i]).to(tl.int32)
    left, right = tl.reshape(codes, (SPLIT_NUM_BLOCKS, QUANT_BLOCK // 2, 2)).split()
    packed = (left << 4) | right
    out_offsets = rows[:, None] * (QUANT_BLOCK // 2) + tl.arange(0, QUANT_BLOCK // 2)[None, :]
    tl.store(out_ptr + out_offsets, packed.to(tl.uint8), mask=out_offsets < n_bytes)


@triton.jit
def dequantize_nf4(
    packed_ptr,
    absmax_ptr,
    code_ptr,
    out_ptr,
    n_elements,
    n_bytes,
    QUANT_BLOCK: tl.constexpr,
    BLOCK: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    packed = tl.load(packed_ptr + offs, mask=offs < n_bytes, other=0)
    absmax = tl.load(absmax_ptr + offs // (QUANT_BLOCK // 2), mask=offs < n_bytes, other=0.0)
    high = tl.load(code_ptr + (packed >> 4)) * absmax
    low = tl.load(code_ptr + (packed & 0xF)) * absmax
    out_offs = pid * BLOCK * 2 + tl.arange(0, BLOCK * 2)
    tl.store(out_ptr + out_offs, tl.interleave(high, low).to(tl.float16), mask=out_offs < n_elements)


def nf4_quantize(x, block):
    n = x.numel()
    n_blocks = triton.cdiv(n, block)
    absmax = torch.empty(n_blocks, device=x.device, dtype=torch.float32)
    out = torch.empty((n + 1) // 2, device=x.device, dtype=torch.uint8)
    split_num_blocks = max(2048 // block, 1)
    grid = (triton.cdiv(n_blocks, split_num_blocks),)
    quantize_nf4_blockwise[grid](
        x, absmax, out, n, out.numel(), EDGES=EDGES, QUANT_BLOCK=block, SPLIT_NUM_BLOCKS=split_num_blocks
    )
    return out, absmax


def nf4_dequantize(packed, absmax, n, block):
    out = torch.empty(n, dtype=torch.float16, device=packed.device)
    code = torch.tensor(NF4, dtype=torch.float32, device=packed.device)
    dequantize_nf4[(triton.cdiv(packed.numel(), 2048),)](
        packed, absmax, code, out, n, packed.numel(), QUANT_BLOCK=block, BLOCK=2048, num_warps=8
    )
    return out
