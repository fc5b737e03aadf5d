"""Extra: what double quantisation gets wrong on either way, and what the grader must say about it."""

from tools.planted import Mistake

ABSMAX = "absmax = tl.load(table_ptr + code) * scale + tl.load(offset_ptr)"
ADD = "code += tl.where(ratio > edge, step, 0)"
EDGE = "edge = (tl.load(entry_ptrs - 1) + tl.load(entry_ptrs)) / 2"
MEAN = "tl.store(mean_ptr, tl.sum(acc, axis=0) / n)"
MEAN_LAUNCH = "mean_kernel[(1,)](part, offset, tiles, n, BLOCK=1024)"
PACKED = "tl.load(packed_ptr + offs_byte, mask=offs_byte < n_bytes, other=0)"
RATIO = "ratio = rest / tl.where(scale > 0, scale, 1.0)[:, None]"
REST = "rest = tl.where(mask, tl.load(absmax_ptr + offs, mask=mask, other=0.0) - offset, 0.0)"
SCALE = "scale = tl.load(scales_ptr + rows // BLOCK2, mask=there, other=0.0)"
SCALES = "tl.store(scales_ptr + rows, scale, mask=rows * BLOCK < n)"
SEARCH = "for bit in tl.static_range(8):"
TOP = "scale = tl.max(tl.abs(rest), axis=1)"
WALK = "for start in range(0, n_parts, BLOCK):"

# fmt: off
mistakes = [
    Mistake("the mean counts lanes past the end", {MEAN: MEAN.replace("/ n)", "/ (n_parts * 4096))")},
            "the sum over n"),
    Mistake("the mean counts whole blocks",
            {MEAN_LAUNCH: MEAN_LAUNCH.replace("n, B", "len(scales) * block, B")}, "elements of whole blocks"),
    Mistake("the offset is a sum", {MEAN: MEAN.replace(" / n", "")}, "is a sum"),
    Mistake("the mean of the first 1024 parts alone", {WALK: "for start in range(0, BLOCK, BLOCK):"},
            "is right", gpu=True),
    Mistake("the offset is not subtracted", {REST: REST.replace(" - offset", "")}, "coded as it is"),
    Mistake("lanes past the end are 0 before the difference",
            {REST: "rest = tl.load(absmax_ptr + offs, mask=mask, other=0.0) - offset"},
            "Lanes past the end count"),
    Mistake("the scale is signed", {TOP: "scale = tl.max(rest, axis=1)"}, "largest magnitude"),
    Mistake("the scale is that of absmax", {TOP: "scale = tl.max(tl.abs(rest + offset), axis=1)"},
            "absmax as it is"),
    Mistake("one scale for all rows of a program",
            {TOP: "scale = tl.zeros((ROWS,), tl.float32) + tl.max(tl.abs(rest))"}, "each block has its own"),
    Mistake("0 / 0 where a block is all offset", {RATIO: "ratio = rest / scale[:, None]"},
            "nearest to 0 is wanted"),
    Mistake("a little is added to the scale", {RATIO: "ratio = rest / (scale[:, None] + 1e-8)"},
            "Small absmax are coded as 0", fails="limit"),
    Mistake("the entry below is taken, not the nearest",
            {EDGE: "edge = tl.load(entry_ptrs)", ADD: ADD.replace(">", ">=")}, "entry below"),
    Mistake("the entry above is taken, not the nearest", {EDGE: "edge = tl.load(entry_ptrs - 1)"},
            "entry above"),
    Mistake("the search stops after seven questions", {SEARCH: "for bit in tl.static_range(7):"},
            "All codes are even"),
    Mistake("the search asks about the entries before",
            {"entry_ptrs = table_ptr + code + step": "entry_ptrs = table_ptr + code + step - 1"},
            "before the start"),
    Mistake("codes are equal steps, and not numbers of entries",
            {"code.to(tl.uint8)": "tl.floor((ratio + 1) * 127.5 + 0.5).to(tl.uint8)"}, "equal steps"),
    Mistake("the scale of a short last block is not stored",
            {SCALES: "tl.store(scales_ptr + rows, scale, mask=rows < n // BLOCK)"}, "never written"),
    Mistake("the offset is left out", {ABSMAX: ABSMAX.replace(" + tl.load(offset_ptr)", "")},
            "The offset is left out"),
    Mistake("the offset is added twice", {ABSMAX: ABSMAX + " * 2"}, "added twice"),
    Mistake("the offset is scaled, too",
            {ABSMAX: "absmax = (tl.load(table_ptr + code) + tl.load(offset_ptr)) * scale"},
            "multiplied by the scale, too"),
    Mistake("the offset is added to the weights",
            {ABSMAX: ABSMAX.replace(" + tl.load(offset_ptr)", ""),
             "level * absmax[:, None]": "level * absmax[:, None] + tl.load(offset_ptr)"},
            "offset is added to each weight"),
    Mistake("the scale is left out", {ABSMAX: ABSMAX.replace(" * scale", "")}, "The scale is left out"),
    Mistake("every block takes the first scale", {SCALE: SCALE.replace(" + rows // BLOCK2", " + rows * 0")},
            "first scale"),
    Mistake("a scale for as many codes as a block has weights", {SCALE: SCALE.replace("BLOCK2", "BLOCK")},
            "`block` codes shared one"),
    Mistake("a scale for every code", {SCALE: SCALE.replace(" // BLOCK2", "")}, "past the end"),
    Mistake(
        "absmax is rounded to fp16",
        {ABSMAX: f"absmax = ({ABSMAX.removeprefix('absmax = ')}).to(tl.float16).to(tl.float32)"},
        ("is right", "half precision is too low"),
        fails="correct or edges",  # where no case of fp32 came out wrong
    ),
    Mistake("the last byte of an odd n is not read", {PACKED: PACKED.replace("n_bytes", "n // 2")},
            "(n + 1) // 2"),
    Mistake("the last block of codes is not read",
            {"there = rows * BLOCK < n": "there = rows * BLOCK + BLOCK <= n"},
            "neither its code nor its scale"),
    Mistake("the last block of blocks takes no scale",
            {SCALE: SCALE.replace("mask=there", "mask=rows // BLOCK2 < n // BLOCK // BLOCK2")},
            "The scale of a last block of blocks"),
    Mistake("half done: the offset alone", {}, "never written", undone=("codes_kernel", "dequantize_kernel")),
    Mistake("half done: dequantising is not begun", {}, "never written", undone=("dequantize_kernel",)),
]
