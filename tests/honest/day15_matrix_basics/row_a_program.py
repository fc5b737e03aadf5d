"""A row a program; the block's sum is taken at once and kept as a single number."""

import triton
import triton.language as tl


@triton.jit
def row_dot(out, mat, vec, N, row_stride, col_stride, vec_stride, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0)
    mat += row.to(tl.int64) * row_stride
    cols = tl.arange(0, BLOCK).to(tl.int64)
    total = 0.0
    for start in range(0, N, BLOCK):
        at = start + cols
        left = tl.load(mat + at * col_stride, mask=at < N, other=0).to(tl.float32)
        right = tl.load(vec + at * vec_stride, mask=at < N, other=0).to(tl.float32)
        total += tl.sum(left * right)
    tl.store(out + row, total)


def matvec(a, x):
    rows, cols = a.shape
    result = a.new_empty(rows)
    if rows:
        row_dot[(rows,)](result, a, x, cols, a.stride(0), a.stride(1), x.stride(0), BLOCK=4096, num_warps=8)
    return result
