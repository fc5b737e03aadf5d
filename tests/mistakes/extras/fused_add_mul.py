"""Extra: what a fused sum and product gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

GRID = "grid = (n0 * n1 * n2 * triton.cdiv(n3, BLOCK),)"
LOAD_Y = "y = tl.load(y_ptr + i0 * y0 + i1 * y1 + i2 * y2 + offs * y3, mask=mask)"
LOAD_Z = "z = tl.load(z_ptr + i0 * z0 + i1 * z1 + i2 * z2 + offs * z3, mask=mask)"
RESULT = "result = (x.to(tl.float32) + y.to(tl.float32)) * z.to(tl.float32)"
ROW = "row = (tl.program_id(0) // pieces).to(tl.int64)"
START = "    flat = "
STORE = "tl.store(out_ptr + row * n3 + offs, result, mask=mask)"
STRIDES = "*x.stride(), *y.stride(), *z.stride()"

# fmt: off
mistakes = [
    Mistake("the product comes first",
            {RESULT: "result = x.to(tl.float32) * z.to(tl.float32) + y.to(tl.float32)"},
            "the sum comes first"),
    Mistake("the sum is not multiplied", {RESULT: "result = x.to(tl.float32) + y.to(tl.float32)"},
            "z is not used"),
    Mistake("the sum is rounded to fp16, and ends at 65504", {RESULT: "result = (x + y) * z"},
            ("fp16", "16-bit"), fails="correct or edges"),
    Mistake(
        "all are taken to be contiguous",
        {
            LOAD_Y: "y = tl.load(y_ptr + row * n3 + offs, mask=mask)",
            LOAD_Z: "z = tl.load(z_ptr + row * n3 + offs, mask=mask)",
            "x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + offs * x3, mask=mask)": (
                "x = tl.load(x_ptr + row * n3 + offs, mask=mask)"
            ),
        },
        ("stride", "gap"),
        fails="edges",
    ),
    Mistake("y is read by the strides of x", {STRIDES: STRIDES.replace("*y.", "*x.")},
            ("stride", "past the end of y"), fails="edges"),
    Mistake("y's last stride is taken to be 1", {"offs * y3": "offs"}, "In every case that fails y is not",
            fails="edges"),
    Mistake("y's second stride is forgotten", {" + i1 * y1": ""},
            "Of the inputs that are not contiguous, some come out wrong", fails="edges"),
    Mistake("out is written by the strides of x",
            {STORE: "tl.store(out_ptr + i0 * x0 + i1 * x1 + i2 * x2 + offs * x3, result, mask=mask)"},
            "a stride is ignored, taken for granted or another tensor's", fails="edges"),
    Mistake("the last, partial piece of a row gets no program",
            {GRID: "grid = (n0 * n1 * n2 * (n3 // BLOCK),)"}, "never written"),
    Mistake("only one row is launched", {GRID: "grid = (triton.cdiv(n3, BLOCK),)"}, "never written",
            fails="edges"),
    Mistake("the store has no mask", {STORE: "tl.store(out_ptr + row * n3 + offs, result)"},
            "Unmasked store"),
    Mistake("rows are counted in 32 bits", {ROW: ROW.replace(".to(tl.int64)", "")}, "int32", fails="limit"),
    Mistake("torch does the work",
            {START: f"    return out.copy_((x.float() + y.float()) * z.float())\n{START}"}, "torch",
            fails="honest"),
]
