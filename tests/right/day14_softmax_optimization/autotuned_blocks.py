"""Wide softmax, block autotuned on n_cols, a rescaled sum, pointers that move on, int32 offsets."""

import triton
import triton.language as tl


def configs():
    return [triton.Config({"BLOCK_SIZE": b}, num_warps=w) for b, w in ((8192, 16), (16384, 32), (4096, 8))]


@triton.jit
def _merge(m, d, x):
    m_new = tl.maximum(m, tl.max(x, 0))
    # while only -inf was seen, subtract 0 in its place
    safe = tl.where(m_new == float("-inf"), 0.0, m_new)
    d = d * tl.exp(tl.where(m == float("-inf"), m, m - safe)) + tl.sum(tl.exp(x - safe), 0)
    return m_new, d


@triton.autotune(configs=configs(), key=["n_cols"])
@triton.jit
def wide_softmax_kernel(
    in_ptr,
    out_ptr,
    n_cols,
    in_row_stride: tl.constexpr,
    out_row_stride: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    ptr = in_ptr + pid * in_row_stride + cols
    m = float("-inf")
    d = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        x = tl.load(ptr, mask=start + cols < n_cols, other=float("-inf"))
        m, d = _merge(m, d, x.to(tl.float32))
        ptr += BLOCK_SIZE
    ptr = in_ptr + pid * in_row_stride + cols
    out = out_ptr + pid * out_row_stride + cols
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = start + cols < n_cols
        x = tl.load(ptr, mask=mask, other=float("-inf")).to(tl.float32)
        tl.store(out, (tl.exp(x - m) / d).to(out_ptr.dtype.element_ty), mask=mask)
        ptr += BLOCK_SIZE
        out += BLOCK_SIZE


def softmax(x):
    n_rows, n_cols = x.shape
    out = x.new_empty((n_rows, n_cols))
    if out.numel() == 0:
        return out
    wide_softmax_kernel[(n_rows,)](
        in_ptr=x, out_ptr=out, n_cols=n_cols, in_row_stride=x.stride(0), out_row_stride=out.stride(0)
    )
    return out
