"""Day 23: what a fused layer norm and its backward pass get wrong, and what the grader must say about it."""

from tools.planted import Mistake

ADD_DS = "dx += ds.to(tl.float32)"
ALONG_MEAN = "along_mean = tl.sum(dx_hat, axis=0) / n_cols"
ALONG_X_HAT = "along_x_hat = tl.sum(dx_hat * x_hat, axis=0) / n_cols"
APPLY = "return AddLayerNorm.apply(x, residual, weight, bias, eps)"
CENTRED = "centred = tl.where(mask, s - mean, 0.0)"
DX = "dx = torch.empty_like(s)"
KEPT = 'ctx.__dict__.setdefault("dweight", torch.zeros_like(weight))'
N_PARTS = "n_parts = triton.cdiv(n_rows, rows_each)"
ONE_PART = "torch.zeros(1, n_cols, dtype=torch.float32, device=s.device)"
PARTS = "torch.empty(n_parts, n_cols, dtype=torch.float32, device=s.device)"
RETURN = "return dx, dx, dweight, dbias, None"
ROWS = "tl.range(pid * rows_each, min((pid + 1) * rows_each, n_rows), num_stages=NUM_STAGES)"
RSTD = "rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / n_cols + eps)"
S = "s = (x + residual).to(s_ptr.dtype.element_ty)"
SAVE = "ctx.save_for_backward(s, weight, mean, rstd)"
STORE_DBIAS = "tl.store(dbias_part_ptr + pid * n_cols + offs_n, dbias, mask=mask)"
STORE_DWEIGHT = "tl.store(dweight_part_ptr + pid * n_cols + offs_n, dweight, mask=mask)"
STORE_Y = "tl.store(y_ptr + row * n_cols + offs_n, centred * rstd * weight + bias, mask=mask)"
SUM_DWEIGHT = "tl.sum(dweight, axis=0), mask=offs_n < n_cols)"

# fmt: off
mistakes = [
    Mistake("the residual is never added", {S: S.replace("x + residual", "x")}, "residual"),
    Mistake("the norm is of x alone", {"    s = s.to(tl.float32)\n": "    s = x\n"}, "x alone"),
    Mistake("lanes past the row count in the variance", {CENTRED: "centred = s - mean"}, "past the row"),
    Mistake("the mean is divided by the block's width",
            {"mean = tl.sum(s, axis=0) / n_cols": "mean = tl.sum(s, axis=0) / BLOCK_N"}, "block's width"),
    Mistake("the variance is the mean of squares less the square of the mean",
            {RSTD: "rstd = tl.rsqrt(tl.sum(s * s, axis=0) / n_cols - mean * mean + eps)"}, "precision"),
    Mistake("eps is added outside of the root",
            {RSTD: "rstd = 1.0 / (tl.sqrt(tl.sum(centred * centred, axis=0) / n_cols) + eps)"},
            "outside of the root"),
    Mistake("eps is added to the sum of squares",
            {RSTD: "rstd = tl.rsqrt((tl.sum(centred * centred, axis=0) + eps) / n_cols)"},
            "eps is divided by n"),
    Mistake("eps is a constant of the kernel", {RSTD: RSTD.replace("+ eps", "+ 1e-5")}, "another one"),
    Mistake("the residual is read with x's row stride", {"row * stride_rm": "row * stride_xm"}, "stride"),
    Mistake("rows of x are taken to be n_cols apart", {"row * stride_xm": "row * n_cols"}, "stride",
            fails="edges"),
    Mistake("y's store has no mask", {STORE_Y: STORE_Y.replace(", mask=mask", "")}, "Unmasked store"),
    Mistake("the mean is not saved", {"    tl.store(mean_ptr + row, mean)\n": ""}, "torch.empty"),
    Mistake("x, residual and s are all kept for the backward pass",
            {SAVE: SAVE.replace("rstd)", "rstd, x, residual)"),
             "s, weight, mean, rstd = ctx": "s, weight, mean, rstd, x, residual = ctx"}, "keeps"),
    Mistake("the gradient of s is dropped", {ADD_DS: "dx += 0.0"}, "is dropped"),
    Mistake("the residual gets no gradient", {RETURN: "return dx, None, dweight, dbias, None"},
            "gradient of residual is None"),
    Mistake("eps has no None among the gradients", {RETURN: "return dx, dx, dweight, dbias"},
            "4 values where 5 gradients are asked for"),
    Mistake("the gradients of weight and bias are swapped", {RETURN: "return dx, dx, dbias, dweight, None"},
            "swapped"),
    Mistake("dx takes the mean for a constant", {ALONG_MEAN: "along_mean = 0.0"}, "the mean for"),
    Mistake("dx takes the deviation for a constant", {ALONG_X_HAT: "along_x_hat = 0.0"}, "the deviation for"),
    Mistake("dx lacks the weight", {"dx_hat = dy * weight": "dx_hat = dy"}, "lacks the weight"),
    Mistake("dx lacks the last factor", {"x_hat * along_x_hat) * rstd": "x_hat * along_x_hat)"},
            "last factor"),
    Mistake("dweight is summed with s", {"dweight += dy * x_hat": "dweight += dy * s"}, "with s"),
    Mistake(
        "programs add to one row of partial sums by load, add and store",
        {
            STORE_DWEIGHT: "p = dweight_part_ptr + offs_n\n    tl.store(p, tl.load(p, mask) + dweight, mask)",
            STORE_DBIAS: "p = dbias_part_ptr + offs_n\n    tl.store(p, tl.load(p, mask) + dbias, mask)",
            f"dweight_part = {PARTS}": f"dweight_part = {ONE_PART}",
            f"dbias_part = {PARTS}": f"dbias_part = {ONE_PART}",
        },
        "A race between programs",
    ),
    Mistake("only the partial sums of the first program count",
            {"for start in range(0, n_parts, BLOCK_P):": "for start in range(0, 1, BLOCK_P):",
             "(offs_p < n_parts)": "(offs_p < 1)"}, "rows of one program"),
    Mistake("only the first 128 partial sums are added",
            {"for start in range(0, n_parts, BLOCK_P):": "for start in range(0, BLOCK_P, BLOCK_P):"},
            "is right", fails="correct or edges", on_gpu="gradient of weight"),
    Mistake("each row replaces the sums so far",
            {"dweight += dy * x_hat": "dweight = dy * x_hat", "dbias += dy": "dbias = dy"},
            "last row of each program"),
    Mistake(
        "the sums of an earlier backward pass are added to",
        {
            "dweight = torch.empty_like(weight)": f"dweight = {KEPT}",
            SUM_DWEIGHT: SUM_DWEIGHT.replace(
                ", mask", " + tl.load(dweight_ptr + offs_n, offs_n < n_cols), mask"
            ),
        },
        "times what it should be",
        fails="edges",
    ),
    Mistake("dx overwrites dy", {DX: "dx = dy"}, "upstream gradient"),
    Mistake("the last rows get no program", {N_PARTS: "n_parts = n_rows // rows_each"}, "never written"),
    Mistake(
        "every program takes one row more than it has",
        {ROWS: "tl.range(pid * rows_each, min((pid + 1) * rows_each + 1, n_rows), num_stages=NUM_STAGES)"},
        "twice",
    ),
    Mistake("autograd is told nothing", {APPLY: "with torch.no_grad():\n        " + APPLY}, "not connected"),
    Mistake(
        "the results are always fp32",
        {"y = torch.empty(n_rows, n_cols, dtype=x.dtype, device": "y = torch.empty(n_rows, n_cols, device"},
        "dtype",
    ),
    Mistake("torch copies a strided dy first",
            {f"        {DX}": f"        dy = dy.contiguous()\n        {DX}"}, "strides", fails="limit"),
    Mistake("torch sums up dbias", {RETURN: "return dx, dx, dweight, dy.sum(dim=0), None"}, "torch",
            fails="honest"),
    Mistake("the mean of dy · weight is divided by the block's width",
            {ALONG_MEAN: ALONG_MEAN.replace("n_cols", "BLOCK_N")}, "In dx the mean of dy"),
    Mistake("mean and variance are divided by the block's width",
            {"mean = tl.sum(s, axis=0) / n_cols": "mean = tl.sum(s, axis=0) / BLOCK_N",
             RSTD: RSTD.replace("n_cols", "BLOCK_N")}, "Mean and variance are divided by the block"),
    Mistake("a matrix of fp32 is kept beside s",
            {SAVE: f"{SAVE}\n        ctx.centred = x.new_empty(n_rows, n_cols, dtype=torch.float32)"},
            "bytes for the backward pass"),
    Mistake("half done: s and what is kept, but no y",
            {"    tl.store(y_ptr + row * n_cols + offs_n, centred * rstd * weight + bias, mask=mask)\n": ""},
            "never written", undone=("backward_kernel", "column_sum_kernel"),
            so_far="reads of x and residual ✓ · s ✓ · what backward reads ✓ · "
             "not started: y, dx, partial sums, column sums"),
    Mistake("half done: x_hat is missing in dweight, and the columns are not summed",
            {"dweight += dy * x_hat": "dweight += dy"}, "never written", undone=("column_sum_kernel",),
            so_far="reads of x and residual ✓ · s ✓ · y ✓ · what backward reads ✓ · dx ✓ · "
             "partial sums ✗ · not started: column sums"),
    Mistake("where nothing comes in for y, the residual gets no gradient",
            {"return ds, ds, None, None, None": "return ds, None, None, None, None"},
            "gradient of residual is None", fails="edges"),
    Mistake(
        "the gradient of s is read with the strides of that of y",
        {"ds_ptr + row * stride_dsm + cols * stride_dsn": "ds_ptr + row * stride_dym + cols * stride_dyn"},
        "is right",
        fails="edges",
    ),
    Mistake("what backward needs is kept on the class",
            {"ctx.save_for_backward(s, weight, mean, rstd)": "AddLayerNorm.kept = s, weight, mean, rstd",
             "s, weight, mean, rstd = ctx.saved_tensors": "s, weight, mean, rstd = AddLayerNorm.kept"},
            "another forward pass", fails="edges"),
    Mistake("a stride of 0 along the columns of dy is taken for 1",
            {"            *dy.stride(),\n": ("            dy.stride(0),\n"
             "            dy.stride(1) if dy.stride(0) == 0 else (dy.stride(1) or 1),\n")}, "past the end of",
            fails="edges"),
    Mistake("eps is squared", {RSTD: RSTD.replace("+ eps", "+ eps * eps")}, "eps is squared"),
    Mistake("eps is the least variance",
            {RSTD: RSTD.replace("rsqrt(", "rsqrt(tl.maximum(").replace(" + eps", ", eps)")},
            "eps is the least that the variance may be"),
]
