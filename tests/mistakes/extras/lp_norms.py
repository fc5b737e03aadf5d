"""Extra: what norms of rows and their gradient get wrong, and what the grader must say about it."""

from tools.planted import Mistake

ABS = "tl.sum(tl.abs(x), axis=1)"
ALONG = "along = tl.where(norm < eps, 0.0, tl.sum(dy * y, axis=1))"
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


# fmt: off
mistakes = [
    Mistake("signs are left on", {ABS: "tl.sum(x, axis=1)"}, "absolute values"),
    Mistake("the L1 norm is a maximum", {ABS: "tl.max(tl.abs(x), axis=1)"}, "largest"),
    Mistake("the L1 norm is a mean", {ABS: f"{ABS} / n_cols"}, "no mean"),
    Mistake("the L1 norm is the L2 norm", {ABS: "tl.sqrt(tl.sum(x * x, axis=1))"}, "L2"),
    Mistake("rows of x are taken to be n_cols apart for the L1 norm",
            {f"{LOAD}\n    tl.store(norm": f"{LOAD.replace('stride_xm', 'n_cols')}\n    tl.store(norm"},
            "stride", fails="edges"),
    Mistake("eps is added to the norm", divisor("(norm + eps)"), "added to the norm"),
    Mistake("eps is added under the root", divisor("tl.sqrt(norm * norm + eps)"), "under the root"),
    Mistake("eps is compared with the sum of squares",
            divisor("tl.sqrt(tl.where(norm * norm < eps, eps, norm * norm))"), "sum of squares"),
    Mistake("eps is not used", divisor("norm"), ("eps is not used", "is right")),
    Mistake("the smaller of norm and eps", divisor("tl.minimum(norm, eps)"), "larger"),
    Mistake("the root is missing", {NORM: NORM.replace("tl.sqrt", "")}, "root"),
    Mistake("the squares are averaged", {NORM: NORM.replace("axis=1)", "axis=1) / n_cols")}, "averaged"),
    Mistake("x is squared in its own dtype",
            {WIDE: f"    squares = (x * x).to(tl.float32)\n{WIDE}",
             NORM: "norm = tl.sqrt(tl.sum(squares, axis=1))"},
            ("squared in fp16", "precision", "close but not close enough", "Inf"), fails="correct or edges"),
    Mistake("one sum for the whole tile",
            {NORM: "norm = tl.sqrt(tl.sum(x * x)) + tl.zeros((BLOCK_M,), tl.float32)"}, "is right"),
    Mistake("the gradient lacks the projection", {DX: "dx = dy * scale[:, None]"}, "norm for a constant"),
    Mistake("the projection is added", {DX: DX.replace("dy - y", "dy + y")}, "adds"),
    Mistake("the projection stays where eps is the divisor", {ALONG: "along = tl.sum(dy * y, axis=1)"},
            "there it is a constant"),
    Mistake("no gradient where eps is the divisor",
            {DX: f"{DX}\n    dx = tl.where((norm < eps)[:, None], 0.0, dx)"}, "dy / eps"),
    Mistake("dx is not divided", {DX: "dx = dy - y * along[:, None]"}, "not divided"),
    Mistake("what is along x is taken out, and x is not of length 1",
            {ALONG: ALONG.replace("dy * y", "dy * x"), DX: DX.replace("y * along", "x * along")},
            "not of length 1"),
    Mistake("a mean in the place of the sum", {ALONG: ALONG.replace("axis=1)", "axis=1) / n_cols")},
            "is a mean"),
    Mistake("y is kept as well as x",
            {SAVE: "ctx.save_for_backward(x, norm)\n        ctx.y = torch.empty_like(y)"}, "keeps"),
    Mistake("the store of y has no mask", {Y_AT: Y_AT.replace(", mask=mask", "")}, "mask"),
    Mistake("torch finds the norm",
            {"        return y\n": "        return (x / norm.clamp(min=eps)[:, None]).to(x.dtype)\n"},
            ("torch", "outside of your kernel"), fails="correct or honest"),
    Mistake("half done: the gradient is missing", {}, "never written", undone=("backward_kernel",)),
]
