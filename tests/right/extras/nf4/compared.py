"""Fifteen comparisons, added up, of a tile that is split later; back by a tree of choices, a lane a byte."""

import torch
import triton
import triton.language as tl

NF4: tl.constexpr = tl.constexpr(
    (
        *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635),
        *(-0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725),
        *(0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941),
        *(0.7229568362236023, 1.0),
    )
)


@triton.jit
def pack_block(x_ptr, q_ptr, s_ptr, n, n_bytes, B: tl.constexpr, R: tl.constexpr):
    r = (tl.program_id(0).to(tl.int64) * R + tl.arange(0, R))[:, None]
    at = r * B + tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    s = tl.max(tl.abs(x), axis=1, keep_dims=True)
    tl.store(s_ptr + r, s, mask=r * B < n)
    x /= tl.where(s == 0, 1.0, s)
    code = tl.zeros((R, B), tl.int32)
    for i in tl.static_range(15):
        code += x > (NF4[i] + NF4[i + 1]) * 0.5
    first, second = tl.split(tl.reshape(code, (R, B // 2, 2)))
    byte = r * (B // 2) + tl.arange(0, B // 2)[None, :]
    tl.store(q_ptr + byte, (first * 16 + second).to(tl.uint8), mask=byte < n_bytes)


@triton.jit
def level(code):
    """A tree of choices, from the last bit to the first."""
    odd, twos, fours, high = (code & 1) != 0, (code & 2) != 0, (code & 4) != 0, (code & 8) != 0
    a = tl.where(twos, tl.where(odd, NF4[3], NF4[2]), tl.where(odd, NF4[1], NF4[0]))
    b = tl.where(twos, tl.where(odd, NF4[7], NF4[6]), tl.where(odd, NF4[5], NF4[4]))
    c = tl.where(twos, tl.where(odd, NF4[11], NF4[10]), tl.where(odd, NF4[9], NF4[8]))
    d = tl.where(twos, tl.where(odd, NF4[15], NF4[14]), tl.where(odd, NF4[13], NF4[12]))
    return tl.where(high, tl.where(fours, d, c), tl.where(fours, b, a))


@triton.jit
def unpack_block(q_ptr, s_ptr, y_ptr, n, n_bytes, B: tl.constexpr, SIZE: tl.constexpr):
    byte = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    q = tl.load(q_ptr + byte, mask=byte < n_bytes).to(tl.int32)
    s = tl.load(s_ptr + 2 * byte // B, mask=byte < n_bytes)
    y = tl.interleave(level(q >> 4) * s, level(q) * s).to(tl.float16)
    at = tl.program_id(0).to(tl.int64) * 2 * SIZE + tl.arange(0, 2 * SIZE)
    tl.store(y_ptr + at, y, mask=at < n)


def nf4_quantize(x: torch.Tensor, block: int):
    n = x.shape[0]
    q = x.new_empty((n + 1) // 2, dtype=torch.uint8)
    s = x.new_empty(triton.cdiv(n, block), dtype=torch.float32)
    rows = max(2048 // block, 1)
    pack_block[(triton.cdiv(len(s), rows),)](x, q, s, n, len(q), B=block, R=rows)
    return q, s


def nf4_dequantize(packed: torch.Tensor, absmax: torch.Tensor, n: int, block: int):
    y = absmax.new_empty(n, dtype=torch.float16)
    unpack_block[(triton.cdiv(n, 2048),)](packed, absmax, y, n, len(packed), B=block, SIZE=1024)
    return y
