"""Extra: what goes wrong on the way into four bits and back, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ABSMAX = "absmax = tl.max(tl.abs(x), axis=1)"
CODE = "code += tl.where(ratio > tl.gather(edges, code + (step - 1), 0), step, 0)"
GET_HIGH = "high = tl.gather(levels, (packed >> 4).to(tl.int32), 0)"
GET_LOW = "low = tl.gather(levels, (packed & 0xF).to(tl.int32), 0)"
GUARD = "tl.where(absmax > 0, absmax, 1.0)[:, None]"
LOAD = "tl.load(packed_ptr + offs_byte, mask=offs_byte < n_bytes, other=0)"
PACK = "((high << 4) | low).to(tl.uint8)"
STORE = "tl.store(packed_ptr + offs_byte, ((high << 4) | low).to(tl.uint8), mask=offs_byte < n_bytes)"
X = "tl.load(x_ptr + offs, mask=offs < n, other=0.0)"
Y = "y = tl.reshape(tl.interleave(high, low), (ROWS, BLOCK)) * absmax[:, None]"
SIZE = "packed = torch.empty(triton.cdiv(n, 2),"

mistakes = [
    Mistake(
        "into bytes, the halves have changed places",
        swap={PACK: "((low << 4) | high).to(tl.uint8)"},
        fails="correct",
        says="changed places",
    ),
    Mistake(
        "out of bytes, the halves have changed places",
        swap={Y: Y.replace("high, low", "low, high")},
        fails="correct",
        says="changed places",
    ),
    Mistake(
        "the last byte of an odd n is forgotten",
        swap={SIZE: "packed = torch.empty(n // 2,"},
        fails="correct",
        says="shape",
    ),
    Mistake(
        "the last byte of an odd n is not written",
        swap={STORE: STORE.replace("n_bytes", "n // 2")},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the last byte of an odd n is not read",
        swap={LOAD: LOAD.replace("n_bytes", "n // 2")},
        fails="correct",
        says="(n + 1) // 2",
    ),
    Mistake(
        "0 / 0 in a block of zeros",
        swap={GUARD: "absmax[:, None]"},
        fails="correct",
        says="Level 0 is code 7",
    ),
    Mistake(
        "one absmax for all rows of a program",
        swap={ABSMAX: "absmax = tl.zeros((ROWS,), tl.float32) + tl.max(tl.abs(x))"},
        fails="correct",
        says="each block has its own",
    ),
    Mistake(
        "absmax is signed",
        swap={ABSMAX: "absmax = tl.max(x, axis=1)"},
        fails="correct",
        says="largest |element|",
    ),
    Mistake(
        "the last block is filled up with ones",
        swap={X: X.replace("other=0.0", "other=1.0")},
        fails="correct",
        says="Lanes past the end count",
    ),
    Mistake(
        "the last block is not masked",
        swap={X: "tl.load(x_ptr + offs)"},
        fails="correct",
        says="Unmasked load",
    ),
    Mistake(
        "on an edge the upper level is taken",
        swap={CODE: CODE.replace("ratio >", "ratio >=")},
        fails="edges or correct",
        says="the lower one is wanted",
    ),
    Mistake(
        "the level below is taken, not the nearest",
        swap={
            "(LEVELS[i] + LEVELS[i + 1]) / 2": "LEVELS[i + 1]",
        },
        fails="correct",
        says="level below",
    ),
    Mistake(
        "the levels are equal steps",
        swap={"(LEVELS[i] + LEVELS[i + 1]) / 2": "(2 * i - 14) / 15"},
        fails="correct",
        says="equal steps",
    ),
    Mistake(
        "the search stops after three questions",
        swap={"tl.static_range(4)": "tl.static_range(3)"},
        fails="correct",
        says="All codes are even",
    ),
    Mistake(
        "the levels are rounded to fp16",
        swap={
            "levels = table_of(LEVELS, 16)": "levels = table_of(LEVELS, 16).to(tl.float16).to(tl.float32)",
        },
        fails="correct or edges",
        says="is right",
    ),
    Mistake(
        "absmax is rounded to fp16",
        swap={Y: Y.replace("absmax[:, None]", "absmax.to(tl.float16).to(tl.float32)[:, None]")},
        fails="correct or edges",
        says=("is right", "half precision is too low"),
    ),
    Mistake(
        "absmax is left out",
        swap={Y: Y.replace(" * absmax[:, None]", "")},
        fails="correct",
        says="absmax is left out",
    ),
    Mistake(
        "absmax of a block of bytes",
        swap={"absmax = tl.load(absmax_ptr + rows, mask": "absmax = tl.load(absmax_ptr + rows // 2, mask"},
        fails="correct",
        says="counted in bytes",
    ),
    Mistake(
        "codes are signed",
        swap={GET_HIGH: GET_HIGH.replace("packed >>", "packed.to(tl.int8, bitcast=True) >>")},
        fails="correct",
        says="looks for an element beyond its table",
    ),
    Mistake(
        "half done: the low halves are still to come",
        swap={GET_LOW: "low = high"},
        fails="correct",
        says="Each high half counts twice",
    ),
    Mistake(
        "torch copies x first",
        swap={
            "    n = x.numel()\n": "    x = x.clone()\n    n = x.numel()\n",
        },
        fails="honest",
        says="torch",
    ),
    Mistake(
        "half done: dequantising is not begun",
        swap={},
        fails="correct",
        says="never written",
        undone=("dequantize_kernel",),
    ),
    Mistake(
        "a little is added to absmax, against 0 / 0",
        swap={GUARD: "(absmax + 1e-8)[:, None]"},
        fails="limit",
        says="packed[",
    ),
]
