"""Day 09: what bias and GELU get wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ALLOCATION = "y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)"
BIAS = "tl.load(bias_ptr + offs_n, mask=offs_n < n_cols)"
FORMULA = "u / (1 + tl.exp2(u * (-2.3022082 - 0.10294324 * u * u)))"
LOAD = "tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :], mask=mask)"
MASK = "mask = (offs_m < n_rows)[:, None] & (offs_n < n_cols)[None, :]"
RETURN = "    return y"
STORE = "tl.store(y_ptr + offs_m[:, None] * n_cols + offs_n[None, :], gelu(u), mask=mask)"
SUM = "x.to(tl.float32) + bias.to(tl.float32)[None, :]"
Z = "0.7978845608 * (u + 0.044715 * u * u * u)"

mistakes = [
    Mistake(
        "the bias is indexed by row",
        swap={
            BIAS: "tl.load(bias_ptr + offs_m, mask=offs_m < n_cols)",
            "[None, :]\n    # The only w": "[:, None]\n    # The only w",
        },
        fails="correct",
        says="wrong axis",
    ),
    Mistake(
        "every tile takes the first columns' bias",
        swap={BIAS: "tl.load(bias_ptr + tl.arange(0, BLOCK_N), mask=tl.arange(0, BLOCK_N) < n_cols)"},
        fails="correct",
        says=("is right", "close but not close enough"),
    ),
    Mistake(
        "the bias is read without a mask",
        swap={BIAS: "tl.load(bias_ptr + offs_n)"},
        fails="correct or edges",
        says="Unmasked load",
    ),
    Mistake("the bias is left out", swap={SUM: "x.to(tl.float32)"}, fails="correct", says="left out"),
    Mistake(
        "the bias is added after the GELU",
        swap={SUM: "x.to(tl.float32)", "gelu(u), mask": "gelu(u) + bias.to(tl.float32)[None, :], mask"},
        fails="correct",
        says="before",
    ),
    Mistake(
        "tanh is (e^2z - 1) / (e^2z + 1), which is Inf / Inf for large z",
        swap={
            FORMULA: f"0.5 * u * (1 + (tl.exp(2 * {Z}) - 1) / (tl.exp(2 * {Z}) + 1))",
        },
        fails="edges",
        says="Inf / Inf",
    ),
    Mistake(
        "u and its cube are computed in x's fp16",
        swap={
            SUM: "(x + bias[None, :])",
            FORMULA: "u / (1 + tl.exp(-1.595769 * (u + 0.044715 * u * u * u).to(tl.float32)))",
        },
        fails="correct",
        says="precision",
    ),
    Mistake(
        "GELU by erf is computed",
        swap={FORMULA: "0.5 * u * (1 + tl.erf(0.70710678 * u))"},
        fails="correct",
        says="erf",
    ),
    Mistake(
        "the half is left out",
        swap={FORMULA: "2 * u * tl.sigmoid(2 * 0.7978845608 * (u + 0.044715 * u * u * u))"},
        fails="correct",
        says="2 times",
    ),
    Mistake(
        "x's rows are taken to be n_cols apart",
        swap={LOAD: LOAD.replace("stride_xm", "n_cols")},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "y is written with x's row stride",
        swap={STORE: STORE.replace("n_cols", "stride_xm")},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "only columns are masked",
        swap={MASK: "mask = tl.full((BLOCK_M, 1), 1, tl.int1) & (offs_n < n_cols)[None, :]"},
        fails="correct",
        says="every lane through",
    ),
    Mistake(
        "only rows are masked",
        swap={MASK: "mask = (offs_m < n_rows)[:, None] & tl.full((1, BLOCK_N), 1, tl.int1)"},
        fails="correct",
        says="both sides",
    ),
    Mistake(
        "the grid forgets the columns past the first tile",
        swap={
            "triton.cdiv(n_rows, BLOCK_M) * triton.cdiv(n_cols, BLOCK_N)": "triton.cdiv(n_rows, BLOCK_M)",
            "pid_m = tl.program_id(0) // tiles_n": "pid_m = tl.program_id(0)",
            "pid_n = tl.program_id(0) % tiles_n": "pid_n = 0",
        },
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the grid rounds the rows down",
        swap={"triton.cdiv(n_rows, BLOCK_M) *": "(n_rows // BLOCK_M) *"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the result is always fp32",
        swap={ALLOCATION: "y = torch.empty(n_rows, n_cols, device=x.device)"},
        fails="correct",
        says="dtype",
    ),
    Mistake("the result overwrites x", swap={ALLOCATION: "y = x"}, fails="correct", says="input"),
    Mistake("nothing is returned", swap={RETURN: "    y"}, fails="correct", says="returns nothing"),
    Mistake(
        "torch adds the bias",
        swap={
            "    n_rows, n_cols = x.shape": "    x = x + bias\n    n_rows, n_cols = x.shape",
            SUM: "x.to(tl.float32)",
        },
        fails="honest",
        says="torch",
    ),
    Mistake(
        "tanh by a quotient of e to the minus 2z, Inf / Inf where z is far below 0",
        swap={FORMULA: f"0.5 * u * (1 + (1 - tl.exp(-2 * {Z})) / (1 + tl.exp(-2 * {Z})))"},
        fails="edges",
        says="Keep exponents from being positive",
    ),
    Mistake(
        "half done: gelu alone",
        swap={},
        fails="correct",
        says="launches no kernel yet",
        undone=("bias_gelu_kernel", "bias_gelu"),
        so_far="gelu ✓ · not started: reads of x and bias, stores of y, bounds, values, launcher",
    ),
    Mistake(
        "half done: gelu is wrong, the kernel right, and no launch",
        swap={"- 0.10294324": "+ 0.10294324"},
        fails="correct",
        says="launches no kernel yet",
        undone=("bias_gelu",),
        so_far="gelu ✗ · reads of x and bias ✓ · stores of y ✓ · bounds ✓ · values ✓ · not started: launcher",
    ),
    Mistake(
        "one tile too many is counted where the columns fill their tiles",
        swap={"tiles_n = tl.cdiv(n_cols, BLOCK_N)": "tiles_n = (n_cols + BLOCK_N) // BLOCK_N"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "GELU by a sigmoid",
        swap={FORMULA: "u / (1 + tl.exp(-1.702 * u))"},
        fails="correct",
        says="sigmoid(1.702 u)",
    ),
]
