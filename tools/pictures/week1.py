"""Days 1 to 7: programs, addresses, masks, tiles, grids, sectors."""

from __future__ import annotations

from tools.pictures.drawing import Box, Drawing
from tools.pictures.palette import QUIET
from tools.pictures.speed import bars


def day01(d: Drawing) -> None:
    """One program works on a whole block

    The launcher on the CPU starts one program. It loads x from main memory as one block of eight
    elements, computes 2x + 1 on the chip, and stores y.
    """
    d.height = 470
    d.level(58, 105, "main memory")
    d.cells(30, 102, [f"x{i}" for i in range(8)], "in", 35)
    d.cells(330, 102, [f"y{i}" for i in range(8)], "out", 35)
    d.level(225, 140, "on the chip", "chip")
    program = d.program(250, 236, "program 0")
    d.box(100, 286, 440, 64, "y = 2 · x + 1\nall eight elements in one statement", "keep")
    d.arrow((170, 140), (170, 286), kind="load")
    d.arrow((470, 286), (470, 140), kind="store")
    d.words(184, 200, "tl.load", look="mono")
    d.words(456, 200, "tl.store", "end", look="mono")
    d.level(404, 48, "CPU")
    d.words(90, 434, "the launcher:")
    d.words(235, 434, "kernel[(1,)](x, y, BLOCK=8)", look="mono")
    d.line((570, 404), (570, 253))
    d.arrow((570, 253), program.right)
    d.words(556, 392, "launch 1 program", "end")


def day02(d: Drawing) -> None:
    """A stride steps over elements

    Memory is a row of elements with addresses. The slice x[1::3] copies nothing: v[0], v[1] and v[2]
    lie at v_ptr, v_ptr + 3 and v_ptr + 6.
    """
    d.height = 412
    d.level(58, 150, "main memory")
    d.words(610, 83, "x, fp32: 4 bytes each", "end")
    kinds = ["in" if i % 3 == 1 else "plain" for i in range(8)]
    x = d.cells(24, 98, [f"{10 + i}." for i in range(8)], kinds, 74, 44)
    for i, cell in enumerate(x):
        d.words(cell.bottom[0], 168, f"{4096 + 4 * i}", "middle")
    d.note(196, "address")
    d.level(268, 132, "v = x[1::3] on the chip", "chip", low=True)
    for i, words in enumerate(("v_ptr", "v_ptr + 3", "v_ptr + 6")):
        cell = x[1 + 3 * i]
        lane = d.box(cell.x - 6, 284, 86, 44, f"v[{i}]", "keep")
        d.arrow((cell.bottom[0], 178), lane.top, kind="load")
        d.words(min(cell.bottom[0], 570), 354, words, "middle", look="mono")


def day03(d: Drawing) -> None:
    """A mask keeps lanes away from memory

    A vector of 5 elements in a block of 8 lanes. Five lanes have the mask True: they load and store.
    Three lanes have False: they get the value of other, and touch no memory.
    """
    d.height = 470
    on, off = range(5), range(3)
    d.level(58, 90, "main memory")
    d.words(30, 128, "x")
    d.cells(90, 100, [f"x{i}" for i in on], "in", 65)
    d.box(415, 100, 195, 38, "another tensor", "off")
    d.level(190, 150, "", "chip")
    d.words(30, 229, "mask")
    d.cells(90, 205, ["True"] * 5 + ["False"] * 3, ["plain"] * 5 + ["off"] * 3, 65, 36)
    d.words(30, 284, "block")
    lanes = d.cells(
        90, 255, [*(f"x{i}" for i in on), *["other" for _ in off]], ["keep"] * 5 + ["off"] * 3, 65, 44
    )
    d.words(424, 328, "on the chip", look=f"bold {QUIET}")
    d.level(380, 72, "")
    d.words(30, 424, "y")
    y = d.cells(90, 397, [f"y{i}" for i in on], "out", 65)
    d.box(415, 397, 195, 38, "another tensor", "off")
    for lane, cell in zip(lanes, y, strict=False):
        d.arrow((lane.top[0], 138), (lane.top[0], 205), kind="load")
        d.arrow(lane.bottom, cell.top, kind="store")
    d.words(425, 178, "no load here")
    d.words(425, 368, "no store here")


def day04(d: Drawing) -> None:
    """Four programs share ten blocks

    Ten blocks, the last one half full, and four programs. Program p starts at block p and moves on by
    four blocks each round. After two rounds programs 2 and 3 are done.
    """
    kinds = ("in", "out", "keep", "plain")
    d.level(58, 145, "main memory: 9½ blocks")
    blocks = d.cells(25, 96, [str(i) for i in range(9)], [kinds[i % 4] for i in range(9)], 59, 44)
    d.box(586, 96, 29, 44, kind="off")
    blocks.append(d.box(556, 96, 30, 44, "9", kinds[1]))
    for first, last, words in ((0, 3, "round 1"), (4, 7, "round 2"), (8, 9, "round 3")):
        around = blocks[first].to(blocks[last])
        d.line((around.x + 6, 150), (around.x + around.w - 6, 150))
        d.words(around.bottom[0], 182, words, "middle")
    d.level(255, 130, "on the chip: programs in any order", "chip", low=True)
    turns = ("0, 4, 8", "1, 5, 9", "2, 6", "3, 7")
    for p, (words, kind) in enumerate(zip(turns, kinds, strict=True)):
        box = d.box(25 + 150 * p, 268, 140, 74, f"program {p}\n{words}", kind)
        d.arrow((blocks[p].bottom[0], 203), (box.top[0], 268), kind="load")
    bars(d, 405, 4, "2²⁵ elements, fp32")


def day05(d: Drawing) -> None:
    """A tile has two sides

    Nine tiles of 32 by 128 cover a matrix of 70 by 300. Program 7 has tile row 2 and tile column 1.
    It reads one piece of x and one piece of y, and writes one tile of sums.
    """
    d.words(78, 80, "y", "end")
    y = d.cells(100, 60, ["0–127", "128–255", "256–299"], ["plain", "in", "plain"], 110, 32)[1]
    d.words(24, 118, "x")
    x = [
        d.box(14, 125 + 70 * row, 74, 70, words, "in" if row == 2 else "plain")
        for row, words in enumerate(("0–31", "32–63", "64–69"))
    ][2]
    for tile in range(9):
        row, column = divmod(tile, 3)
        left, top = 100 + 110 * column, 125 + 70 * row
        d.box(left, top, 110, 70, kind="off")
        wide, high = 38 if column == 2 else 110, 13 if row == 2 else 70
        d.box(left, top, wide, high, kind="out")
        d.words(left + wide / 2, top + 48, str(tile), "middle")
    d.frame(Box(y.x, x.y, 110, 70))
    d.program(452, 130, "program 7")
    d.words(452, 200, "row 7 // 3 = 2", look="mono")
    d.words(452, 232, "col 7 % 3 = 1", look="mono")
    d.words(452, 284, "dashed: lanes\nwithout an\nelement")
    d.note(370, "a tile of 32 × 128 sums lies in registers")
    bars(d, 395, 5, "16384 × 8192, fp32")


def day06(d: Drawing) -> None:
    """Axis 0 is fastest: neighbours share

    A batch of three matrices with six tiles each. The numbers are the order in which programs start.
    Axis 0 counts matrices, axis 1 columns and axis 2 rows of tiles. Programs 0, 1 and 2 start
    together, and read the same tile of b: one of them from HBM, the others from L2.
    """
    d.level(58, 150, "b: one matrix for the whole batch")
    b = d.grid(230, 94, ["i..", "..."], {"i": ("", "in"), ".": ("", "plain")}, 60, 48)
    d.words(424, 120, "this tile serves\nprograms 0, 1, 2")
    d.level(280, 176, "a + b: numbers say who starts when", low=True)
    d.words(20, 418, "axis 0: matrices, axis 1: columns, axis 2: rows")
    for matrix in range(3):
        left = 24 + 202 * matrix
        for tile in range(6):
            row, column = divmod(tile, 3)
            kind = "now" if tile == 0 else "plain"
            box = d.box(left + 62 * column, 292 + 48 * row, 62, 48, str(3 * tile + matrix), kind)
            if tile == 0:
                d.arrow(b[0][0].left, (180, 118), (180, 232), (box.top[0], 264), box.top, kind="load")
    d.words(616, 238, "from HBM once,\nthen from L2", "end")
    bars(d, 466, 6, "128 × 512 × 2048, fp32")


def day07(d: Drawing) -> None:
    """Memory moves whole sectors

    32 lanes of a warp want 32 numbers, 128 bytes. Along a row they lie in 4 sectors, and all bytes
    are used. Down a column they lie in 32 sectors, and 1/8 of the bytes is used. A tile of 64 × 64
    turned over on the chip is good for both sides.
    """
    d.words(20, 78, "along a row: 4 sectors of 32 bytes")
    for sector in range(4):
        d.cells(20 + 152 * sector, 90, [""] * 8, "in", 17.5, 34)
    d.note(150, "128 bytes travel, all are used")
    d.words(20, 196, "down a column: 32 sectors, here 3")
    for sector in range(3):
        d.cells(20, 208 + 40 * sector, [str(sector), *[""] * 7], ["in"] + ["bad"] * 7, 17.5, 34)
    d.words(180, 234, "1024 bytes travel,\n7 of 8 are wasted:\nthey came along in\nthe same sector")
    d.words(20, 362, "the way out: read rows, write rows")
    d.level(374, 44, "main memory")
    d.level(462, 96, "on the chip", "chip", low=True)
    x = d.box(50, 474, 170, 44, "tile 64 × 64", "keep")
    y = d.box(420, 474, 170, 44, "turned over", "keep")
    d.chain(x, y)
    d.words(320, 487, "tl.trans", "middle", look="mono")
    d.words(320, 520, "shared memory", "middle")
    d.arrow((135, 418), x.top, kind="load")
    d.arrow(y.top, (505, 418), kind="store")
    d.words(150, 446, "rows of x")
    d.words(490, 446, "rows of y", "end")
    bars(d, 565, 7, "8192 × 8192, fp32")
