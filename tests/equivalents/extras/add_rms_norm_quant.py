"""Mutants of add_rms_norm_quant that live, and why."""

from tools.planted import Equivalent

KERNEL = "solution:add_rms_norm_quant_kernel"
X = "x = tl.load(x_ptr + offs, mask=mask, other=0.0)"
RESIDUAL = "residual = tl.load(residual_ptr + offs, mask=mask, other=0.0)"
WEIGHT = "weight = tl.load(weight_ptr + offs_n, mask=mask, other=0.0)"
Q = "tl.store(q_ptr + offs, libdevice.rint(y / scale).to(tl.int8), mask=mask)"

equivalents = [
    Equivalent(KERNEL, f"{X}.to(tl.float32)", X, "fp32 on the other side promotes it: residual is"),
    Equivalent(KERNEL, f"{RESIDUAL}.to(tl.float32)", RESIDUAL, "fp32 on the other side promotes it: x is"),
    Equivalent(KERNEL, f"{WEIGHT}.to(tl.float32)", WEIGHT, "fp32 on the other side promotes it: h is"),
    Equivalent(
        KERNEL,
        f"{WEIGHT}.to(tl.float32)",
        "weight = tl.load(weight_ptr + offs_n, mask=mask, other=-float('inf')).to(tl.float32)",
        "lanes past the end hold 0 * -inf then, a NaN that tl.max passes over, and are not stored",
    ),
    Equivalent(KERNEL, Q, Q.replace(".to(tl.int8)", ""), "the store converts what is an integer already"),
]
