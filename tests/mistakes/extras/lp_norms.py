"""Extra: what norms of rows and their gradient get wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ABS = "tl.sum(tl.abs(x), axis=1)"
ALONG = "along = tl.where(norm < eps, 0.0, tl.sum(dy * y, axis=1))"
AT_DY = "at_dy = offs_m[:, None] * stride_dym + cols[None, :] * stride_dyn"
DX = "dx = (dy - y * along[:, None]) * scale[:, None]"
LOAD = "x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :], mask=mask, other=0.0).to(tl.float32)"
NORM = "norm = tl.sqrt(tl.sum(x * x, axis=1))"
SAVE = "ctx.save_for_backward(x, norm)"
SCALE = "scale = 1 / tl.where(norm < eps, eps, norm)\n    y = x * scale[:, None]\n    tl.store"
WIDE = "    x = x.to(tl.float32)\n"
Y_AT = "y_ptr + offs_m[:, None] * n_cols + offs_n[None, :], y, mask=mask)"


def divisor(by: str) -> dict[str, str]:
    """The edit by which forward divides by something else."""
    return {SCALE: SCALE.replace("tl.where(norm < eps, eps, norm)", by)}


mistakes = [
    Mistake("signs are left on", swap={ABS: "tl.sum(x, axis=1)"}, fails="correct", says="absolute values"),
    Mistake(
        "the L1 norm is a maximum", swap={ABS: "tl.max(tl.abs(x), axis=1)"}, fails="correct", says="largest"
    ),
    Mistake("the L1 norm is a mean", swap={ABS: f"{ABS} / n_cols"}, fails="correct", says="no mean"),
    Mistake(
        "the L1 norm is the L2 norm", swap={ABS: "tl.sqrt(tl.sum(x * x, axis=1))"}, fails="correct", says="L2"
    ),
    Mistake(
        "rows of x are taken to be n_cols apart for the L1 norm",
        swap={f"{LOAD}\n    tl.store(norm": f"{LOAD.replace('stride_xm', 'n_cols')}\n    tl.store(norm"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "eps is added to the norm", swap=divisor("(norm + eps)"), fails="correct", says="added to the norm"
    ),
    Mistake(
        "eps is added under the root",
        swap=divisor("tl.sqrt(norm * norm + eps)"),
        fails="correct",
        says="under the root",
    ),
    Mistake(
        "eps is compared with the sum of squares",
        swap=divisor("tl.sqrt(tl.where(norm * norm < eps, eps, norm * norm))"),
        fails="correct",
        says="sum of squares",
    ),
    Mistake("eps is not used", swap=divisor("norm"), fails="correct", says=("eps is not used", "is right")),
    Mistake(
        "the smaller of norm and eps", swap=divisor("tl.minimum(norm, eps)"), fails="correct", says="larger"
    ),
    Mistake("the root is missing", swap={NORM: NORM.replace("tl.sqrt", "")}, fails="correct", says="root"),
    Mistake(
        "the squares are averaged",
        swap={NORM: NORM.replace("axis=1)", "axis=1) / n_cols")},
        fails="correct",
        says="averaged",
    ),
    Mistake(
        "x is squared in its own dtype",
        swap={
            WIDE: f"    squares = (x * x).to(tl.float32)\n{WIDE}",
            NORM: "norm = tl.sqrt(tl.sum(squares, axis=1))",
        },
        fails="correct or edges",
        says=("squared in fp16", "precision", "close but not close enough", "Inf"),
    ),
    Mistake(
        "one sum for the whole tile",
        swap={NORM: "norm = tl.sqrt(tl.sum(x * x)) + tl.zeros((BLOCK_M,), tl.float32)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the gradient lacks the projection",
        swap={DX: "dx = dy * scale[:, None]"},
        fails="correct",
        says="norm for a constant",
    ),
    Mistake(
        "the projection is added", swap={DX: DX.replace("dy - y", "dy + y")}, fails="correct", says="adds"
    ),
    Mistake(
        "the projection stays where eps is the divisor",
        swap={ALONG: "along = tl.sum(dy * y, axis=1)"},
        fails="correct",
        says="there it is a constant",
    ),
    Mistake(
        "no gradient where eps is the divisor",
        swap={DX: f"{DX}\n    dx = tl.where((norm < eps)[:, None], 0.0, dx)"},
        fails="correct",
        says="dy / eps",
    ),
    Mistake(
        "dx is divided by the norm where eps is larger",
        swap={DX: DX.replace("scale[:, None]", "(1 / norm)[:, None]")},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "dx is not divided",
        swap={DX: "dx = dy - y * along[:, None]"},
        fails="correct",
        says="not divided",
    ),
    Mistake(
        "what is along x is taken out, and x is not of length 1",
        swap={ALONG: ALONG.replace("dy * y", "dy * x"), DX: DX.replace("y * along", "x * along")},
        fails="correct",
        says="not of length 1",
    ),
    Mistake(
        "a mean in the place of the sum",
        swap={ALONG: ALONG.replace("axis=1)", "axis=1) / n_cols")},
        fails="correct",
        says="is a mean",
    ),
    Mistake(
        "dy is taken to be contiguous",
        swap={AT_DY: "at_dy = offs_m[:, None] * n_cols + cols[None, :]"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "the norm is not kept",
        swap={"    tl.store(norm_ptr + offs_m, norm, mask=rows)\n": ""},
        fails="correct",
        says="torch.empty",
    ),
    Mistake(
        "y is kept as well as x",
        swap={SAVE: "ctx.save_for_backward(x, norm)\n        ctx.y = torch.empty_like(y)"},
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "the store of y has no mask",
        swap={Y_AT: Y_AT.replace(", mask=mask", "")},
        fails="correct",
        says="mask",
    ),
    Mistake(
        "torch finds the norm",
        swap={"        return y\n": "        return (x / norm.clamp(min=eps)[:, None]).to(x.dtype)\n"},
        fails="correct or honest",
        says=("torch", "outside of your kernel"),
    ),
    Mistake(
        "half done: the gradient is missing",
        swap={},
        fails="correct",
        says="never written",
        undone=("backward_kernel",),
    ),
]
