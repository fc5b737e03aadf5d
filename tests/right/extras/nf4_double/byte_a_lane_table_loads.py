"""Double quantisation: a persistent mean, codes by a binary search in memory, a lane a byte; int32."""

import torch
import triton
import triton.language as tl

NF4 = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
    -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
    0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
    0.7229568362236023, 1.0,
)  # fmt: skip


@triton.jit
def partial_sums(x_ptr, part_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in tl.range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        offs = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(part_ptr + tl.program_id(0), tl.sum(acc, axis=0))


@triton.jit
def finish_mean(part_ptr, mean_ptr, n, PARTS: tl.constexpr):
    total = tl.sum(tl.load(part_ptr + tl.arange(0, PARTS)), axis=0)
    tl.store(mean_ptr, total / n)


@triton.jit
def encode(
    absmax_ptr, table_ptr, mean_ptr, codes_ptr, scales_ptr, n, BLOCK: tl.constexpr, ROWS: tl.constexpr
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    offs = rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = offs < n
    x = tl.load(absmax_ptr + offs, mask=mask, other=0.0) - tl.load(mean_ptr)
    x = tl.where(mask, x, 0.0)
    scale = tl.max(tl.abs(x), axis=1)
    tl.store(scales_ptr + rows, scale, mask=rows * BLOCK < n)
    ratio = x / tl.where(scale > 0, scale, 1.0)[:, None]
    lo = tl.zeros((ROWS, BLOCK), tl.int32)
    for i in tl.static_range(8):
        mid = lo + (128 >> i)
        edge = 0.5 * (tl.load(table_ptr + mid - 1) + tl.load(table_ptr + mid))
        lo = tl.where(ratio > edge, mid, lo)
    tl.store(codes_ptr + offs, lo.to(tl.uint8), mask=mask)


@triton.jit
def decode(
    packed_ptr, codes_ptr, table_ptr, scales_ptr, mean_ptr, nf4_ptr, out_ptr, n, n_bytes,
    BLOCK: tl.constexpr, BLOCK2: tl.constexpr, BYTES: tl.constexpr,
):  # fmt: skip
    offs = tl.program_id(0) * BYTES + tl.arange(0, BYTES)
    mask = offs < n_bytes
    byte = tl.load(packed_ptr + offs, mask=mask, other=0)
    group = offs // (BLOCK // 2)
    code = tl.load(codes_ptr + group, mask=mask, other=0).to(tl.int32)
    scale = tl.load(scales_ptr + group // BLOCK2, mask=mask, other=0.0)
    absmax = tl.load(table_ptr + code) * scale + tl.load(mean_ptr)
    high = tl.load(nf4_ptr + (byte >> 4).to(tl.int32)) * absmax
    low = tl.load(nf4_ptr + (byte & 15).to(tl.int32)) * absmax
    out = tl.interleave(high, low).to(tl.float16)
    offs_out = tl.program_id(0) * BYTES * 2 + tl.arange(0, BYTES * 2)
    tl.store(out_ptr + offs_out, out, mask=offs_out < n)


def quantize_absmax(absmax, table, block):
    n = absmax.numel()
    codes = torch.empty(n, dtype=torch.uint8, device=absmax.device)
    scales = torch.empty(triton.cdiv(n, block), dtype=torch.float32, device=absmax.device)
    mean = torch.empty(1, dtype=torch.float32, device=absmax.device)
    parts = torch.empty(256, dtype=torch.float32, device=absmax.device)
    partial_sums[(256,)](absmax, parts, n, BLOCK=1024)
    finish_mean[(1,)](parts, mean, n, PARTS=256)
    rows = max(2048 // block, 1)
    encode[(triton.cdiv(scales.numel(), rows),)](
        absmax, table, mean, codes, scales, n, BLOCK=block, ROWS=rows
    )
    return codes, scales, mean


def nf4_double_dequantize(packed, codes, table, scales, offset, n, block, block2):
    out = torch.empty(n, dtype=torch.float16, device=packed.device)
    nf4 = torch.tensor(NF4, dtype=torch.float32, device=packed.device)
    decode[(triton.cdiv(packed.numel(), 1024),)](
        packed,
        codes,
        table,
        scales,
        offset,
        nf4,
        out,
        n,
        packed.numel(),
        BLOCK=block,
        BLOCK2=block2,
        BYTES=1024,
    )
    return out
