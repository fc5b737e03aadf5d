"""Day 22: what a layer norm gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ALLOCATION = "y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)"
CENTRED = "tl.where(mask, x - mean[:, None], 0.0)"
MEAN = "tl.sum(x, axis=1) / n_cols"
RETURN = "    return y"
RSTD = "tl.rsqrt(var + eps)"
SCALED = f"centred * {RSTD}[:, None]"
VAR = "tl.sum(centred * centred, axis=1) / n_cols"

mistakes = [
    Mistake(
        "eps is a plain global of the file",
        swap={"@triton.jit": "EPS = 1e-5\n\n\n@triton.jit", RSTD: "tl.rsqrt(var + EPS)"},
        fails="correct",
        says="takes no plain global, and EPS",
    ),
    Mistake(
        "a static_assert that does not hold",
        swap={MEAN: "tl.sum(x, axis=1) / n_cols\n    tl.static_assert(BLOCK_N > BLOCK_M)"},
        fails="correct",
        says="tl.static_assert(BLOCK_N > BLOCK_M) does not hold",
    ),
    Mistake(
        "masked lanes hold -mean in the variance",
        swap={CENTRED: "x - mean[:, None]"},
        fails="correct",
        says="Masked lanes count in the variance",
    ),
    Mistake(
        "the variance is E[x²] - E[x]²",
        swap={VAR: "tl.sum(x * x, axis=1) / n_cols - mean * mean"},
        fails="edges",
        says="E[x²]",
    ),
    Mistake(
        "eps is added to the standard deviation",
        swap={RSTD: "(1 / (tl.sqrt(var) + eps))"},
        fails="correct",
        says="outside of the root",
    ),
    Mistake(
        "the mean divides by n - 1",
        swap={"mean = tl.sum(x, axis=1) / n_cols": "mean = tl.sum(x, axis=1) / (n_cols - 1)"},
        fails="correct",
        says="The mean divides by n - 1",
    ),
    # One column has no variance: NaN, as a mean that divides by n - 1 would give there.
    Mistake(
        "eps is added to the reciprocal of the root",
        swap={RSTD: "(1 / tl.sqrt(var) + eps)"},
        fails="correct",
        says="eps is left out",
    ),
    Mistake(
        "eps is added to the sum of squares",
        swap={RSTD: "tl.rsqrt(var + eps / n_cols)"},
        fails="correct",
        says="eps is divided by n",
    ),
    Mistake("eps is left out", swap={RSTD: "tl.rsqrt(var)"}, fails="correct", says="eps is left out"),
    Mistake(
        "the variance divides by n - 1",
        swap={VAR: "tl.sum(centred * centred, axis=1) / (n_cols - 1)"},
        fails="correct",
        says="n - 1",
    ),
    Mistake("the root is missing", swap={RSTD: "(1 / (var + eps))"}, fails="correct", says="root"),
    Mistake(
        "the mean divides by the block's width",
        swap={MEAN: "tl.sum(x, axis=1) / BLOCK_N"},
        fails="correct",
        says="The mean divides by the lanes",
    ),
    Mistake(
        "the variance divides by the block's width",
        swap={VAR: "tl.sum(centred * centred, axis=1) / BLOCK_N"},
        fails="correct",
        says="The variance divides by the lanes",
    ),
    Mistake(
        "mean and variance divide by the block's width",
        swap={MEAN: "tl.sum(x, axis=1) / BLOCK_N", VAR: "tl.sum(centred * centred, axis=1) / BLOCK_N"},
        fails="correct",
        says="Mean and variance divide by the lanes",
    ),
    Mistake(
        "the variance is the mean of the squares",
        swap={VAR: "tl.sum(x * x, axis=1) / n_cols"},
        fails="correct",
        says="before squaring",
    ),
    Mistake(
        "the mean is never subtracted from the result",
        swap={SCALED: f"x * {RSTD}[:, None]"},
        fails="correct",
        says="still in the result",
    ),
    Mistake(
        "masked lanes hold 1, and the mean counts them",
        swap={"mask=mask, other=0.0)": "mask=mask, other=1.0)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "weight and bias are passed the wrong way round",
        swap={"        weight,\n        bias,\n        y,": "        bias,\n        weight,\n        y,"},
        fails="correct",
        says="changed places",
    ),
    Mistake(
        "the bias is added only where there is a weight",
        swap={
            "    if bias_ptr is not None:": "    if weight_ptr is not None and bias_ptr is not None:",
        },
        fails="correct",
        says="Without a weight",
    ),
    Mistake(
        "the weight is applied only where there is a bias",
        swap={
            "    if weight_ptr is not None:": "    if weight_ptr is not None and bias_ptr is not None:",
        },
        fails="correct",
        says="Without a bias",
    ),
    Mistake(
        "the bias is added before the weight multiplies",
        swap={
            "y *= weight.to(tl.float32)[None, :]": "y = y",
            "y += bias.to(tl.float32)[None, :]": "y += bias.to(tl.float32)[None, :]\n"
            "    if weight_ptr is not None:\n        y *= weight.to(tl.float32)[None, :]",
        },
        fails="correct",
        says="before the weight",
    ),
    Mistake(
        "x is rounded to fp16 first",
        swap={"    x = x.to(tl.float32)\n": "    x = x.to(tl.float16)\n"},
        fails="correct",
        says=("precision", "x is rounded to fp16 first"),
    ),
    Mistake(
        "the load has no mask",
        swap={"offs_n[None, :], mask=mask, other=0.0)": "offs_n[None, :])"},
        fails="correct",
        says="Unmasked load",
    ),
    Mistake(
        "the weight is read without a mask",
        swap={"tl.load(weight_ptr + offs_n, mask=cols)": "tl.load(weight_ptr + offs_n)"},
        fails="correct",
        says="Unmasked load",
    ),
    Mistake(
        "the store has no mask",
        swap={"offs_n[None, :], y, mask=mask)": "offs_n[None, :], y)"},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "only the columns are masked",
        swap={"(offs_m < n_rows)[:, None] & cols[None, :]": "cols[None, :] & (offs_m >= 0)[:, None]"},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "rows are taken to be n_cols apart",
        swap={"offs_m[:, None] * stride_xm": "offs_m[:, None] * n_cols"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "y is written with x's row stride",
        swap={"y_ptr + offs_m[:, None] * n_cols": "y_ptr + offs_m[:, None] * stride_xm"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "the last program, which is not full, is left out",
        swap={"triton.cdiv(n_rows, BLOCK_M)": "n_rows // BLOCK_M"},
        fails="correct",
        says="never written",
    ),
    Mistake("the result is always fp32", swap={"dtype=x.dtype, ": ""}, fails="correct", says="dtype"),
    Mistake("the result overwrites x", swap={ALLOCATION: "y = x"}, fails="correct", says="input"),
    Mistake("nothing is returned", swap={RETURN: "    y"}, fails="correct", says="returns nothing"),
    Mistake(
        "torch does the work",
        swap={RETURN: "    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "torch finds the means",
        swap={"n_rows, n_cols = x.shape": "(n_rows, n_cols), _ = x.shape, x.mean(dim=1)"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "the variance is E[(x - x₀)²] - E[x - x₀]², of a first element far from all others",
        swap={
            VAR: (
                "0.0\n"
                "    first = tl.sum(tl.where(offs_n[None, :] == 0, x, 0.0), axis=1)\n"
                "    moved = tl.where(mask, x - first[:, None], 0.0)\n"
                "    step = tl.sum(moved, axis=1) / n_cols\n"
                "    var = tl.sum(moved * moved, axis=1) / n_cols - step * step"
            )
        },
        fails="correct",
        says="large terms cancel",
    ),
    Mistake(
        "a small eps is raised",
        swap={RSTD: "tl.rsqrt(var + tl.maximum(eps, 1e-6))"},
        fails="correct",
        says="the one that is given counts",
    ),
    Mistake(
        "eps goes through fp16",
        swap={RSTD: "tl.rsqrt(var + tl.cast(tl.cast(eps, tl.float16), tl.float32))"},
        fails="correct",
        says="A small eps is lost",
    ),
    Mistake(
        "a variance near 0 is taken for 0",
        swap={RSTD: "tl.rsqrt(tl.where(var < 1e-10, 0.0, var) + eps)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "eps is the least variance",
        swap={RSTD: "tl.rsqrt(tl.maximum(var, eps))"},
        fails="correct",
        says="eps is the least that the variance may be",
    ),
    Mistake(
        "eps is squared", swap={RSTD: "tl.rsqrt(var + eps * eps)"}, fails="correct", says="eps is squared"
    ),
]
