"""absmax first, by a kernel of its own; then a lane a byte: a tree of choices, and back a table in memory."""

import itertools

import torch
import triton
import triton.language as tl

TABLE = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635]
TABLE += [-0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725]
TABLE += [0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941]
TABLE += [0.7229568362236023, 1.0]


@triton.jit
def largest(X, A, N, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = row[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(X + at, at < N, 0).to(tl.float32)
    tl.store(A + row, tl.max(tl.maximum(x, -x), 1), row < (N + BLOCK - 1) // BLOCK)


@triton.jit
def code_of(s, E: tl.constexpr):
    """A tree of four questions, of which each picks the next edge."""
    top = s > E[7]
    second = s > tl.where(top, E[11], E[3])
    third = s > tl.where(top, tl.where(second, E[13], E[9]), tl.where(second, E[5], E[1]))
    left = tl.where(second, tl.where(third, E[6], E[4]), tl.where(third, E[2], E[0]))
    right = tl.where(second, tl.where(third, E[14], E[12]), tl.where(third, E[10], E[8]))
    last = s > tl.where(top, right, left)
    return 8 * top.to(tl.int32) + 4 * second.to(tl.int32) + 2 * third.to(tl.int32) + last.to(tl.int32)


@triton.jit
def encode(X, A, P, N, E: tl.constexpr, BLOCK: tl.constexpr, LANES: tl.constexpr):
    byte = tl.program_id(0).to(tl.int64) * LANES + tl.arange(0, LANES)
    first, second = 2 * byte, 2 * byte + 1
    a = tl.load(A + first // BLOCK, first < N, 1.0)
    inverse = tl.where(a == 0, 0.0, 1 / a)
    x = tl.load(X + first, first < N, 0).to(tl.float32)
    y = tl.load(X + second, second < N, 0).to(tl.float32)
    tl.store(P + byte, (code_of(x * inverse, E) * 16 + code_of(y * inverse, E)).to(tl.uint8), first < N)


@triton.jit
def decode(P, A, T, Y, N, BLOCK: tl.constexpr, LANES: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * LANES + tl.arange(0, LANES)
    byte = tl.load(P + i // 2, i < N, 0).to(tl.int32)
    code = tl.where(i % 2 == 0, byte // 16, byte % 16)
    a = tl.load(A + i // BLOCK, i < N, 0)
    tl.store(Y + i, (tl.load(T + code) * a).to(tl.float16), i < N)


def nf4_quantize(x, block):
    n = len(x)
    middle = tuple((a + b) / 2 for a, b in itertools.pairwise(TABLE))
    absmax = torch.empty((n + block - 1) // block, device=x.device)
    packed = torch.empty((n + 1) // 2, dtype=torch.uint8, device=x.device)
    if n:
        largest[(triton.cdiv(n, 4096),)](x, absmax, n, BLOCK=block, ROWS=4096 // block)
        encode[(triton.cdiv(len(packed), 1024),)](x, absmax, packed, n, E=middle, BLOCK=block, LANES=1024)
    return packed, absmax


def nf4_dequantize(packed, absmax, n, block):
    table = torch.tensor(TABLE, device=packed.device)
    y = torch.empty(n, dtype=torch.float16, device=packed.device)
    if n:
        decode[(triton.cdiv(n, 1024),)](packed, absmax, table, y, n, BLOCK=block, LANES=1024)
    return y
