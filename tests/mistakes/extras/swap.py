"""Extra: what an exchange gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

LOAD_X = "    x = tl.load(x_ptr + offs)\n"
LOAD_Y = "    y = tl.load(y_ptr + offs)\n"
STORE_X = "    tl.store(x_ptr + offs, y)\n"
STORE_Y = "    tl.store(y_ptr + offs, x)\n"
OFFS = "offs = tl.arange(0, BLOCK)"
LAUNCH = "    swap_kernel[(1,)](x, y, BLOCK=x.numel())"

# fmt: off
mistakes = [
    Mistake("x is overwritten before it is read", {LOAD_X: "", STORE_X: f"{STORE_X}{LOAD_X}"},
            "x was overwritten before it was read", wish=True),
    Mistake("y is overwritten before it is read",
            {LOAD_Y: "", STORE_X: "", STORE_Y: f"{STORE_Y}{LOAD_Y}{STORE_X}"},
            "y was overwritten before it was read", wish=True),
    Mistake("the old x is not stored", {STORE_Y: ""}, "y is after the call what it was before"),
    Mistake("the old y is not stored", {STORE_X: ""}, "x is after the call what it was before"),
    Mistake("each is stored where it came from",
            {STORE_X: STORE_X.replace(", y", ", x"), STORE_Y: STORE_Y.replace(", x", ", y")},
            "what it was before"),
    Mistake("names are exchanged, and nothing is stored", {STORE_X: "    x, y = y, x\n", STORE_Y: ""},
            "before"),
    Mistake("offsets are counted in bytes", {OFFS: "offs = tl.arange(0, BLOCK) * 4"}, "past the end of"),
    Mistake("only the first element is exchanged", {OFFS: "offs = tl.arange(0, 1)"}, "never written"),
    Mistake("the block is 1024 whatever n is", {"BLOCK=x.numel()": "BLOCK=1024"}, "past the end of",
            on_gpu="never written"),
    Mistake("a program for each direction",
            {LOAD_Y: f"{LOAD_Y}    first = tl.program_id(0) == 0\n",
             STORE_X: "    tl.store(x_ptr + offs, y, mask=first)\n",
             STORE_Y: "    tl.store(y_ptr + offs, x, mask=first == 0)\n", "[(1,)]": "[(2,)]"}, "race"),
    Mistake("values go through fp32", {LOAD_X: "    x = tl.load(x_ptr + offs).to(tl.float32)\n"}, "fp32"),
    Mistake("copies are exchanged, and returned",
            {LAUNCH: f"    x, y = x.clone(), y.clone()\n{LAUNCH}\n    return x, y"},
            "where nothing is asked for"),
    Mistake("torch does the work", {LAUNCH: "    old = x.clone()\n    x.copy_(y)\n    y.copy_(old)"}, "torch",
            fails="correct or honest"),
    Mistake("torch keeps a copy", {LAUNCH: f"{LAUNCH.replace('(x, y', '(x, y.clone()')}\n    y.copy_(y)"},
            ("y is", "torch"), fails="correct or honest"),
]
