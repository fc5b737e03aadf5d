"""Tiles of rows by columns; each row of a tile has its own place along the first three dimensions."""

import triton
import triton.language as tl


@triton.jit
def tile(
    x, y, z, out, rows, cols, n1, n2, sx, sx1, sx2, sx3, sy, sy1, sy2, sy3, sz, sz1, sz2, sz3,
    R: tl.constexpr, C: tl.constexpr,
):  # fmt: skip
    wide = tl.cdiv(cols, C)
    r = ((tl.program_id(0) // wide).to(tl.int64) * R + tl.arange(0, R))[:, None]
    c = ((tl.program_id(0) % wide).to(tl.int64) * C + tl.arange(0, C))[None, :]
    here = (r < rows) & (c < cols)
    first, second, third = r // n2 // n1, r // n2 % n1, r % n2
    left = tl.load(x + first * sx + second * sx1 + third * sx2 + c * sx3, mask=here)
    right = tl.load(y + first * sy + second * sy1 + third * sy2 + c * sy3, mask=here)
    factor = tl.load(z + first * sz + second * sz1 + third * sz2 + c * sz3, mask=here)
    value = (left.to(tl.float32) + right.to(tl.float32)) * factor.to(tl.float32)
    tl.store(out + r * cols + c, value, mask=here)


def fused_add_mul(x, y, z):
    out = x.new_empty(x.shape)
    if not out.numel():
        return out
    if x.is_contiguous() and y.is_contiguous() and z.is_contiguous():
        x, y, z = x.view(1, 1, 1, -1), y.view(1, 1, 1, -1), z.view(1, 1, 1, -1)
    while x.ndim < 4:
        x, y, z = x[None], y[None], z[None]
    cols = x.shape[3]
    rows = out.numel() // cols
    C = min(1024, triton.next_power_of_2(cols))
    R = min(1024 // C, triton.next_power_of_2(rows))
    grid = (triton.cdiv(rows, R) * triton.cdiv(cols, C),)
    strides = (*x.stride(), *y.stride(), *z.stride())
    tile[grid](x, y, z, out, rows, cols, x.shape[1], x.shape[2], *strides, R=R, C=C)
    return out
