"""Day 22: what a layer norm gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)"
CENTRED = "tl.where(mask, x - mean[:, None], 0.0)"
MEAN = "tl.sum(x, axis=1) / n_cols"
RETURN = "    return y"
RSTD = "tl.rsqrt(var + eps)"
SCALED = f"centred * {RSTD}[:, None]"
VAR = "tl.sum(centred * centred, axis=1) / n_cols"

# fmt: off
mistakes = [
    Mistake("eps is a plain global of the file",
            {"@triton.jit": "EPS = 1e-5\n\n\n@triton.jit", RSTD: "tl.rsqrt(var + EPS)"},
            "takes no plain global, and EPS"),
    Mistake("a static_assert that does not hold",
            {MEAN: "tl.sum(x, axis=1) / n_cols\n    tl.static_assert(BLOCK_N > BLOCK_M)"},
            "tl.static_assert(BLOCK_N > BLOCK_M) does not hold"),
    Mistake("masked lanes hold -mean in the variance", {CENTRED: "x - mean[:, None]"},
            "Masked lanes count in the variance"),
    Mistake("the variance is E[x²] - E[x]²", {VAR: "tl.sum(x * x, axis=1) / n_cols - mean * mean"}, "E[x²]",
            fails="edges"),
    Mistake("eps is added to the standard deviation", {RSTD: "(1 / (tl.sqrt(var) + eps))"},
            "outside of the root"),
    Mistake("the mean divides by n - 1",
            {"mean = tl.sum(x, axis=1) / n_cols": "mean = tl.sum(x, axis=1) / (n_cols - 1)"},
            "The mean divides by n - 1"),
    Mistake("eps is added to the sum of squares", {RSTD: "tl.rsqrt(var + eps / n_cols)"},
            "eps is divided by n"),
    Mistake("eps is left out", {RSTD: "tl.rsqrt(var)"}, "eps does not reach"),
    Mistake("the variance divides by n - 1", {VAR: "tl.sum(centred * centred, axis=1) / (n_cols - 1)"},
            "n - 1"),
    Mistake("the root is missing", {RSTD: "(1 / (var + eps))"}, "root"),
    Mistake("the mean divides by the block's width", {MEAN: "tl.sum(x, axis=1) / BLOCK_N"},
            "The mean divides by the lanes"),
    Mistake("the variance divides by the block's width", {VAR: "tl.sum(centred * centred, axis=1) / BLOCK_N"},
            "The variance divides by the lanes"),
    Mistake("mean and variance divide by the block's width",
            {MEAN: "tl.sum(x, axis=1) / BLOCK_N", VAR: "tl.sum(centred * centred, axis=1) / BLOCK_N"},
            "Mean and variance divide by the lanes"),
    Mistake("the variance is the mean of the squares", {VAR: "tl.sum(x * x, axis=1) / n_cols"},
            "before squaring"),
    Mistake("the mean is never subtracted from the result", {SCALED: f"x * {RSTD}[:, None]"},
            "still in the result"),
    Mistake("masked lanes hold 1, and the mean counts them",
            {"mask=mask, other=0.0)": "mask=mask, other=1.0)"}, "is right"),
    Mistake("weight and bias are passed the wrong way round",
            {"        weight,\n        bias,\n        y,": "        bias,\n        weight,\n        y,"},
            "changed places"),
    Mistake("the bias is added only where there is a weight",
            {"    if bias_ptr is not None:": "    if weight_ptr is not None and bias_ptr is not None:"},
            "Without a weight"),
    Mistake("the weight is applied only where there is a bias",
            {"    if weight_ptr is not None:": "    if weight_ptr is not None and bias_ptr is not None:"},
            "Without a bias"),
    Mistake("the bias is added before the weight multiplies",
            {"y *= weight.to(tl.float32)[None, :]": "y = y",
             "y += bias.to(tl.float32)[None, :]": "y += bias.to(tl.float32)[None, :]\n"
             "    if weight_ptr is not None:\n        y *= weight.to(tl.float32)[None, :]"},
            "before the weight"),
    Mistake("x is rounded to fp16 first", {"    x = x.to(tl.float32)\n": "    x = x.to(tl.float16)\n"},
            ("precision", "x is rounded to fp16 first")),
    Mistake("the load has no mask", {"offs_n[None, :], mask=mask, other=0.0)": "offs_n[None, :])"},
            "Unmasked load"),
    Mistake("the store has no mask", {"offs_n[None, :], y, mask=mask)": "offs_n[None, :], y)"},
            "Unmasked store"),
    Mistake("only the columns are masked",
            {"(offs_m < n_rows)[:, None] & cols[None, :]": "cols[None, :] & (offs_m >= 0)[:, None]"},
            "past the end"),
    Mistake("rows are taken to be n_cols apart", {"offs_m[:, None] * stride_xm": "offs_m[:, None] * n_cols"},
            "stride", fails="edges"),
    Mistake("the last program, which is not full, is left out",
            {"triton.cdiv(n_rows, BLOCK_M)": "n_rows // BLOCK_M"}, "never written"),
    Mistake("the result is always fp32", {"dtype=x.dtype, ": ""}, "dtype"),
    Mistake("the result overwrites x", {ALLOCATION: "y = x"}, "input"),
    Mistake("nothing is returned", {RETURN: "    y"}, "returns nothing"),
    Mistake("torch does the work",
            {RETURN: "    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)"},
            "torch", fails="honest"),
    Mistake("the variance is E[(x - x₀)²] - E[x - x₀]², of a first element far from all others",
            {VAR: ("0.0\n" "    first = tl.sum(tl.where(offs_n[None, :] == 0, x, 0.0), axis=1)\n"
             "    moved = tl.where(mask, x - first[:, None], 0.0)\n"
             "    step = tl.sum(moved, axis=1) / n_cols\n"
             "    var = tl.sum(moved * moved, axis=1) / n_cols - step * step")}, "large terms cancel"),
    Mistake("a small eps is raised", {RSTD: "tl.rsqrt(var + tl.maximum(eps, 1e-6))"},
            "the one that is given counts"),
    Mistake("eps goes through fp16", {RSTD: "tl.rsqrt(var + tl.cast(tl.cast(eps, tl.float16), tl.float32))"},
            "A small eps is lost"),
    Mistake("eps is the least variance", {RSTD: "tl.rsqrt(tl.maximum(var, eps))"},
            "eps is the least that the variance may be"),
    Mistake("eps is squared", {RSTD: "tl.rsqrt(var + eps * eps)"}, "eps is squared"),
]
