"""Mutants of day 23 that live, and why."""

from tools.planted import Equivalent

equivalents = [
    Equivalent(
        "solution:forward_kernel",
        "x = tl.load(x_ptr + row * stride_xm + offs_n, mask=mask, other=0.0).to(tl.float32)",
        "x = tl.load(x_ptr + row * stride_xm + offs_n, mask=mask, other=0.0)",
        "residual is fp32, and promotes it",
    ),
    Equivalent(
        "solution:forward_kernel",
        "residual = tl.load(residual_ptr + row * stride_rm + offs_n, mask=mask, other=0.0).to(tl.float32)",
        "residual = tl.load(residual_ptr + row * stride_rm + offs_n, mask=mask, other=0.0)",
        "x is fp32, and promotes it",
    ),
    Equivalent(
        "solution:forward_kernel",
        "weight = tl.load(weight_ptr + offs_n, mask=mask, other=0.0).to(tl.float32)",
        "weight = tl.load(weight_ptr + offs_n, mask=mask, other=0.0)",
        "fp32 on the other side promotes it",
    ),
    Equivalent(
        "solution:forward_kernel",
        "weight = tl.load(weight_ptr + offs_n, mask=mask, other=0.0).to(tl.float32)",
        "weight = tl.load(weight_ptr + offs_n, mask=mask, other=-float('inf')).to(tl.float32)",
        "lanes past the row, which are not stored",
    ),
    Equivalent(
        "solution:forward_kernel",
        "bias = tl.load(bias_ptr + offs_n, mask=mask, other=0.0).to(tl.float32)",
        "bias = tl.load(bias_ptr + offs_n, mask=mask, other=0.0)",
        "fp32 on the other side promotes it",
    ),
    Equivalent(
        "solution:forward_kernel",
        "bias = tl.load(bias_ptr + offs_n, mask=mask, other=0.0).to(tl.float32)",
        "bias = tl.load(bias_ptr + offs_n, mask=mask, other=-float('inf')).to(tl.float32)",
        "lanes past the row, which are not stored",
    ),
    Equivalent(
        "solution:forward_kernel",
        "s = (x + residual).to(s_ptr.dtype.element_ty)",
        "s = x + residual",
        "s differs by one rounding to 16 bits, within what y may be off",
    ),
    Equivalent(
        "solution:backward_kernel",
        "cols = offs_n.to(tl.int64)",
        "cols = offs_n",
        "wrong for a transposed upstream gradient of 2³¹ elements: a walk hands a contiguous one",
        gpu=True,
    ),
    Equivalent(
        "solution:backward_kernel",
        "weight = tl.load(weight_ptr + offs_n, mask=mask, other=0.0).to(tl.float32)",
        "weight = tl.load(weight_ptr + offs_n, mask=mask, other=0.0)",
        "fp32 on the other side promotes it",
    ),
    Equivalent(
        "solution:backward_kernel",
        "s = tl.load(s_ptr + row * n_cols + offs_n, mask=mask, other=0.0).to(tl.float32)",
        "s = tl.load(s_ptr + row * n_cols + offs_n, mask=mask, other=0.0)",
        "fp32 on the other side promotes it: the mean, the sums and x_hat are",
    ),
    Equivalent(
        "solution:backward_kernel",
        "dy = tl.load(dy_ptr + row * stride_dym + cols * stride_dyn, mask=mask, other=0.0).to(tl.float32)",
        "dy = tl.load(dy_ptr + row * stride_dym + cols * stride_dyn, mask=mask, other=0.0)",
        "fp32 on the other side promotes it: the mean, the sums and x_hat are",
    ),
    Equivalent(
        "solution:backward_kernel",
        "ds = tl.load(ds_ptr + row * stride_dsm + cols * stride_dsn, mask=mask, other=0.0)",
        "ds = tl.load(ds_ptr + row * stride_dsm + cols * stride_dsn, mask=mask, other=-float('inf'))",
        "lanes past the row, which are not stored",
    ),
    Equivalent(
        "solution:backward_kernel",
        "dx += ds.to(tl.float32)",
        "dx += ds",
        "fp32 on the other side promotes it",
    ),
    Equivalent(
        "solution:column_sum_kernel",
        "offs_p = start + tl.arange(0, BLOCK_P)",
        "offs_p = tl.arange(0, BLOCK_P)",
        "here a launch makes two programs, so two partial sums",
        gpu=True,
    ),
    Equivalent(
        "solution:column_sum_kernel",
        "dweight += tl.load(dweight_part_ptr + offs, mask=mask, other=0.0)",
        "dweight += tl.load(dweight_part_ptr + offs, mask=mask, other=-float('inf'))",
        "here a launch makes two programs, so two partial sums",
        gpu=True,
    ),
    Equivalent(
        "solution:column_sum_kernel",
        "dbias += tl.load(dbias_part_ptr + offs, mask=mask, other=0.0)",
        "dbias += tl.load(dbias_part_ptr + offs, mask=mask, other=-float('inf'))",
        "here a launch makes two programs, so two partial sums",
        gpu=True,
    ),
    Equivalent(
        "solution:forward",
        "ctx.set_materialize_grads(False)",
        "pass",
        "slower alone: an output that nobody used has a gradient of zeros",
    ),
    Equivalent(
        "solution:backward",
        "rows_each = max(triton.cdiv(n_rows, programs), 1)",
        "rows_each = max(n_rows // programs, 1)",
        "one more program takes the rows that are left",
    ),
]
