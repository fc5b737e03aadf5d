"""One program adds up; one a block looks for codes in a table that it gathers from; back a lane a byte."""

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
def average(a_ptr, o_ptr, n, SIZE: tl.constexpr):
    total = 0.0
    for begin in range(0, n, SIZE):
        at = begin + tl.arange(0, SIZE)
        total += tl.sum(tl.load(a_ptr + at, mask=at < n, other=0.0))
    tl.store(o_ptr, total / n)


@triton.jit
def code_block(a_ptr, t_ptr, q_ptr, s_ptr, o_ptr, n, B: tl.constexpr):
    b = tl.program_id(0).to(tl.int64)
    at = b * B + tl.arange(0, B)
    a = tl.load(a_ptr + at, mask=at < n, other=float("nan")) - tl.load(o_ptr)
    s = tl.max(tl.where(at < n, tl.abs(a), 0.0))
    tl.store(s_ptr + b, s)
    a = tl.where((s > 0) & (at < n), a / s, 0.0)
    table = tl.load(t_ptr + tl.arange(0, 256))
    last = tl.zeros((B,), tl.int32)
    for i in tl.static_range(7, -1, -1):  # the last entry that is at or below a, and the one behind it
        more = last + 2**i
        last = tl.where(tl.gather(table, more, 0) <= a, more, last)
    low = tl.gather(table, last, 0)
    behind = tl.minimum(last + 1, 255)
    high = tl.gather(table, behind, 0)
    tl.store(q_ptr + at, tl.where(tl.abs(high - a) < tl.abs(a - low), behind, last), mask=at < n)


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
def unpack(
    q_ptr,
    c_ptr,
    t_ptr,
    s_ptr,
    o_ptr,
    y_ptr,
    n,
    n_bytes,
    B: tl.constexpr,
    B2: tl.constexpr,
    SIZE: tl.constexpr,
):
    byte = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    q = tl.load(q_ptr + byte, mask=byte < n_bytes).to(tl.int32)
    block = 2 * byte // B
    c = tl.load(c_ptr + block, mask=byte < n_bytes, other=0)
    a = tl.gather(tl.load(t_ptr + tl.arange(0, 256)), c.to(tl.int32), 0)
    a = tl.fma(a, tl.load(s_ptr + block // B2, mask=byte < n_bytes), tl.load(o_ptr))
    y = tl.interleave(level(q >> 4) * a, level(q) * a).to(tl.float16)
    at = tl.program_id(0).to(tl.int64) * 2 * SIZE + tl.arange(0, 2 * SIZE)
    tl.store(y_ptr + at, y, mask=at < n)


def quantize_absmax(absmax: torch.Tensor, table: torch.Tensor, block: int):
    n = absmax.shape[0]
    q = absmax.new_empty(n, dtype=torch.uint8)
    s = absmax.new_empty(triton.cdiv(n, block))
    o = absmax.new_empty(1)
    average[(1,)](absmax, o, n, SIZE=4096)
    if n > 0:
        code_block[(len(s),)](absmax, table, q, s, o, n, B=block)
    return q, s, o


def nf4_double_dequantize(packed, codes, table, scales, offset, n: int, block: int, block2: int):
    y = scales.new_empty(n, dtype=torch.float16)
    unpack[(triton.cdiv(n, 2048),)](
        packed, codes, table, scales, offset, y, n, len(packed), B=block, B2=block2, SIZE=1024
    )
    return y
