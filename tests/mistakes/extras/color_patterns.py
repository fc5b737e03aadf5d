"""Extra: what goes wrong in a picture that is drawn byte by byte, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

FRAME = "frame = tl.program_id(2).to(tl.int64)"
MASK = "mask = offs < row_bytes"
CHANNEL = "x, channel = offs // 3, offs % 3"
CODE = "code = ((2 * x ^ y) + t0 + frame.to(tl.int32)) & 255"
LOAD = "colour = tl.load(palette_ptr + code * 3 + channel, mask=mask)"
ROWS = "for row in range(y, height, 256):"
STORE = "tl.store(out_ptr + (frame * height + row) * row_bytes + offs, colour, mask=mask)"
EMPTY = "out = torch.empty((count, h, w, 3), dtype=torch.uint8, device=palette.device)"
GRID = "grid = (triton.cdiv(3 * w, BLOCK), min(h, 256), count)"
CALL = "(palette, out, t0, h, 3 * w, BLOCK=BLOCK, num_warps=4)"

mistakes = [
    Mistake(
        "rows and columns are swapped",
        swap={CODE: CODE.replace("2 * x ^ y", "2 * y ^ x")},
        fails="correct",
        says="Rows and columns are swapped",
    ),
    Mistake(
        "all frames are the first",
        swap={CODE: CODE.replace(" + frame.to(tl.int32)", "")},
        fails="correct",
        says="All frames are the first one",
    ),
    Mistake(
        "time begins at 0",
        swap={CODE: CODE.replace(" + t0", "")},
        fails="correct",
        says="The first frame is at time 0",
    ),
    Mistake(
        "the xor has no brackets",
        swap={CODE: "code = (2 * x ^ y + t0 + frame.to(tl.int32)) & 255"},
        fails="correct",
        says="needs brackets",
    ),
    Mistake(
        "x is not doubled",
        swap={CODE: CODE.replace("2 * x", "x")},
        fails="correct",
        says="x is not doubled",
    ),
    Mistake(
        "a sum in place of the xor",
        swap={CODE: CODE.replace("2 * x ^ y", "2 * x + y")},
        fails="correct",
        says="the formula has their xor",
    ),
    Mistake(
        "the code is not cut to 8 bits",
        swap={CODE: "code = (2 * x ^ y) + t0 + frame.to(tl.int32)"},
        fails="correct",
        says="palette",
    ),
    Mistake(
        "a remainder, which is negative where t0 is",
        swap={CODE: CODE.replace("& 255", "% 256")},
        fails="correct",
        says="before the start of palette",
    ),
    Mistake(
        "blue comes first",
        swap={LOAD: LOAD.replace("+ channel", "+ 2 - channel")},
        fails="correct",
        says="opposite order",
    ),
    Mistake(
        "the palette is taken for three planes",
        swap={LOAD: LOAD.replace("code * 3 + channel", "channel * 256 + code")},
        fails="correct",
        says="taken for three planes",
    ),
    Mistake(
        "all channels are the first",
        swap={LOAD: LOAD.replace(" + channel", "")},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "a byte is taken for a pixel",
        swap={CHANNEL: "x, channel = offs, offs % 3"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "four bytes a pixel",
        swap={CHANNEL: "x, channel = offs // 4, offs % 4"},
        fails="correct",
        says=("is right", "palette"),
    ),
    Mistake(
        "rows from 256 on are not drawn",
        swap={ROWS: "for row in range(y, y + 1):"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "rows 128 apart are taken to look alike",
        swap={ROWS: ROWS.replace("256", "128")},
        fails="correct",
        # Two bytes that are wrong may look like poison: once in some hundred gradings.
        says=("race", "what torch.empty leaves"),
    ),
    Mistake(
        "height and width are swapped",
        swap={EMPTY: EMPTY.replace("h, w", "w, h")},
        fails="correct",
        says="shape",
    ),
    Mistake(
        "frames are taken to be 256 rows long",
        swap={STORE: STORE.replace("frame * height", "frame * 256")},
        fails="correct",
        says="past the end of",
    ),
    Mistake(
        "a row has as many bytes as pixels",
        swap={CALL: CALL.replace("3 * w", "w")},
        fails="correct",
        # Of a single byte, poison is a legal value.
        says=("never written", "is 250 where", "is 127 where"),
    ),
    Mistake(
        "bytes past the end of a row are written",
        swap={MASK: "mask = offs >= 0"},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "only whole blocks are launched",
        swap={GRID: GRID.replace("triton.cdiv(3 * w, BLOCK)", "max(3 * w // BLOCK, 1)")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "as many blocks as the pixels need",
        swap={GRID: GRID.replace("3 * w", "w")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "one frame is launched",
        swap={GRID: GRID.replace("count", "min(count, 1)")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "frames in 32 bits",
        swap={FRAME: "frame = tl.program_id(2)"},
        fails="limit",
        says="in int32",
    ),
    Mistake(
        "torch copies the palette",
        swap={EMPTY: f"palette = palette.clone()\n    {EMPTY}"},
        fails="correct or honest",
        says="torch",
    ),
    Mistake(
        "half done: nothing is stored yet",
        swap={
            f"    {ROWS}\n": "    # TODO 4: store it in every row of the frame that looks like row y.\n",
            f"        {STORE}\n": "",
        },
        fails="correct",
        says="Still in the file is",
    ),
]
