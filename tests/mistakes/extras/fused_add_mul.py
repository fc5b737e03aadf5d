"""Extra: what a fused sum and product gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

COORDINATES = "i0, i1, i2 = row // (n1 * n2), row // n2 % n1, row % n2"
GRID = "grid = (n0 * n1 * n2 * triton.cdiv(n3, BLOCK),)"
LOAD_Y = "y = tl.load(y_ptr + i0 * y0 + i1 * y1 + i2 * y2 + offs * y3, mask=mask)"
LOAD_Z = "z = tl.load(z_ptr + i0 * z0 + i1 * z1 + i2 * z2 + offs * z3, mask=mask)"
OFFS = "offs = (tl.program_id(0) % pieces).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)"
RESULT = "result = (x.to(tl.float32) + y.to(tl.float32)) * z.to(tl.float32)"
ROW = "row = (tl.program_id(0) // pieces).to(tl.int64)"
START = "    flat = "
STORE = "tl.store(out_ptr + row * n3 + offs, result, mask=mask)"
STRIDES = "*x.stride(), *y.stride(), *z.stride()"

mistakes = [
    Mistake(
        "the product comes first",
        swap={RESULT: "result = x.to(tl.float32) * z.to(tl.float32) + y.to(tl.float32)"},
        fails="correct",
        says="the sum comes first",
    ),
    Mistake(
        "the brackets are left out",
        swap={RESULT: "result = x.to(tl.float32) + y.to(tl.float32) * z.to(tl.float32)"},
        fails="correct",
        says="the sum comes first",
    ),
    Mistake(
        "the sum is not multiplied",
        swap={RESULT: "result = x.to(tl.float32) + y.to(tl.float32)"},
        fails="correct",
        says="z is not used",
    ),
    Mistake(
        "the sum is rounded to fp16, and ends at 65504",
        swap={RESULT: "result = (x + y) * z"},
        fails="correct or edges",
        says=("fp16", "16-bit"),
    ),
    Mistake(
        "all are taken to be contiguous",
        swap={
            LOAD_Y: "y = tl.load(y_ptr + row * n3 + offs, mask=mask)",
            LOAD_Z: "z = tl.load(z_ptr + row * n3 + offs, mask=mask)",
            "x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + offs * x3, mask=mask)": (
                "x = tl.load(x_ptr + row * n3 + offs, mask=mask)"
            ),
        },
        fails="edges",
        says=("stride", "gap"),
    ),
    Mistake(
        "y is read by the strides of x",
        swap={STRIDES: STRIDES.replace("*y.", "*x.")},
        fails="edges",
        says=("stride", "past the end of y"),
    ),
    Mistake(
        "y's last stride is taken to be 1",
        swap={"offs * y3": "offs"},
        fails="edges",
        says="In every case that fails y is not",
    ),
    Mistake(
        "y's second stride is forgotten",
        swap={" + i1 * y1": ""},
        fails="edges",
        says="Of the inputs that are not contiguous, some come out wrong",
    ),
    Mistake(
        "two coordinates are exchanged",
        swap={COORDINATES: "i0, i2, i1 = row // (n1 * n2), row // n2 % n1, row % n2"},
        fails="edges",
        says="Of the inputs that are not contiguous, some come out wrong",
    ),
    Mistake(
        "the second coordinate has no end",
        swap={COORDINATES: COORDINATES.replace(" % n1", "")},
        fails="edges",
        says="Of the inputs that are not contiguous, some come out wrong",
    ),
    Mistake(
        "the second coordinate is taken by its own size",
        swap={COORDINATES: "i0, i1, i2 = row // (n1 * n2), row // n1 % n1, row % n2"},
        fails="edges",
        says="Of the inputs that are not contiguous, some come out wrong",
    ),
    Mistake(
        "out is written by the strides of x",
        swap={STORE: "tl.store(out_ptr + i0 * x0 + i1 * x1 + i2 * x2 + offs * x3, result, mask=mask)"},
        fails="edges",
        says="a stride is ignored, taken for granted or another tensor's",
    ),
    Mistake(
        "the last, partial piece of a row gets no program",
        swap={GRID: "grid = (n0 * n1 * n2 * (n3 // BLOCK),)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "only one row is launched",
        swap={GRID: "grid = (triton.cdiv(n3, BLOCK),)"},
        fails="edges",
        says="never written",
    ),
    Mistake(
        "the store has no mask",
        swap={STORE: "tl.store(out_ptr + row * n3 + offs, result)"},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "offsets in a row are counted in 32 bits",
        swap={OFFS: OFFS.replace(".to(tl.int64)", "")},
        fails="limit",
        says="int32",
    ),
    Mistake(
        "rows are counted in 32 bits",
        swap={ROW: ROW.replace(".to(tl.int64)", "")},
        fails="limit",
        says="int32",
    ),
    Mistake(
        "torch does the work",
        swap={START: f"    return out.copy_((x.float() + y.float()) * z.float())\n{START}"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "torch copies strided tensors first",
        swap={START: f"    x, y, z = x.contiguous(), y.contiguous(), z.contiguous()\n{START}"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "torch adds, and the kernel multiplies",
        swap={
            START: f"    x = x.float() + y.float()\n{START}",
            RESULT: "result = x.to(tl.float32) * z.to(tl.float32)",
        },
        fails="honest",
        says="torch",
    ),
]
