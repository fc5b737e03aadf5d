"""Extra: what goes wrong between a residual, its norm and int8, and what the grader must say about it."""

from tools.planted import Mistake

AMAX = "amax = tl.max(tl.abs(y), axis=0)"
GRID = "add_rms_norm_quant_kernel[(n_rows,)]"
H = "h = total.to(tl.float32)"
MEAN = "tl.sum(h * h, axis=0) / n_cols + eps"
Q = "libdevice.rint(y / scale).to(tl.int8)"
RETURN = "    return q, scale"
SCALE = "scale = tl.where(amax > 0, amax / 127.0, 1.0)"
STORE = "tl.store(residual_ptr + offs, total, mask=mask)"
STORE_Q = f"tl.store(q_ptr + offs, {Q}, mask=mask)"
Y = "y = h * tl.rsqrt(tl.sum(h * h, axis=0) / n_cols + eps) * weight"

# fmt: off
mistakes = [
    Mistake("the norm of the sum before it is rounded", {H: "h = residual + x"}, "before it was rounded"),
    Mistake("the norm of x alone", {H: "h = x"}, "norm of x alone"),
    Mistake("the norm of the old residual", {H: "h = residual"}, "before x was added"),
    Mistake("residual is left as it was", {f"    {STORE}\n": ""}, "what it was before"),
    Mistake("the sum is stored into x", {STORE: STORE.replace("residual_ptr", "x_ptr")}, "x"),
    Mistake("the weight comes after amax",
            {Y: Y.replace(" * weight", ""), Q: "libdevice.rint(y * weight / scale).to(tl.int8)"},
            ("The weight comes after", "residual: right in every case")),
    Mistake("no weight", {Y: Y.replace(" * weight", "")}, "The weight is missing"),
    Mistake("the scale of a row of zeros is 0", {SCALE: "scale = amax / 127.0"},
            "The scale of a row of zeros must be 1"),
    Mistake("cut off", {Q: "(y / scale).to(tl.int8)"}, "Quotients are cut off"),
    Mistake("rounded down", {Q: "tl.floor(y / scale).to(tl.int8)"}, "Quotients are rounded down"),
    Mistake("halves rounded up", {Q: "tl.floor(y / scale + 0.5).to(tl.int8)"}, "Halves are rounded up"),
    Mistake("halves rounded away from 0", {Q: "libdevice.round(y / scale).to(tl.int8)"},
            "Halves are rounded away from 0"),
    Mistake("amax / 128, which wraps", {"amax / 127.0, 1.0": "amax / 128.0, 1.0"}, "divide by 127"),
    Mistake("unsigned bytes", {"dtype=torch.int8": "dtype=torch.uint8"}, "int8"),
    Mistake("the scale that is stored is turned round",
            {"tl.store(scale_ptr + row, scale)": "tl.store(scale_ptr + row, 1 / scale)"},
            "scale is turned round"),
    Mistake("amax is stored", {"tl.store(scale_ptr + row, scale)": "tl.store(scale_ptr + row, amax)"},
            "scale is amax itself"),
    Mistake("the largest with its sign", {AMAX: "amax = tl.max(y, axis=0)"},
            ("with its sign", "residual: right in every case")),
    Mistake("the norm is rounded to 16 bits",
            {AMAX: f"y = y.to(residual_ptr.dtype.element_ty).to(tl.float32)\n    {AMAX}"}, "stay in fp32"),
    Mistake("squares in 16 bits", {MEAN: MEAN.replace("h * h", "total * total")},
            ("close but not close enough", "Squares are rounded"), fails="correct or edges"),
    Mistake("the mean is over the block", {MEAN: MEAN.replace("n_cols", "BLOCK_N")}, "over the block"),
    Mistake("eps beside the root", {Y: "y = h / (tl.sqrt(tl.sum(h * h, axis=0) / n_cols) + eps) * weight"},
            ("eps is added to the root", "close but not close enough")),
    Mistake("no eps", {MEAN: MEAN.replace(" + eps", "")}, "eps is missing"),
    Mistake("a layer norm", {H: f"{H}\n    h = tl.where(mask, h - tl.sum(h, axis=0) / n_cols, 0.0)"},
            "The mean is subtracted"),
    Mistake("the last row is left out", {GRID: GRID.replace("n_rows", "n_rows - (n_rows > 1)")},
            "never written"),
    Mistake("a store without a mask", {STORE_Q: f"tl.store(q_ptr + offs, {Q})"}, "Unmasked store"),
    Mistake("residual is returned, too", {RETURN: "    return q, scale, residual"}, "2 outputs"),
]
