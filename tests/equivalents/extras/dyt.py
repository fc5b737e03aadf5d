"""Mutants of the dynamic tanh that live, and why."""

from tools.planted import Equivalent

FORWARD, BACKWARD = "solution:forward_kernel", "solution:backward_kernel"
ALPHA = "alpha = tl.load(alpha_ptr).to(tl.float32)"
BIAS = "bias = tl.load(bias_ptr + offs_n, mask=cols, other=0.0).to(tl.float32)"
DY = "dy = tl.load(dy_ptr + row * stride_dym + offs_n * stride_dyn, mask=mask, other=0.0).to(tl.float32)"
WEIGHT = "weight = tl.load(weight_ptr + offs_n, mask=cols, other=0.0).to(tl.float32)"
WEIGHT_BACK = WEIGHT.replace("mask=cols", "mask=mask")
X = "x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :], mask=mask, other=0.0)"
X_BACK = "x = tl.load(x_ptr + row * stride_xm + offs_n, mask=mask, other=0.0).to(tl.float32)"
Y = "y = weight[None, :] * tanh(alpha * x.to(tl.float32)) + bias[None, :]"


def uncast(where: str, line: str) -> Equivalent:
    return Equivalent(where, line, line.replace(".to(tl.float32)", ""), "fp32 on the other side promotes it")


def unmasked(line: str) -> Equivalent:
    becomes = line.replace("other=0.0", "other=-float('inf')")
    return Equivalent(FORWARD, line, becomes, "nothing is stored of masked lanes")


equivalents = [
    *(uncast(FORWARD, line) for line in (ALPHA, WEIGHT, BIAS, Y)),
    *(uncast(BACKWARD, line) for line in (ALPHA, WEIGHT_BACK, X_BACK, DY)),
    *(unmasked(line) for line in (X, WEIGHT, BIAS)),
    Equivalent(
        BACKWARD,
        "offs_n = (tl.program_id(0) % strips).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)",
        "offs_n = tl.program_id(0) % strips * BLOCK_N + tl.arange(0, BLOCK_N)",
        "of upstream gradients beyond 2³¹ elements only contiguous ones are tried",
    ),
    Equivalent(
        "solution:column_sum_kernel",
        "offs_p = start + tl.arange(0, BLOCK_P)",
        "offs_p = tl.arange(0, BLOCK_P)",
        "a CPU has two chunks of rows, a GPU more than one block of them",
        gpu=True,
    ),
    Equivalent(
        "solution:backward",
        "rows_each = max(triton.cdiv(n_rows, max(programs // strips, 1)), 1)",
        "rows_each = max(n_rows // max(programs // strips, 1), 1)",
        "slower alone: one chunk more; the grid follows",
    ),
]
