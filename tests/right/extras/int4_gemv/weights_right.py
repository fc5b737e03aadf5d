"""x on the left, weights read [k, n]; the zero point comes off in int16; every row reads some row of x."""

import triton
import triton.language as tl


@triton.jit
def gemv(x_ptr, w_ptr, s_ptr, z_ptr, y_ptr, m, n, k: tl.constexpr, SIZE: tl.constexpr, WIDE: tl.constexpr):
    row = tl.arange(0, 16)[:, None]
    col = (tl.program_id(0) * WIDE + tl.arange(0, WIDE))[None, :].to(tl.int64)
    byte = tl.arange(0, SIZE // 2)
    total = tl.zeros((16, WIDE), tl.float32)
    for g in tl.range(k // SIZE, num_stages=3, loop_unroll_factor=4):
        x = tl.load(x_ptr + (row % m) * k + g * SIZE + tl.arange(0, SIZE)[None, :])
        even, odd = x.reshape(16, SIZE // 2, 2).split()
        w = tl.load(w_ptr + (col % n) * (k // 2) + g * (SIZE // 2) + byte[:, None]).to(tl.int16)
        zero = tl.load(z_ptr + (col % n) * (k // SIZE) + g).to(tl.int16)
        low, high = (w & 15) - zero, (w >> 4) - zero
        dots = tl.dot(odd, high.to(odd.dtype), tl.dot(even, low.to(even.dtype)))
        total += tl.load(s_ptr + (col % n) * (k // SIZE) + g).to(tl.float32) * dots
    tl.store(y_ptr + row * n + col, total.to(y_ptr.dtype.element_ty), mask=(row < m) & (col < n))


def int4_gemv(x, packed, scales, zeros, group_size):
    m, k = x.shape
    n = len(packed)
    y = x.new_empty((m, n))
    if y.numel():
        gemv[(triton.cdiv(n, 32),)](
            x, packed, scales, zeros, y, m, n, k, SIZE=group_size, WIDE=32, num_warps=4
        )
    return y
