"""Extra: what an RMS norm and its backward pass get wrong, and what the grader must say about it."""

from __future__ import annotations

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

mistakes = [
    Mistake(
        "a mean is subtracted, as layer norm does",
        swap={WIDE: f"{WIDE}    x = tl.where(mask, x - (tl.sum(x, axis=1) / n_cols)[:, None], 0.0)\n"},
        fails="correct",
        says="A mean is subtracted",
    ),
    Mistake(
        "eps is added outside of the root",
        swap={RSTD: "rstd = 1 / (tl.sqrt(tl.sum(x * x, axis=1) / n_cols) + eps)"},
        fails="correct",
        says="outside of the root",
    ),
    Mistake(
        "eps is added to the sum of the squares",
        swap={RSTD: "rstd = tl.rsqrt((tl.sum(x * x, axis=1) + eps) / n_cols)"},
        fails="correct",
        says="eps is divided by n",
    ),
    Mistake(
        "eps is left out", swap={RSTD: RSTD.replace(" + eps", "")}, fails="correct", says="eps is missing"
    ),
    Mistake(
        "the squares are divided by the block's width",
        swap={RSTD: RSTD.replace("n_cols", "BLOCK_N")},
        fails="correct",
        says="block's width",
    ),
    Mistake(
        "the root is missing",
        swap={RSTD: RSTD.replace("tl.rsqrt(", "1 / (")},
        fails="correct",
        says="root is missing",
    ),
    Mistake(
        "x is squared in its own dtype",
        swap={WIDE: f"    squares = (x * x).to(tl.float32)\n{WIDE}", RSTD: RSTD.replace("x * x", "squares")},
        fails="correct",
        says="squared in fp16",
    ),
    Mistake(
        "the offset is dropped",
        swap={Y: Y.replace("offset + ", "")},
        fails="correct",
        says="offset",
    ),
    Mistake(
        "the offset is dropped in the backward pass",
        swap={"gain = offset + tl.load": "gain = tl.load"},
        fails="correct",
        says="In dx the offset is dropped",
    ),
    Mistake(
        "dx takes rstd for a constant", swap={ALONG: "along_x_hat = 0.0"}, fails="correct", says="constant"
    ),
    Mistake(
        "dx takes away a mean of dx_hat",
        swap={DX: "dx = (dx_hat - tl.sum(dx_hat, axis=0) / n_cols - x_hat * along_x_hat) * rstd"},
        fails="correct",
        says="as layer norm does",
    ),
    Mistake(
        "the mean in dx is divided by the block's width",
        swap={ALONG: ALONG.replace("n_cols", "BLOCK_N")},
        fails="correct",
        says="block's width",
    ),
    Mistake(
        "dx lacks the last factor", swap={DX: DX.replace(" * rstd", "")}, fails="correct", says="last factor"
    ),
    Mistake("dweight is summed with x", swap={SUM: "dweight += dy * x"}, fails="correct", says="with x"),
    Mistake(
        "dweight is summed with the weight",
        swap={SUM: "dweight += dy * gain * x_hat"},
        fails="correct",
        says="as it comes",
    ),
    Mistake(
        "dweight is a sum in the dtype of x",
        swap={ZEROS: f"dweight = tl.zeros((BLOCK_N,), {DTYPE})", SUM: f"dweight += (dy * x_hat).to({DTYPE})"},
        fails="correct",
        says="precision",
    ),
    Mistake(
        "each row replaces the sum so far",
        swap={SUM: "dweight = dy * x_hat"},
        fails="correct",
        says="last row of each program",
        on_gpu="In the gradient of weight: At [",  # programs take several rows in one case alone
    ),
    Mistake(
        "all programs store to the first row of partial sums",
        swap={STORE_PART: STORE_PART.replace("pid * n_cols + ", "")},
        fails="correct",
        says="torch.empty",
    ),
    Mistake(
        "programs add to one row by load, add and store",
        swap={
            STORE_PART: "p = dweight_part_ptr + offs_n\n    tl.store(p, tl.load(p, mask) + dweight, mask)",
            PART: "part = torch.zeros(1, n_cols, dtype=torch.float32, device=x.device)",
        },
        fails="correct",
        says="race",
    ),
    Mistake(
        "dy is taken to be contiguous",
        swap={DY: "dy_ptr + row * n_cols + offs_n"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "rows of x are taken to be n_cols apart",
        swap={"offs_m[:, None] * stride_xm": "offs_m[:, None] * n_cols"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "backward takes the rows of x to be n_cols apart",
        swap={"x_ptr + row * stride_xm + offs_n": "x_ptr + row * n_cols + offs_n"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "rstd is not kept",
        swap={"    tl.store(rstd_ptr + offs_m, rstd, mask=rows)\n": ""},
        fails="correct",
        says="torch.empty",
    ),
    Mistake(
        "y is kept as well",
        swap={
            SAVE: "ctx.save_for_backward(x, weight, rstd, y)",
            "x, weight, rstd = ctx": "x, weight, rstd, y = ctx",
        },
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "the store of y has no mask",
        swap={"offs_n[None, :], y, mask=mask)": "offs_n[None, :], y)"},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "dx overwrites dy",
        swap={"dx = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)": "dx = dy"},
        fails="correct",
        says="upstream gradient",
    ),
    Mistake(
        "torch sums up dweight",
        swap={"return dx, dweight, None, None": "return dx, part.sum(dim=0).to(x.dtype), None, None"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "half done: the forward pass alone",
        swap={},
        fails="correct",
        says="never written",
        undone=("backward_kernel", "column_sum_kernel"),
        so_far="reads of x ✓ · y ✓ · what backward reads ✓ · not started: dx, partial sums, column sums",
    ),
    Mistake(
        "half done: y is stored, rstd is not kept yet",
        swap={"    tl.store(rstd_ptr + offs_m, rstd, mask=rows)\n": ""},
        fails="correct",
        says="backward_kernel reads rstd_ptr, and torch.empty leaves anything there",
        so_far="reads of x ✓ · y ✓ · dx ✓ · partial sums ✓ · column sums ✓ · "
        "not started: what backward reads",
    ),
    Mistake(
        "half done: dx is stored, the partial sums are not yet",
        swap={"    tl.store(dweight_part_ptr + pid * n_cols + offs_n, dweight, mask=mask)\n": ""},
        fails="correct",
        says="column_sum_kernel reads part_ptr, and torch.empty leaves anything there",
        so_far="reads of x ✓ · y ✓ · what backward reads ✓ · dx ✓ · column sums ✓ · "
        "not started: partial sums",
    ),
    Mistake(
        "half done: the columns are not summed",
        swap={},
        fails="correct",
        says="never written",
        undone=("column_sum_kernel",),
        so_far="reads of x ✓ · y ✓ · what backward reads ✓ · dx ✓ · partial sums ✓ · "
        "not started: column sums",
    ),
    Mistake(
        "128 partial sums are added, and a GPU has more programs",
        swap={"(0, n_parts, BLOCK_P)": "(0, min(n_parts, 128), BLOCK_P)"},
        fails="correct or edges",
        says="reads nothing of what that program left there",
        on_gpu="In the gradient of weight",
    ),
    Mistake(
        "a row of 32 warps leaves no program for an SM",
        swap={"sms * max(16 // num_warps, 1)": "sms * (16 // num_warps)"},
        fails="correct or edges",
        says="raised ZeroDivisionError",
    ),
    Mistake(
        "the offset of the weight is kept in a global",
        swap={
            "ctx.offset = offset": "global kept\n        kept = offset",
            "            ctx.offset,": "            kept,",
        },
        fails="edges",
        says="another forward pass",
        at="global kept",
    ),
    Mistake(
        "the rows that 132 does not divide get no program",
        swap={
            "programs = 2\n": "programs = 132\n",
            "max(triton.cdiv(n_rows, programs), 1)": "max(n_rows // programs, 1)",
            "triton.cdiv(n_rows, rows_each)": "min(triton.cdiv(n_rows, rows_each), programs)",
        },
        fails="correct",
        says="never written",
    ),
    Mistake(
        "eps is 1e-6 at least",
        swap={"/ n_cols + eps)": "/ n_cols + tl.maximum(eps, 1e-6))"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "eps is squared",
        swap={RSTD: RSTD.replace("+ eps", "+ eps * eps")},
        fails="correct",
        says="eps is squared",
    ),
    Mistake(
        "eps is the least mean square",
        swap={RSTD: RSTD.replace("rsqrt(", "rsqrt(tl.maximum(").replace(" + eps", ", eps)")},
        fails="correct",
        says="eps is the least that the mean square may be",
    ),
]
