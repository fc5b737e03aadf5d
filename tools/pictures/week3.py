"""Days 15 to 21: products of matrices, from one row at a time to many groups."""

from __future__ import annotations

from tools.pictures.drawing import Drawing
from tools.pictures.speed import bars


def day15(d: Drawing) -> None:
    """One piece of x serves all rows of a tile

    A matrix times a vector. Program 1 owns some rows of a and walks along them, tile by tile. For
    each tile it also reads the piece of x above it. The sums stay in registers until the rows end.
    """
    d.level(58, 196, "main memory")
    d.words(20, 118, "x", look="bold")
    d.words(20, 202, "a", look="bold")
    x = d.cells(150, 92, [""] * 4, "in", 100, 36)
    for p in range(2):
        y = 146 + 48 * p
        d.words(136, y + 31, f"program {p}", "end")
        words = ["tile 0", "tile 1", "tile 2", "rest"] if p == 1 else [""] * 4
        row = d.cells(150, y, words, "in" if p == 1 else "plain", 100, 48)
        d.box(580, y, 36, 48, kind="out" if p == 1 else "plain")
        if p == 1:
            tiles = row
    d.words(598, 138, "y", "middle", look="bold")
    d.moving(x, 1)
    d.moving(tiles, 1)
    d.level(328, 86, "on the chip", "chip", low=True)
    acc = d.box(160, 342, 350, 40, "acc: a sum for each lane", "keep")
    d.arrow((300, 242), (300, 342), kind="load")
    d.arrow((acc.x + 350, 362), (598, 362), (598, 242), kind="store")
    d.words(312, 282, "each turn: a tile of a,\nand the piece of x above")
    d.words(160, 404, "reduced once, after the loop")
    bars(d, 424, 15, "8192 × 8192, fp32")


def day16(d: Drawing) -> None:
    """A tile of c shares its rows and columns

    Program 4 reads one strip of rows of a and one strip of columns of b, and stores tile 4 of c. A
    tile of side B does B operations for each element that it reads.
    """
    b = d.cells(190, 84, ["", "b", ""], ["plain", "in", "plain"], 84, 84)
    d.words(176, 132, "k", "end")
    d.words(190, 75, "columns of b")
    a = [
        d.box(24, 190 + 52 * row, 140, 52, "a" if row == 1 else "", "in" if row == 1 else "plain")
        for row in range(3)
    ]
    d.words(24, 180, "rows of a")
    c = [
        d.box(
            190 + 84 * (tile % 3), 190 + 52 * (tile // 3), 84, 52, str(tile), "now" if tile == 4 else "plain"
        )
        for tile in range(9)
    ]
    d.arrow(a[1].right, c[3].left, kind="load")
    d.arrow(b[1].bottom, c[1].top, kind="load")
    for row, words in enumerate(("c: program 4", "makes tile 4,", "by one tl.dot")):
        d.words(462, 110 + 26 * row, words)
    for row, words in enumerate(("operations for", "each element", "that is read:")):
        d.words(462, 216 + 26 * row, words)
    d.words(462, 302, "tile of 64: 64")
    d.words(462, 330, "tile of 128: 128")
    bars(d, 362, 16, "8192 × 128 × 8192, fp16")


def day17(d: Drawing) -> None:
    """A tile of c stays, frames pass by

    With k = 200 and BLOCK_K = 64 the loop has four turns. Each turn reads one frame: a piece of a and
    a piece of b. The tile of c stays in registers from the first frame to the last. In the last
    frame a has 8 columns and b has 8 rows, the rest is zeros.
    """
    d.level(58, 210, "main memory")
    d.words(30, 132, "rows of a")
    d.words(430, 83, "columns of b")
    a = d.cells(30, 144, ["a0", "a1", "a2"], "in", 68, 44)
    a.append(d.box(234, 144, 30, 44, "a3", "in").to(d.box(264, 144, 38, 44, "0", "off")))
    b = [d.box(430, 92 + 38 * turn, 100, 38, f"b{turn}", "in") for turn in range(3)]
    b.append(d.box(430, 206, 100, 26, "b3", "in").to(d.box(430, 232, 100, 26, "0", "off")))
    for cell, other, left in zip(a, b, (64, 64, 64, 8), strict=True):
        d.words(cell.bottom[0], 216, str(left), "middle")
        d.words(544, other.y + 26, str(left))
    d.moving(a, 1)
    d.moving(b, 1)
    d.level(330, 124, "on the chip", "chip", low=True)
    frame = d.box(30, 344, 200, 64, "3 frames in\nshared memory", "now")
    acc = d.box(330, 344, 280, 64, "acc = tl.dot(a, b, acc)\nfp32, in registers", "keep")
    d.arrow((132, 224), (132, 344), kind="load")
    d.arrow(b[1].left, (370, b[1].left[1]), (370, 300), (200, 300), (200, 344), kind="load")
    d.chain(frame, acc)
    d.level(498, 56, "main memory")
    tile = d.box(390, 507, 160, 38, "tile of c", "out")
    d.arrow(acc.bottom, tile.top, kind="store")
    d.words(458, 482, "once, at the end", "end")
    bars(d, 564, 17, "4096 × 4096 × 4096, fp16")


def day18(d: Drawing) -> None:
    """A square wave of tiles reads less

    Two orders of the first 16 programs. Row by row they need 1 strip of a and 16 strips of b: 2176
    cache lines a turn. Grouped, down columns of 4 tiles, they need 4 and 4: 1024 lines.
    """
    d.words(20, 80, "row by row: 1 strip of a + 16 of b")
    d.cells(58, 92, [""] * 16, "in", 35, 16)
    d.box(30, 112, 22, 36, kind="in")
    d.cells(58, 112, [str(pid) for pid in range(16)], "now", 35, 36)
    d.words(20, 178, "reads 17 × 128 = 2176 cache lines", look="bold")
    d.words(20, 232, "grouped: 4 strips of a + 4 of b")
    d.cells(58, 244, [""] * 4, "in", 42, 16)
    for row in range(4):
        d.box(30, 264 + 36 * row, 22, 36, kind="in")
        d.cells(58, 264 + 36 * row, [str(row + 4 * column) for column in range(4)], "now", 42, 36)
        d.cells(232, 264 + 36 * row, [str(16 + row + 4 * column) for column in range(4)], "plain", 42, 36)
    d.words(420, 290, "thick edges: the\nfirst wave of 16")
    d.words(420, 352, "bars: the strips\nthat it reads")
    d.words(20, 438, "reads 8 × 128 = 1024 cache lines", look="bold")
    bars(d, 458, 18, "8192 × 8192 × 8192, fp16")


def day19(d: Drawing) -> None:
    """Which configs fit on which GPU?

    Shared memory of four configs beside the limits of four GPUs. 48 KB fit on all. 96 KB fit on the
    4090, A100 and H200, 144 KB on A100 and H200, 192 KB on the H200 alone. The autotuner times those
    that fit, and keeps the fastest for each key.
    """

    def at(size: float) -> float:
        return 212 + 1.7 * size

    d.note(80, "tile × frame, stages")
    d.words(620, 80, "KB of shared memory", "end")
    configs = (("64×64×64, 3", 48), ("128×128×64, 3", 96), ("128×256×64, 3", 144), ("128×256×64, 4", 192))
    for row, (name, size) in enumerate(configs):
        y = 96 + 44 * row
        d.words(20, y + 24, name)
        d.box(at(0), y, at(size) - at(0), 34, kind="keep")
        d.words(at(0) + 10, y + 24, str(size))
    for gpu, size in (("T4", 64), ("4090", 99), ("A100", 163), ("H200", 227)):
        d.line((at(size), 90), (at(size), 276), kind="wrong")
        d.words(at(size), 298, f"{gpu}\n{size}", "middle")
    d.note(298, "limit of a program")
    names = ("8 configs", "prune: 5", "time each", "keep best")
    d.chain(*[d.box(20 + 152 * place, 350, 134, 46, name) for place, name in enumerate(names)])
    d.note(424, "the best is kept for each key (m, n, k, dtypes)")
    bars(d, 440, 19, "16384 × 4096 × 1024, fp16")


def day20(d: Drawing) -> None:
    """Split-K: every SM gets a part of the sum

    Four splits take the eight blocks of k in turn, as players take cards. Each split stores a whole
    tile of partial sums. A second kernel adds the four sheets, in one order, and rounds once.
    """
    kinds = ("in", "out", "keep", "plain")
    d.level(58, 92, "main memory: blocks of k, in a and in b")
    d.cells(34, 98, [str(block) for block in range(8)], [kinds[block % 4] for block in range(8)], 71.5, 40)
    d.level(206, 76, "", "chip")
    d.level(340, 64, "")
    for split, kind in enumerate(kinds):
        x = 24 + 150 * split
        sheet = d.box(x, 352, 140, 40, f"partial[{split}]", kind)
        box = d.box(x, 214, 140, 60, f"split {split}\n{split} and {split + 4}", kind)
        d.arrow((box.top[0], 150), box.top, kind="load")
        d.arrow(box.bottom, sheet.top, kind="store")
    d.note(188, "kernel 1", 112)
    d.level(460, 60, "on the chip", "chip", low=True)
    add = d.box(220, 469, 230, 42, "add 4 sheets, round", "keep")
    d.arrow((335, 404), add.top, kind="load")
    d.note(440, "kernel 2, in one order")
    d.level(572, 56, "main memory", low=True)
    out = d.box(250, 580, 170, 40, "out [m, n]", "out")
    d.arrow(add.bottom, out.top, kind="store")
    bars(d, 638, 20, "256 × 256 × 32768, fp16")


def day21(d: Drawing) -> None:
    """Each tile row finds its own group

    Groups of 3, 0, 5 and 2 rows, cut into tile rows of two. tile_ends is 2, 2, 5, 6. The program with
    pid_m = 4 counts two groups that end at or before it, so it is in group 2 and multiplies by w[2].
    """
    d.level(58, 140, "main memory: rows of x, group by group")
    rows = ("0", "1", "2", "·", "3", "4", "5", "6", "7", "·", "8", "9")
    groups = (0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 3, 3)
    fills = {0: "in", 2: "out", 3: "keep"}
    for place, (row, group) in enumerate(zip(rows, groups, strict=True)):
        kind = "off" if row == "·" else fills[group]
        d.box(24 + 49 * place + 2 * (place // 2), 98, 48, 40, row, kind)
    for first, wide, words in ((0, 4, "group 0: 3 rows"), (4, 6, "group 2: 5 rows"), (10, 2, "group 3")):
        d.line((24 + 50 * first + 4, 150), (24 + 50 * (first + wide) - 6, 150))
        d.words(24 + 50 * (first + wide / 2), 178, words, "middle")
    d.note(226, "one program for each tile row, and its pid_m:")
    for pid in range(6):
        d.box(24 + 100 * pid, 240, 92, 40, str(pid), "now" if pid == 4 else "plain")
    d.level(300, 178, "pid_m = 4 looks for its group", "chip")
    for group in range(4):
        d.words(227 + 110 * group, 350, f"group {group}", "middle")
    d.words(24, 386, "tile_ends", look="mono")
    d.cells(172, 360, ["2", "2", "5", "6"], "plain", 110, 38)
    d.words(24, 430, "ends ≤ 4?")
    d.cells(172, 404, ["yes", "yes", "no", "no"], ["now", "now", "off", "off"], 110, 38)
    d.words(24, 468, "2 × yes: it is in group 2, and takes w[2]", look="bold")
    bars(d, 490, 21, "16 × 512 × 4096 × 4096, bf16")
