"""Fifteen comparisons, added up in uint8, of even and odd elements apart; back by a chain of choices."""

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
def pack_block(x_ptr, q_ptr, s_ptr, n, B: tl.constexpr, R: tl.constexpr):
    r = (tl.program_id(0).to(tl.int64) * R + tl.arange(0, R))[:, None]
    even = r * B + 2 * tl.arange(0, B // 2)[None, :]
    a = tl.load(x_ptr + even, mask=even < n, other=0.0).to(tl.float32)
    b = tl.load(x_ptr + even + 1, mask=even + 1 < n, other=0.0).to(tl.float32)
    s = tl.max(tl.maximum(tl.abs(a), tl.abs(b)), axis=1, keep_dims=True)
    tl.store(s_ptr + r, s, mask=r * B < n)
    by = tl.where(s == 0, 1.0, s)
    a /= by
    b /= by
    code_a, code_b = tl.zeros_like(a).to(tl.uint8), tl.zeros_like(b).to(tl.uint8)
    for i in tl.static_range(15):
        code_a += a > (NF4[i] + NF4[i + 1]) * 0.5
        code_b += b > (NF4[i] + NF4[i + 1]) * 0.5
    byte = r * (B // 2) + tl.arange(0, B // 2)[None, :]
    tl.store(q_ptr + byte, (code_a << 4) + code_b, mask=even < n)


@triton.jit
def level(code):
    out = tl.full(code.shape, -1.0, tl.float32)
    for i in tl.static_range(1, 16):
        out = tl.where(code == i, NF4[i], out)
    return out


@triton.jit
def unpack_block(q_ptr, s_ptr, y_ptr, n, B: tl.constexpr, SIZE: tl.constexpr):
    byte = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    q = tl.load(q_ptr + byte, mask=2 * byte < n)
    s = tl.load(s_ptr + 2 * byte // B, mask=2 * byte < n)
    y = tl.join(level(q >> 4) * s, level(q % 16) * s).to(tl.float16)
    at = 2 * byte[:, None] + tl.arange(0, 2)[None, :]
    tl.store(y_ptr + at, y, mask=at < n)


def nf4_quantize(x: torch.Tensor, block: int):
    n = x.shape[0]
    q = x.new_empty((n + 1) // 2, dtype=torch.uint8)
    s = x.new_empty(triton.cdiv(n, block), dtype=torch.float32)
    rows = max(2048 // block, 1)
    pack_block[(triton.cdiv(len(s), rows),)](x, q, s, n, B=block, R=rows)
    return q, s


def nf4_dequantize(packed: torch.Tensor, absmax: torch.Tensor, n: int, block: int):
    y = absmax.new_empty(n, dtype=torch.float16)
    unpack_block[(triton.cdiv(n, 2048),)](packed, absmax, y, n, B=block, SIZE=1024)
    return y
