"""Few programs that stay: each keeps weight and bias in registers while it walks over rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    y_ptr,
    m,
    n,
    sx,
    sy,
    eps,
    HAS_W: tl.constexpr,
    HAS_B: tl.constexpr,
    COLS: tl.constexpr,
):
    c = tl.arange(0, COLS)
    ok = c < n
    if HAS_W:
        w = tl.load(w_ptr + c, mask=ok, other=0.0).to(tl.float32)
    if HAS_B:
        b = tl.load(b_ptr + c, mask=ok, other=0.0).to(tl.float32)
    for row in range(tl.program_id(0).to(tl.int64), m, tl.num_programs(0)):
        x = tl.load(x_ptr + row * sx + c, mask=ok, other=0.0).to(tl.float32)
        d = (x - tl.sum(x) / n) * ok
        y = d / tl.sqrt(tl.sum(d * d) / n + eps)
        if HAS_W:
            y = y * w
        if HAS_B:
            y = y + b
        tl.store(y_ptr + row * sy + c, y, mask=ok)


def layer_norm(x, weight, bias, eps):
    m, n = x.shape
    y = torch.empty([m, n], device=x.device, dtype=x.dtype)
    sms = torch.cuda.get_device_properties(x.device).multi_processor_count if x.is_cuda else 2
    cols = triton.next_power_of_2(n)
    has_w, has_b = weight is not None, bias is not None
    rows_kernel[(min(m, 4 * sms),)](
        x, weight, bias, y, m, n, x.stride(0), n, eps, HAS_W=has_w, HAS_B=has_b, COLS=cols, num_warps=8
    )
    return y
