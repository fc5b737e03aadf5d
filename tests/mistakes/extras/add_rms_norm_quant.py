"""Extra: what goes wrong between a residual, its norm and int8, and what the grader must say about it."""

from __future__ import annotations

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

mistakes = [
    Mistake(
        "the norm of the sum before it is rounded",
        swap={H: "h = residual + x"},
        fails="correct",
        says="before it was rounded",
    ),
    Mistake("the norm of x alone", swap={H: "h = x"}, fails="correct", says="norm of x alone"),
    Mistake(
        "the norm of the old residual", swap={H: "h = residual"}, fails="correct", says="before x was added"
    ),
    Mistake(
        "residual is left as it was",
        swap={f"    {STORE}\n": ""},
        fails="correct",
        says="what it was before",
    ),
    Mistake(
        "the sum is stored into x",
        swap={STORE: STORE.replace("residual_ptr", "x_ptr")},
        fails="correct",
        says="x",
    ),
    Mistake(
        "the weight comes after amax",
        swap={Y: Y.replace(" * weight", ""), Q: "libdevice.rint(y * weight / scale).to(tl.int8)"},
        fails="correct",
        says=("The weight comes after", "residual: right in every case"),
    ),
    Mistake("no weight", swap={Y: Y.replace(" * weight", "")}, fails="correct", says="The weight is missing"),
    Mistake(
        "the scale of a row of zeros is 0",
        swap={SCALE: "scale = amax / 127.0"},
        fails="correct",
        says="The scale of a row of zeros must be 1",
    ),
    Mistake(
        "a row of zeros has a small scale",
        swap={SCALE: "scale = tl.maximum(amax, 1e-5) / 127.0"},
        fails="correct",
        says="The scale of a row of zeros must be 1",
    ),
    Mistake("cut off", swap={Q: "(y / scale).to(tl.int8)"}, fails="correct", says="Quotients are cut off"),
    Mistake(
        "rounded down",
        swap={Q: "tl.floor(y / scale).to(tl.int8)"},
        fails="correct",
        says="Quotients are rounded down",
    ),
    Mistake(
        "halves rounded up",
        swap={Q: "tl.floor(y / scale + 0.5).to(tl.int8)"},
        fails="correct",
        says="Halves are rounded up",
    ),
    Mistake(
        "halves rounded away from 0",
        swap={Q: "libdevice.round(y / scale).to(tl.int8)"},
        fails="correct",
        says="Halves are rounded away from 0",
    ),
    Mistake(
        "amax / 128, which wraps",
        swap={"amax / 127.0, 1.0": "amax / 128.0, 1.0"},
        fails="correct",
        says="divide by 127",
    ),
    Mistake(
        "amax / 128, clamped",
        swap={
            "amax / 127.0, 1.0": "amax / 128.0, 1.0",
            Q: "tl.clamp(libdevice.rint(y / scale), -128.0, 127.0).to(tl.int8)",
        },
        fails="correct",
        says="divide by 127",
    ),
    Mistake(
        "unsigned bytes",
        swap={"dtype=torch.int8": "dtype=torch.uint8"},
        fails="correct",
        says="int8",
    ),
    Mistake(
        "the scale that is stored is turned round",
        swap={"tl.store(scale_ptr + row, scale)": "tl.store(scale_ptr + row, 1 / scale)"},
        fails="correct",
        says="scale is turned round",
    ),
    Mistake(
        "amax is stored",
        swap={"tl.store(scale_ptr + row, scale)": "tl.store(scale_ptr + row, amax)"},
        fails="correct",
        says="scale is amax itself",
    ),
    Mistake(
        "the largest with its sign",
        swap={AMAX: "amax = tl.max(y, axis=0)"},
        fails="correct",
        says=("with its sign", "residual: right in every case"),
    ),
    Mistake(
        "the norm is rounded to 16 bits",
        swap={AMAX: f"y = y.to(residual_ptr.dtype.element_ty).to(tl.float32)\n    {AMAX}"},
        fails="correct",
        says="stay in fp32",
    ),
    Mistake(
        "squares in 16 bits",
        swap={MEAN: MEAN.replace("h * h", "total * total")},
        fails="correct or edges",
        says=("close but not close enough", "Squares are rounded"),
    ),
    Mistake(
        "the mean is over the block",
        swap={MEAN: MEAN.replace("n_cols", "BLOCK_N")},
        fails="correct",
        says="over the block",
    ),
    Mistake(
        "eps beside the root",
        swap={Y: "y = h / (tl.sqrt(tl.sum(h * h, axis=0) / n_cols) + eps) * weight"},
        fails="correct",
        says=("eps is added to the root", "close but not close enough"),
    ),
    Mistake("no eps", swap={MEAN: MEAN.replace(" + eps", "")}, fails="correct", says="eps is missing"),
    Mistake(
        "a layer norm",
        swap={H: f"{H}\n    h = tl.where(mask, h - tl.sum(h, axis=0) / n_cols, 0.0)"},
        fails="correct",
        says="The mean is subtracted",
    ),
    Mistake(
        "the last row is left out",
        swap={GRID: GRID.replace("n_rows", "n_rows - (n_rows > 1)")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "a store without a mask",
        swap={STORE_Q: f"tl.store(q_ptr + offs, {Q})"},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake("scale first", swap={RETURN: "    return scale, q"}, fails="correct", says="shape"),
    Mistake(
        "residual is returned, too",
        swap={RETURN: "    return q, scale, residual"},
        fails="correct",
        says="2 outputs",
    ),
    Mistake(
        "torch adds",
        swap={
            "    n_rows, n_cols = x.shape\n": "    n_rows, n_cols = x.shape\n"
            "    residual.add_(x)\n    x = torch.zeros_like(x)\n"
        },
        fails="honest",
        says="torch",
    ),
]
