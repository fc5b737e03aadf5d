"""A loop over column blocks with a running maximum and sum, then a second loop that writes."""

import torch
import triton
import triton.language as tl


@triton.jit
def online_softmax(out_ptr, in_ptr, in_row_stride, out_row_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    in_row = in_ptr + row.to(tl.int64) * in_row_stride
    out_row = out_ptr + row.to(tl.int64) * out_row_stride
    cols = tl.arange(0, BLOCK)
    # One running maximum and sum per lane; lanes that saw only -inf so far must not compute -inf minus -inf.
    m = tl.full((BLOCK,), float("-inf"), tl.float32)
    d = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_cols, BLOCK):
        x = tl.load(in_row + start + cols, mask=start + cols < n_cols, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, x)
        shift = tl.where(m_new == float("-inf"), 0.0, m_new)
        d = d * tl.exp(m - shift) + tl.exp(x - shift)
        m = m_new
    top = tl.max(m, axis=0)
    total = tl.sum(d * tl.exp(m - top), axis=0)
    for start in range(0, n_cols, BLOCK):
        mask = start + cols < n_cols
        x = tl.load(in_row + start + cols, mask=mask, other=float("-inf")).to(tl.float32)
        tl.store(out_row + start + cols, (tl.exp(x - top) / total).to(out_ptr.dtype.element_ty), mask=mask)


def softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.shape[0] == 0:
        return out
    block = max(16, min(2048, triton.next_power_of_2(x.shape[1])))
    online_softmax[(x.shape[0],)](out, x, x.stride(0), out.stride(0), x.shape[1], BLOCK=block, num_warps=4)
    return out
