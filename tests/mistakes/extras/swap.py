"""Extra: what an exchange gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

LOAD_X = "    x = tl.load(x_ptr + offs)\n"
LOAD_Y = "    y = tl.load(y_ptr + offs)\n"
STORE_X = "    tl.store(x_ptr + offs, y)\n"
STORE_Y = "    tl.store(y_ptr + offs, x)\n"
OFFS = "offs = tl.arange(0, BLOCK)"
LAUNCH = "    swap_kernel[(1,)](x, y, BLOCK=x.numel())"

mistakes = [
    Mistake(
        "x is overwritten before it is read",
        swap={LOAD_X: "", STORE_X: f"{STORE_X}{LOAD_X}"},
        fails="correct",
        says="x was overwritten before it was read",
        wish=True,
    ),
    Mistake(
        "y is overwritten before it is read",
        swap={LOAD_Y: "", STORE_X: "", STORE_Y: f"{STORE_Y}{LOAD_Y}{STORE_X}"},
        fails="correct",
        says="y was overwritten before it was read",
        wish=True,
    ),
    Mistake(
        "the old x is not stored",
        swap={STORE_Y: ""},
        fails="correct",
        says="y is after the call what it was before",
    ),
    Mistake(
        "the old y is not stored",
        swap={STORE_X: ""},
        fails="correct",
        says="x is after the call what it was before",
    ),
    Mistake(
        "each is stored where it came from",
        swap={STORE_X: STORE_X.replace(", y", ", x"), STORE_Y: STORE_Y.replace(", x", ", y")},
        fails="correct",
        says="what it was before",
    ),
    Mistake(
        "names are exchanged, and nothing is stored",
        swap={STORE_X: "    x, y = y, x\n", STORE_Y: ""},
        fails="correct",
        says="before",
    ),
    Mistake(
        "offsets are counted in bytes",
        swap={OFFS: "offs = tl.arange(0, BLOCK) * 4"},
        fails="correct",
        says="past the end of",
    ),
    Mistake(
        "only the first element is exchanged",
        swap={OFFS: "offs = tl.arange(0, 1)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the block is 1024 whatever n is",
        swap={"BLOCK=x.numel()": "BLOCK=1024"},
        fails="correct",
        says="past the end of",
        on_gpu="never written",
    ),
    Mistake(
        "a program for each direction",
        swap={
            LOAD_Y: f"{LOAD_Y}    first = tl.program_id(0) == 0\n",
            STORE_X: "    tl.store(x_ptr + offs, y, mask=first)\n",
            STORE_Y: "    tl.store(y_ptr + offs, x, mask=first == 0)\n",
            "[(1,)]": "[(2,)]",
        },
        fails="correct",
        says="race",
    ),
    Mistake(
        "values go through fp32",
        swap={LOAD_X: "    x = tl.load(x_ptr + offs).to(tl.float32)\n"},
        fails="correct",
        says="fp32",
    ),
    Mistake(
        "copies are exchanged, and returned",
        swap={LAUNCH: f"    x, y = x.clone(), y.clone()\n{LAUNCH}\n    return x, y"},
        fails="correct",
        says="where nothing is asked for",
    ),
    Mistake(
        "the vectors are returned as well",
        swap={LAUNCH: f"{LAUNCH}\n    return x, y"},
        fails="correct",
        says="where nothing is asked for",
    ),
    Mistake(
        "torch does the work",
        swap={LAUNCH: "    old = x.clone()\n    x.copy_(y)\n    y.copy_(old)"},
        fails="correct or honest",
        says="torch",
    ),
    Mistake(
        "torch keeps a copy",
        swap={LAUNCH: f"{LAUNCH.replace('(x, y', '(x, y.clone()')}\n    y.copy_(y)"},
        fails="correct or honest",
        says=("y is", "torch"),
    ),
]
