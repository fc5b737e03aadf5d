"""The mean by atomic sums; the distance to every entry in turn; back a lane a weight, tables in memory."""

import torch
import triton
import triton.language as tl

NF4 = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635]
NF4 += [-0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725]
NF4 += [0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941]
NF4 += [0.7229568362236023, 1.0]


@triton.jit
def add_up(A, M, N, LANES: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * LANES + tl.arange(0, LANES)
    tl.atomic_add(M, tl.sum(tl.load(A + i, i < N, 0.0), 0) / N)


@triton.jit
def encode(A, T, Q, S, M, N, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    i = row * BLOCK + tl.arange(0, BLOCK)[None, :]
    mean = tl.load(M)
    a = tl.load(A + i, i < N, 0.0)
    a = tl.where(i < N, a, mean) - mean
    s = tl.max(tl.maximum(a, -a), 1, keep_dims=True)
    a = a * tl.where(s == 0, 0.0, 1 / s)
    code = tl.zeros_like(a).to(tl.int32)
    nearest = tl.abs(a - tl.load(T))
    for entry in range(1, 256):
        away = tl.abs(a - tl.load(T + entry))
        code = tl.where(away < nearest, entry, code)
        nearest = tl.minimum(nearest, away)
    tl.store(Q + i, code.to(tl.uint8), i < N)
    tl.store(S + row, s, row < (N + BLOCK - 1) // BLOCK)


@triton.jit
def decode(P, Q, T, S, M, L, Y, N, BLOCK: tl.constexpr, BLOCK2: tl.constexpr, LANES: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * LANES + tl.arange(0, LANES)
    byte = tl.load(P + i // 2, i < N, 0).to(tl.int32)
    level = tl.load(L + tl.where(i % 2 == 0, byte // 16, byte % 16))
    entry = tl.load(T + tl.load(Q + i // BLOCK, i < N, 0).to(tl.int32))
    a = entry * tl.load(S + i // (BLOCK * BLOCK2), i < N, 0.0) + tl.load(M)
    tl.store(Y + i, (level * a).to(tl.float16), i < N)


def quantize_absmax(absmax, table, block):
    n = len(absmax)
    codes = torch.empty(n, dtype=torch.uint8, device=absmax.device)
    scales = absmax.new_empty((n + block - 1) // block)
    if n == 0:
        return codes, scales, absmax.new_full((1,), float("nan"))
    offset = absmax.new_zeros(1)
    add_up[(triton.cdiv(n, 1024),)](absmax, offset, n, LANES=1024)
    rows = max(1024 // block, 1)
    encode[(triton.cdiv(len(scales), rows),)](absmax, table, codes, scales, offset, n, BLOCK=block, ROWS=rows)
    return codes, scales, offset


def nf4_double_dequantize(packed, codes, table, scales, offset, n, block, block2):
    levels = torch.tensor(NF4, device=packed.device)
    y = torch.empty(n, dtype=torch.float16, device=packed.device)
    if n:
        decode[(triton.cdiv(n, 1024),)](
            packed, codes, table, scales, offset, levels, y, n, BLOCK=block, BLOCK2=block2, LANES=1024
        )
    return y
