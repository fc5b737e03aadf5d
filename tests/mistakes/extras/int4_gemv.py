"""Extra: what goes wrong where two weights share a byte, and what the grader must say about it."""

from tools.planted import Mistake

ACC = "acc = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float32)"
ADD = "acc += part * scale.to(tl.float32)[:, None]"
EVEN, ODD = "part = tl.dot(low, tl.trans(even))", "part = tl.dot(high, tl.trans(odd), part)"
HIGH = "high = ((packed >> 4) | MAGIC).to(x.dtype, bitcast=True) - shift"
LOW = "low = ((packed & 0xF) | MAGIC).to(x.dtype, bitcast=True) - shift"
LOOP = "for group in tl.range(0, groups, loop_unroll_factor=4):"
SHIFT = "shift = (zero | MAGIC).to(x.dtype, bitcast=True)[:, None]"
SCALE = "scale = tl.load(scales_ptr + offs_n * groups + group, mask=mask_n, other=0.0)"
SPLIT = "tl.split(tl.reshape(x, (BLOCK_M, GROUP // 2, 2)))"
STORE = "tl.store(y_ptrs, acc, mask=mask_n[:, None] & mask_m[None, :])"
X = "tl.load(x_ptrs, mask=mask_m[:, None], other=0.0)"
ZERO = "zero = tl.load(zeros_ptr + offs_n * groups + group, mask=mask_n, other=0).to(tl.uint16)"
LOW_CODE, HIGH_CODE = "low = (packed & 0xF).to(x.dtype)", "high = (packed >> 4).to(x.dtype)"
ZERO_POINT = "zero.to(x.dtype)[:, None]"

# fmt: off
mistakes = [
    Mistake("the halves of a byte have changed places",
            {EVEN: EVEN.replace("even", "odd"), ODD: ODD.replace("odd", "even")},
            "halves of a byte have changed places"),
    Mistake("the low halves are the first half of a group",
            {SPLIT: "tl.split(tl.trans(tl.reshape(x, (BLOCK_M, 2, GROUP // 2)), 0, 2, 1))"},
            "first half of a group"),
    Mistake("int8 keeps the sign in a shift",
            {HIGH: f"{HIGH_CODE.replace('packed', 'packed.to(tl.int8)')} - {ZERO_POINT}"}, "with its sign"),
    Mistake("the weights are signed", {LOW: f"packed ^= 0x88\n        {LOW}", SHIFT: f"{SHIFT} + 8"},
            "read as negative"),
    Mistake("the difference is taken in uint8",
            {LOW: "low = ((packed & 0xF) - zero[:, None]).to(tl.uint8).to(x.dtype)",
             HIGH: "high = ((packed >> 4) - zero[:, None]).to(tl.uint8).to(x.dtype)"}, "nothing below 0"),
    Mistake("the group is that of the packed column",
            {LOOP: f"{LOOP}\n        of_byte = group // 2", SCALE: SCALE.replace("+ group", "+ of_byte"),
             ZERO: ZERO.replace("+ group", "+ of_byte")}, "counted in bytes"),
    Mistake("the last group is left out", {LOOP: LOOP.replace("groups,", "groups - 1,")}, "last group"),
    Mistake("sums in 16 bits",
            {ACC: ACC.replace("tl.float32", "x_ptr.dtype.element_ty"),
             ADD: f"acc = {ADD[7:].join(['(acc + ', ').to(x.dtype)'])}"}, "too low a precision"),
    Mistake("the zero point is left out", {LOW: LOW_CODE, HIGH: HIGH_CODE}, "zero point is left out"),
    Mistake("the zero point is added",
            {LOW: f"{LOW_CODE} + {ZERO_POINT}", HIGH: f"{HIGH_CODE} + {ZERO_POINT}"}, "is added"),
    Mistake("the zero point is not scaled",
            {LOW: LOW_CODE, HIGH: HIGH_CODE,
             ADD: ADD + " - (tl.sum(x.to(tl.float32), axis=1)[None, :] * zero.to(tl.float32)[:, None])"},
            "not scaled"),
    Mistake("the zero points are one too large", {SHIFT: f"{SHIFT} + 1"}, "GPTQ"),
    Mistake("the zero point is always 8", {SHIFT: SHIFT.replace("zero", "(0 * zero + 8)")}, "taken to be 8"),
    Mistake("the scale is left out", {ADD: "acc += part"}, "scale is left out"),
    Mistake("all groups take the first scale and zero point",
            {SCALE: SCALE.replace(" + group", ""), ZERO: ZERO.replace(" + group", "")}, "the first"),
    Mistake("scales and zero points are read [k / g, n]",
            {SCALE: SCALE.replace("offs_n * groups + group", "group * n + offs_n"),
             ZERO: ZERO.replace("offs_n * groups + group", "group * n + offs_n")}, "lay [k / g, n]"),
    Mistake("half done: the low halves alone", {f"        {ODD}\n": ""}, "odd k"),
    Mistake("rows of x past the end are loaded", {X: "tl.load(x_ptrs)"}, "Unmasked load"),
    Mistake("rows past the end are stored", {STORE: "tl.store(y_ptrs, acc, mask=mask_n[:, None])"},
            "past the end"),
    Mistake("the grid counts whole blocks alone", {"(triton.cdiv(n, 64),)": "(max(n // 64, 1),)"},
            "never written"),
]
