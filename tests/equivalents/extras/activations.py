"""Mutants of the activations that live, and why."""

from tools.planted import Equivalent

X = "x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)"
DY = "dy = tl.load(dy_ptr + at_dy, mask=mask, other=0.0).to(tl.float32)"
KEPT = "kept = tl.load(kept_ptr + at_kept, mask=mask, other=0.0).to(tl.float32)"
UNSEEN = "nothing is stored of masked lanes"

equivalents = [
    Equivalent(
        "solution:value",
        "y = tl.where(tl.abs(x) < 0.125, series, 2 * tl.sigmoid(2 * x) - 1)",
        "y = tl.where(tl.abs(x) <= 0.125, series, 2 * tl.sigmoid(2 * x) - 1)",
        "both are right at 1/8",
    ),
    Equivalent(
        "solution:place",
        "if FLAT:",
        "if False:",
        "slower alone: the divisions give the same where it is flat",
    ),
    Equivalent("solution:forward_kernel", X, X.replace("0.0", "-float('inf')"), UNSEEN),
    Equivalent("solution:backward_kernel", DY, DY.replace("0.0", "-float('inf')"), UNSEEN),
    Equivalent("solution:backward_kernel", KEPT, KEPT.replace("0.0", "-float('inf')"), UNSEEN),
    Equivalent(
        "solution:backward_kernel",
        DY,
        DY.removesuffix(".to(tl.float32)"),
        "fp32 on the other side promotes it",
    ),
]
