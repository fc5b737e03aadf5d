"""A shift with a mask for the load, one for the store, and other=fill."""

import triton
import triton.language as tl


@triton.jit
def shift_kernel(x_ptr, y_ptr, k, fill, n, BLOCK: tl.constexpr):
    dst = tl.arange(0, BLOCK)
    src = dst + k
    load_mask = (src >= 0) & (src < n)
    store_mask = dst < n
    tl.store(y_ptr + dst, tl.load(x_ptr + src, mask=load_mask, other=fill), mask=store_mask)


def shift(x, k, fill):
    n = x.shape[0]
    y = x.new_empty(n)
    if n:
        shift_kernel[(1,)](x, y, k, fill, n, BLOCK=triton.next_power_of_2(n))
    return y
