"""Extra: what goes wrong in a picture that is drawn byte by byte, and what the grader must say about it."""

from tools.planted import Mistake

MASK = "mask = offs < row_bytes"
CHANNEL = "x, channel = offs // 3, offs % 3"
CODE = "code = ((2 * x ^ y) + t0 + frame.to(tl.int32)) & 255"
LOAD = "colour = tl.load(palette_ptr + code * 3 + channel, mask=mask)"
ROWS = "for row in range(y, height, 256):"
STORE = "tl.store(out_ptr + (frame * height + row) * row_bytes + offs, colour, mask=mask)"
EMPTY = "out = torch.empty((count, h, w, 3), dtype=torch.uint8, device=palette.device)"
CALL = "(palette, out, t0, h, 3 * w, BLOCK=BLOCK, num_warps=4)"

# fmt: off
mistakes = [
    Mistake("rows and columns are swapped", {CODE: CODE.replace("2 * x ^ y", "2 * y ^ x")},
            "Rows and columns are swapped"),
    Mistake("all frames are the first", {CODE: CODE.replace(" + frame.to(tl.int32)", "")},
            "All frames are the first one"),
    Mistake("time begins at 0", {CODE: CODE.replace(" + t0", "")}, "The first frame is at time 0"),
    Mistake("the xor has no brackets", {CODE: "code = (2 * x ^ y + t0 + frame.to(tl.int32)) & 255"},
            "needs brackets"),
    Mistake("x is not doubled", {CODE: CODE.replace("2 * x", "x")}, "x is not doubled"),
    Mistake("a sum in place of the xor", {CODE: CODE.replace("2 * x ^ y", "2 * x + y")},
            "the formula has their xor"),
    Mistake("the code is not cut to 8 bits", {CODE: "code = (2 * x ^ y) + t0 + frame.to(tl.int32)"},
            "palette"),
    Mistake("a remainder, which is negative where t0 is", {CODE: CODE.replace("& 255", "% 256")},
            "before the start of palette"),
    Mistake("blue comes first", {LOAD: LOAD.replace("+ channel", "+ 2 - channel")}, "opposite order"),
    Mistake("the palette is taken for three planes",
            {LOAD: LOAD.replace("code * 3 + channel", "channel * 256 + code")}, "taken for three planes"),
    Mistake("all channels are the first", {LOAD: LOAD.replace(" + channel", "")}, "is right"),
    Mistake("four bytes a pixel", {CHANNEL: "x, channel = offs // 4, offs % 4"}, ("is right", "palette")),
    Mistake("rows from 256 on are not drawn", {ROWS: "for row in range(y, y + 1):"}, "never written"),
    Mistake(
        "rows 128 apart are taken to look alike",
        {ROWS: ROWS.replace("256", "128")},
        # Two bytes that are wrong may look like poison: once in some hundred gradings.
        ("race", "what torch.empty leaves"),
    ),
    Mistake("frames are taken to be 256 rows long", {STORE: STORE.replace("frame * height", "frame * 256")},
            "past the end of"),
    Mistake(
        "a row has as many bytes as pixels",
        {CALL: CALL.replace("3 * w", "w")},
        # Of a single byte, poison is a legal value.
        ("never written", "is 250 where", "is 127 where"),
    ),
    Mistake("bytes past the end of a row are written", {MASK: "mask = offs >= 0"}, "past the end"),
    Mistake("torch copies the palette", {EMPTY: f"palette = palette.clone()\n    {EMPTY}"}, "torch",
            fails="correct or honest"),
    Mistake("half done: nothing is stored yet",
            {f"    {ROWS}\n": "    # TODO 4: store it in every row of the frame that looks like row y.\n",
             f"        {STORE}\n": ""}, "Still in the file is"),
]
