"""Extra: what an RMS norm and its backward pass get wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALONG = "along_x_hat = tl.sum(dx_hat * x_hat, axis=0) / n_cols"
DTYPE = "dx_ptr.dtype.element_ty"
DY = "dy_ptr + row * stride_dym + cols * stride_dyn"
DX = "dx = (dx_hat - x_hat * along_x_hat) * rstd"
PART = "part = torch.empty(n_parts, n_cols, dtype=torch.float32, device=x.device)"
RSTD = "rstd = tl.rsqrt(tl.sum(x * x, axis=1) / n_cols + eps)"
SAVE = "ctx.save_for_backward(x, weight, rstd)"
STORE_PART = "tl.store(dweight_part_ptr + pid * n_cols + offs_n, dweight, mask=mask)"
SUM = "dweight += dy * x_hat"
WIDE = "    x = x.to(tl.float32)\n"
Y = "y = x * rstd[:, None] * (offset + weight.to(tl.float32))[None, :]"
ZEROS = "dweight = tl.zeros((BLOCK_N,), tl.float32)"

# fmt: off
mistakes = [
    Mistake("a mean is subtracted, as layer norm does",
            {WIDE: f"{WIDE}    x = tl.where(mask, x - (tl.sum(x, axis=1) / n_cols)[:, None], 0.0)\n"},
            "A mean is subtracted"),
    Mistake("eps is added outside of the root",
            {RSTD: "rstd = 1 / (tl.sqrt(tl.sum(x * x, axis=1) / n_cols) + eps)"}, "outside of the root"),
    Mistake("eps is added to the sum of the squares",
            {RSTD: "rstd = tl.rsqrt((tl.sum(x * x, axis=1) + eps) / n_cols)"}, "eps is divided by n"),
    Mistake("eps is left out", {RSTD: RSTD.replace(" + eps", "")}, "eps is missing"),
    Mistake("the squares are divided by the block's width", {RSTD: RSTD.replace("n_cols", "BLOCK_N")},
            "block's width"),
    Mistake("the root is missing", {RSTD: RSTD.replace("tl.rsqrt(", "1 / (")}, "root is missing"),
    Mistake("x is squared in its own dtype",
            {WIDE: f"    squares = (x * x).to(tl.float32)\n{WIDE}", RSTD: RSTD.replace("x * x", "squares")},
            "squared in fp16"),
    Mistake("the offset is dropped", {Y: Y.replace("offset + ", "")}, "offset"),
    Mistake("the offset is dropped in the backward pass", {"gain = offset + tl.load": "gain = tl.load"},
            "In dx the offset is dropped"),
    Mistake("dx takes rstd for a constant", {ALONG: "along_x_hat = 0.0"}, "constant"),
    Mistake("dx takes away a mean of dx_hat",
            {DX: "dx = (dx_hat - tl.sum(dx_hat, axis=0) / n_cols - x_hat * along_x_hat) * rstd"},
            "as layer norm does"),
    Mistake("dx lacks the last factor", {DX: DX.replace(" * rstd", "")}, "last factor"),
    Mistake("dweight is summed with x", {SUM: "dweight += dy * x"}, "with x"),
    Mistake("dweight is summed with the weight", {SUM: "dweight += dy * gain * x_hat"}, "as it comes"),
    Mistake("dweight is a sum in the dtype of x",
            {ZEROS: f"dweight = tl.zeros((BLOCK_N,), {DTYPE})", SUM: f"dweight += (dy * x_hat).to({DTYPE})"},
            "precision"),
    Mistake(
        "each row replaces the sum so far",
        {SUM: "dweight = dy * x_hat"},
        "last row of each program",
        on_gpu="In the gradient of weight: At [",  # programs take several rows in one case alone
    ),
    Mistake("programs add to one row by load, add and store",
            {STORE_PART: "p = dweight_part_ptr + offs_n\n    tl.store(p, tl.load(p, mask) + dweight, mask)",
             PART: "part = torch.zeros(1, n_cols, dtype=torch.float32, device=x.device)"}, "race"),
    Mistake("dy is taken to be contiguous", {DY: "dy_ptr + row * n_cols + offs_n"}, "stride", fails="edges"),
    Mistake("y is kept as well",
            {SAVE: "ctx.save_for_backward(x, weight, rstd, y)",
             "x, weight, rstd = ctx": "x, weight, rstd, y = ctx"}, "keeps"),
    Mistake("the store of y has no mask", {"offs_n[None, :], y, mask=mask)": "offs_n[None, :], y)"},
            "Unmasked store"),
    Mistake("dx overwrites dy",
            {"dx = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)": "dx = dy"},
            "upstream gradient"),
    Mistake("half done: the forward pass alone", {}, "never written",
            undone=("backward_kernel", "column_sum_kernel"),
            so_far="reads of x ✓ · y ✓ · what backward reads ✓ · not started: dx, partial sums, column sums"),
    Mistake("half done: y is stored, rstd is not kept yet",
            {"    tl.store(rstd_ptr + offs_m, rstd, mask=rows)\n": ""},
            "backward_kernel reads rstd_ptr, and torch.empty leaves anything there",
            so_far="reads of x ✓ · y ✓ · dx ✓ · partial sums ✓ · column sums ✓ · "
             "not started: what backward reads"),
    Mistake("half done: dx is stored, the partial sums are not yet",
            {"    tl.store(dweight_part_ptr + pid * n_cols + offs_n, dweight, mask=mask)\n": ""},
            "column_sum_kernel reads part_ptr, and torch.empty leaves anything there",
            so_far="reads of x ✓ · y ✓ · what backward reads ✓ · dx ✓ · column sums ✓ · "
             "not started: partial sums"),
    Mistake("half done: the columns are not summed", {}, "never written", undone=("column_sum_kernel",),
            so_far="reads of x ✓ · y ✓ · what backward reads ✓ · dx ✓ · partial sums ✓ · "
             "not started: column sums"),
    Mistake("128 partial sums are added, and a GPU has more programs",
            {"(0, n_parts, BLOCK_P)": "(0, min(n_parts, 128), BLOCK_P)"}, "Where the launcher sees a GPU",
            fails="correct or edges", on_gpu="In the gradient of weight"),
    Mistake("a row of 32 warps leaves no program for an SM",
            {"sms * max(16 // num_warps, 1)": "sms * (16 // num_warps)"}, "raised ZeroDivisionError",
            fails="correct or edges"),
    Mistake("the offset of the weight is kept in a global",
            {"ctx.offset = offset": "global kept\n        kept = offset",
             "            ctx.offset,": "            kept,"}, "another forward pass", fails="edges",
            at="global kept"),
    Mistake("the rows that 132 does not divide get no program",
            {"programs = 2\n": "programs = 132\n",
             "max(triton.cdiv(n_rows, programs), 1)": "max(n_rows // programs, 1)",
             "triton.cdiv(n_rows, rows_each)": "min(triton.cdiv(n_rows, rows_each), programs)"},
            "never written"),
    Mistake("eps is 1e-6 at least", {"/ n_cols + eps)": "/ n_cols + tl.maximum(eps, 1e-6))"}, "is right"),
    Mistake("eps is squared", {RSTD: RSTD.replace("+ eps", "+ eps * eps")}, "eps is squared"),
    Mistake("eps is the least mean square",
            {RSTD: RSTD.replace("rsqrt(", "rsqrt(tl.maximum(").replace(" + eps", ", eps)")},
            "eps is the least that the mean square may be"),
]
