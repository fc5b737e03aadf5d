"""Day 09: what bias and GELU get wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)"
BIAS = "tl.load(bias_ptr + offs_n, mask=offs_n < n_cols)"
FORMULA = "u / (1 + tl.exp2(u * (-2.3022082 - 0.10294324 * u * u)))"
LOAD = "tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :], mask=mask)"
MASK = "mask = (offs_m < n_rows)[:, None] & (offs_n < n_cols)[None, :]"
RETURN = "    return y"
SUM = "x.to(tl.float32) + bias.to(tl.float32)[None, :]"
Z = "0.7978845608 * (u + 0.044715 * u * u * u)"

# fmt: off
mistakes = [
    Mistake("the bias is indexed by row",
            {BIAS: "tl.load(bias_ptr + offs_m, mask=offs_m < n_cols)",
             "[None, :]\n    # The only w": "[:, None]\n    # The only w"}, "wrong axis"),
    Mistake("every tile takes the first columns' bias",
            {BIAS: "tl.load(bias_ptr + tl.arange(0, BLOCK_N), mask=tl.arange(0, BLOCK_N) < n_cols)"},
            ("is right", "close but not close enough")),
    Mistake("the bias is read without a mask", {BIAS: "tl.load(bias_ptr + offs_n)"}, "Unmasked load",
            fails="correct or edges"),
    Mistake("the bias is left out", {SUM: "x.to(tl.float32)"}, "left out"),
    Mistake("the bias is added after the GELU",
            {SUM: "x.to(tl.float32)", "gelu(u), mask": "gelu(u) + bias.to(tl.float32)[None, :], mask"},
            "before"),
    Mistake("tanh is (e^2z - 1) / (e^2z + 1), which is Inf / Inf for large z",
            {FORMULA: f"0.5 * u * (1 + (tl.exp(2 * {Z}) - 1) / (tl.exp(2 * {Z}) + 1))"}, "Inf / Inf",
            fails="edges"),
    Mistake("u and its cube are computed in x's fp16",
            {SUM: "(x + bias[None, :])",
             FORMULA: "u / (1 + tl.exp(-1.595769 * (u + 0.044715 * u * u * u).to(tl.float32)))"},
            "precision"),
    Mistake("GELU by erf is computed", {FORMULA: "0.5 * u * (1 + tl.erf(0.70710678 * u))"}, "erf"),
    Mistake("the half is left out",
            {FORMULA: "2 * u * tl.sigmoid(2 * 0.7978845608 * (u + 0.044715 * u * u * u))"}, "2 times"),
    Mistake("x's rows are taken to be n_cols apart", {LOAD: LOAD.replace("stride_xm", "n_cols")}, "stride",
            fails="edges"),
    Mistake("only columns are masked",
            {MASK: "mask = tl.full((BLOCK_M, 1), 1, tl.int1) & (offs_n < n_cols)[None, :]"},
            "every lane through"),
    Mistake("only rows are masked",
            {MASK: "mask = (offs_m < n_rows)[:, None] & tl.full((1, BLOCK_N), 1, tl.int1)"}, "both sides"),
    Mistake("the grid rounds the rows down", {"triton.cdiv(n_rows, BLOCK_M) *": "(n_rows // BLOCK_M) *"},
            "never written"),
    Mistake("the result is always fp32", {ALLOCATION: "y = torch.empty(n_rows, n_cols, device=x.device)"},
            "dtype"),
    Mistake("the result overwrites x", {ALLOCATION: "y = x"}, "input"),
    Mistake("nothing is returned", {RETURN: "    y"}, "returns nothing"),
    Mistake("torch adds the bias",
            {"    n_rows, n_cols = x.shape": "    x = x + bias\n    n_rows, n_cols = x.shape",
             SUM: "x.to(tl.float32)"}, "torch", fails="honest"),
    Mistake("tanh by a quotient of e to the minus 2z, Inf / Inf where z is far below 0",
            {FORMULA: f"0.5 * u * (1 + (1 - tl.exp(-2 * {Z})) / (1 + tl.exp(-2 * {Z})))"},
            "Keep exponents from being positive", fails="edges"),
    Mistake("half done: gelu alone", {}, "launches no kernel yet", undone=("bias_gelu_kernel", "bias_gelu"),
            so_far="gelu ✓ · not started: reads of x and bias, stores of y, bounds, values, launcher"),
    Mistake(
        "half done: gelu is wrong, the kernel right, and no launch",
        {"- 0.10294324": "+ 0.10294324"},
        "launches no kernel yet",
        undone=("bias_gelu",),
        so_far="gelu ✗ · reads of x and bias ✓ · stores of y ✓ · bounds ✓ · values ✓ · not started: launcher",
    ),
    Mistake("GELU by a sigmoid", {FORMULA: "u / (1 + tl.exp(-1.702 * u))"}, "sigmoid(1.702 u)"),
]
