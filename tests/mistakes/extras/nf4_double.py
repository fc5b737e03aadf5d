"""Extra: what double quantisation gets wrong on either way, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ABSMAX = "absmax = tl.load(table_ptr + code) * scale + tl.load(offset_ptr)"
ADD = "code += tl.where(ratio > edge, step, 0)"
CODE = "code = tl.load(codes_ptr + rows, mask=there, other=0).to(tl.int32)"
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

mistakes = [
    Mistake(
        "the mean counts lanes past the end",
        swap={MEAN: MEAN.replace("/ n)", "/ (n_parts * 4096))")},
        fails="correct",
        says="the sum over n",
    ),
    Mistake(
        "the mean counts whole blocks",
        swap={MEAN_LAUNCH: MEAN_LAUNCH.replace("n, B", "len(scales) * block, B")},
        fails="correct",
        says="elements of whole blocks",
    ),
    Mistake("the offset is a sum", swap={MEAN: MEAN.replace(" / n", "")}, fails="correct", says="is a sum"),
    Mistake(
        "the mean of the first 1024 parts alone",
        swap={WALK: "for start in range(0, BLOCK, BLOCK):"},
        fails="edges",
        says="part",
    ),
    Mistake(
        "the offset is not subtracted",
        swap={REST: REST.replace(" - offset", "")},
        fails="correct",
        says="coded as it is",
    ),
    Mistake(
        "lanes past the end are 0 before the difference",
        swap={REST: "rest = tl.load(absmax_ptr + offs, mask=mask, other=0.0) - offset"},
        fails="correct",
        says="Lanes past the end count",
    ),
    Mistake(
        "the scale is signed",
        swap={TOP: "scale = tl.max(rest, axis=1)"},
        fails="correct",
        says="largest magnitude",
    ),
    Mistake(
        "the scale is that of absmax",
        swap={TOP: "scale = tl.max(tl.abs(rest + offset), axis=1)"},
        fails="correct",
        says="absmax as it is",
    ),
    Mistake(
        "one scale for all rows of a program",
        swap={TOP: "scale = tl.zeros((ROWS,), tl.float32) + tl.max(tl.abs(rest))"},
        fails="correct",
        says="each block has its own",
    ),
    Mistake(
        "0 / 0 where a block is all offset",
        swap={RATIO: "ratio = rest / scale[:, None]"},
        fails="correct",
        says="nearest to 0 is wanted",
    ),
    Mistake(
        "a little is added to the scale",
        swap={RATIO: "ratio = rest / (scale[:, None] + 1e-8)"},
        fails="limit",
        says="Small absmax are coded as 0",
    ),
    Mistake(
        "the entry below is taken, not the nearest",
        swap={EDGE: "edge = tl.load(entry_ptrs)", ADD: ADD.replace(">", ">=")},
        fails="correct",
        says="entry below",
    ),
    Mistake(
        "the entry above is taken, not the nearest",
        swap={EDGE: "edge = tl.load(entry_ptrs - 1)"},
        fails="correct",
        says="entry above",
    ),
    Mistake(
        "the search stops after seven questions",
        swap={SEARCH: "for bit in tl.static_range(7):"},
        fails="correct",
        says="All codes are even",
    ),
    Mistake(
        "the search asks about the entries before",
        swap={"entry_ptrs = table_ptr + code + step": "entry_ptrs = table_ptr + code + step - 1"},
        fails="correct",
        says="before the start",
    ),
    Mistake(
        "codes are equal steps, and not numbers of entries",
        swap={"code.to(tl.uint8)": "tl.floor((ratio + 1) * 127.5 + 0.5).to(tl.uint8)"},
        fails="correct",
        says="equal steps",
    ),
    Mistake(
        "scales of blocks that are not there are stored",
        swap={SCALES: "tl.store(scales_ptr + rows, scale)"},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "the scale of a short last block is not stored",
        swap={SCALES: "tl.store(scales_ptr + rows, scale, mask=rows < n // BLOCK)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the host reads the offset",
        swap={
            MEAN_LAUNCH: MEAN_LAUNCH + "\n    offset_value = float(offset)",
            "scales, offset, n, BLOCK=block, ROWS": "scales, offset_value, n, BLOCK=block, ROWS",
            "    offset = tl.load(offset_ptr)\n": "    offset = offset_ptr\n",
        },
        fails="correct",
        says="on the host",
    ),
    Mistake(
        "the offset is left out",
        swap={ABSMAX: ABSMAX.replace(" + tl.load(offset_ptr)", "")},
        fails="correct",
        says="The offset is left out",
    ),
    Mistake(
        "the offset is added twice",
        swap={ABSMAX: ABSMAX + " * 2"},
        fails="correct",
        says="added twice",
    ),
    Mistake(
        "the offset is scaled, too",
        swap={ABSMAX: "absmax = (tl.load(table_ptr + code) + tl.load(offset_ptr)) * scale"},
        fails="correct",
        says="multiplied by the scale, too",
    ),
    Mistake(
        "the offset is added to the weights",
        swap={
            ABSMAX: ABSMAX.replace(" + tl.load(offset_ptr)", ""),
            "level * absmax[:, None]": "level * absmax[:, None] + tl.load(offset_ptr)",
        },
        fails="correct",
        says="offset is added to each weight",
    ),
    Mistake(
        "the scale is left out",
        swap={ABSMAX: ABSMAX.replace(" * scale", "")},
        fails="correct",
        says="The scale is left out",
    ),
    Mistake(
        "every block takes the first scale",
        swap={SCALE: SCALE.replace(" + rows // BLOCK2", " + rows * 0")},
        fails="correct",
        says="first scale",
    ),
    Mistake(
        "a scale for as many codes as a block has weights",
        swap={SCALE: SCALE.replace("BLOCK2", "BLOCK")},
        fails="correct",
        says="`block` codes shared one",
    ),
    Mistake(
        "a scale for every code",
        swap={SCALE: SCALE.replace(" // BLOCK2", "")},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "a scale for BLOCK2 weights",
        swap={SCALE: SCALE.replace("rows // BLOCK2", "rows * BLOCK // BLOCK2")},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "scales are divided away twice",
        swap={SCALE: SCALE.replace("// BLOCK2", "// (BLOCK * BLOCK2)")},
        fails="correct",
        says="first scale",
    ),
    Mistake(
        "codes are taken for the entries",
        swap={ABSMAX: ABSMAX.replace("tl.load(table_ptr + code)", "(code / 127.5 - 1)")},
        fails="correct",
        says="equal steps",
    ),
    Mistake(
        "codes are signed",
        swap={CODE: CODE.replace(".to(tl.int32)", ".to(tl.int8, bitcast=True)")},
        fails="correct",
        says="before the start",
    ),
    Mistake(
        "absmax is rounded to fp16",
        swap={ABSMAX: f"absmax = ({ABSMAX.removeprefix('absmax = ')}).to(tl.float16).to(tl.float32)"},
        fails="correct or edges",
        says=("is right", "half precision is too low"),  # where no case of fp32 came out wrong
    ),
    Mistake(
        "the last byte of an odd n is not read",
        swap={PACKED: PACKED.replace("n_bytes", "n // 2")},
        fails="correct",
        says="(n + 1) // 2",
    ),
    Mistake(
        "the last block of codes is not read",
        swap={"there = rows * BLOCK < n": "there = rows * BLOCK + BLOCK <= n"},
        fails="correct",
        says="neither its code nor its scale",
    ),
    Mistake(
        "the last block of blocks takes no scale",
        swap={SCALE: SCALE.replace("mask=there", "mask=rows // BLOCK2 < n // BLOCK // BLOCK2")},
        fails="correct",
        says="The scale of a last block of blocks",
    ),
    Mistake(
        "torch takes the mean",
        swap={
            MEAN_LAUNCH: "offset = absmax.mean().view(1)",
        },
        fails="honest",
        says="torch",
    ),
    Mistake(
        "half done: the offset alone",
        swap={},
        fails="correct",
        says="never written",
        undone=("codes_kernel", "dequantize_kernel"),
    ),
    Mistake(
        "half done: dequantising is not begun",
        swap={},
        fails="correct",
        says="never written",
        undone=("dequantize_kernel",),
    ),
]
