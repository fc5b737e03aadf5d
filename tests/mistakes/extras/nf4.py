"""Extra: what goes wrong on the way into four bits and back, and what the grader must say about it."""

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

# fmt: off
mistakes = [
    Mistake("into bytes, the halves have changed places", {PACK: "((low << 4) | high).to(tl.uint8)"},
            "changed places"),
    Mistake("the last byte of an odd n is not written", {STORE: STORE.replace("n_bytes", "n // 2")},
            "is right"),
    Mistake("the last byte of an odd n is not read", {LOAD: LOAD.replace("n_bytes", "n // 2")},
            "(n + 1) // 2"),
    Mistake("0 / 0 in a block of zeros", {GUARD: "absmax[:, None]"}, "Level 0 is code 7"),
    Mistake("one absmax for all rows of a program",
            {ABSMAX: "absmax = tl.zeros((ROWS,), tl.float32) + tl.max(tl.abs(x))"}, "each block has its own"),
    Mistake("absmax is signed", {ABSMAX: "absmax = tl.max(x, axis=1)"}, "largest |element|"),
    Mistake("the last block is filled up with ones", {X: X.replace("other=0.0", "other=1.0")},
            "Lanes past the end count"),
    Mistake("the last block is not masked", {X: "tl.load(x_ptr + offs)"}, "Unmasked load"),
    Mistake("on an edge the upper level is taken", {CODE: CODE.replace("ratio >", "ratio >=")},
            "the lower one is wanted", fails="edges or correct"),
    Mistake("the level below is taken, not the nearest", {"(LEVELS[i] + LEVELS[i + 1]) / 2": "LEVELS[i + 1]"},
            "level below"),
    Mistake("the levels are equal steps", {"(LEVELS[i] + LEVELS[i + 1]) / 2": "(2 * i - 14) / 15"},
            "equal steps"),
    Mistake("the search stops after three questions", {"tl.static_range(4)": "tl.static_range(3)"},
            "All codes are even"),
    Mistake("the levels are rounded to fp16",
            {"levels = table_of(LEVELS, 16)": "levels = table_of(LEVELS, 16).to(tl.float16).to(tl.float32)"},
            "is right", fails="correct or edges"),
    Mistake("absmax is rounded to fp16",
            {Y: Y.replace("absmax[:, None]", "absmax.to(tl.float16).to(tl.float32)[:, None]")},
            ("is right", "half precision is too low"), fails="correct or edges"),
    Mistake("absmax is left out", {Y: Y.replace(" * absmax[:, None]", "")}, "absmax is left out"),
    Mistake("absmax of a block of bytes",
            {"absmax = tl.load(absmax_ptr + rows, mask": "absmax = tl.load(absmax_ptr + rows // 2, mask"},
            "counted in bytes"),
    Mistake("codes are signed",
            {GET_HIGH: GET_HIGH.replace("packed >>", "packed.to(tl.int8, bitcast=True) >>")},
            "looks for an element beyond its table"),
    Mistake("half done: the low halves are still to come", {GET_LOW: "low = high"},
            "Each high half counts twice"),
    Mistake("half done: dequantising is not begun", {}, "never written", undone=("dequantize_kernel",)),
    Mistake("a little is added to absmax, against 0 / 0", {GUARD: "(absmax + 1e-8)[:, None]"}, "packed[",
            fails="limit"),
]
