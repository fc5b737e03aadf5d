"""Days 8 to 14: the roofline, fusion, reductions, softmax."""

from __future__ import annotations

from math import log10

from tools.pictures.drawing import Drawing, Place
from tools.pictures.speed import bars

STEPS = ("max", "subtract", "exp", "sum", "divide")


def day08(d: Drawing) -> None:
    """Add waits for memory, not for arithmetic

    A roofline. Left of 168 operations a byte memory is the limit, right of it arithmetic. An addition
    has 0.083 operations a byte and reaches 0.35 T operations a second. A matrix product lies under
    the flat roof.
    """

    def at(intensity: float) -> Place:
        rate = min(intensity * 4.22, 709)
        return 85 + 102 * (log10(intensity) + 1.5), 330 - 62 * log10(rate / 0.13)

    d.line((70, 80), (70, 340), (625, 340))
    d.line(at(0.04), at(168), at(3000), kind="load")
    d.line((at(168)[0], 340), (at(168)[0], at(168)[1]), kind="line")
    for intensity, words in ((0.083, "add: 0.35 T"), (1.3, "softmax"), (1370, "matrix product")):
        x, y = at(intensity)
        d.box(x - 7, y - 7, 14, 14, kind="now")
        flat = intensity > 168
        d.words(622 if flat else x + 18, y + (36 if flat else 14), words, "end" if flat else "start")
    d.words(80, 92, "operations a second")
    d.words(at(1000)[0], 83, "709 T", "middle")
    d.words(at(0.083)[0], 366, "0.083", "middle")
    d.words(at(168)[0], 366, "168", "middle")
    d.words(625, 390, "operations a byte, both scales logarithmic", "end")
    d.words(170, 178, "memory limits", "middle")
    d.words(480, 210, "arithmetic\nlimits")
    bars(d, 410, 8, "2²⁷ elements, fp32")


def day09(d: Drawing) -> None:
    """Fused: u never leaves the registers

    torch runs two kernels: the first writes u = x + bias to main memory, the second reads it back.
    That is 2 reads and 2 writes. One fused kernel keeps u in registers: 1 read and 1 write.
    """
    d.words(20, 78, "torch, two kernels: 2 reads + 2 writes")
    d.level(90, 50, "main memory", x=106)
    for x, words, kind in ((40, "x", "in"), (276, "u = x + bias", "bad"), (540, "y", "out")):
        d.box(x, 97, 150 if kind == "bad" else 60, 36, words, kind)
    d.level(200, 66, "chip", "chip", low=True)
    d.box(100, 212, 150, 42, "kernel 1: add", "plain")
    d.box(410, 212, 150, 42, "kernel 2: gelu", "plain")
    d.arrow((70, 133), (130, 212), kind="load")
    d.arrow((230, 212), (306, 133), kind="store")
    d.arrow((396, 133), (440, 212), kind="load")
    d.arrow((530, 212), (570, 133), kind="store")
    d.words(20, 306, "one kernel: 1 read + 1 write")
    d.level(318, 50, "main memory", x=220)
    d.box(40, 325, 60, 36, "x", "in")
    d.box(120, 325, 66, 36, "bias", "in")
    d.box(540, 325, 60, 36, "y", "out")
    d.level(428, 92, "chip", "chip", low=True)
    chain = d.box(40, 440, 560, 42, "+ bias   →   u in registers   →   gelu", "keep")
    d.arrow((70, 361), (70, 440), kind="load")
    d.arrow((153, 361), (153, 440), kind="load")
    d.arrow((570, chain.y), (570, 361), kind="store")
    d.words(170, 404, "once for all rows of a tile")
    bars(d, 530, 9, "16384 × 8192, fp16")


def day10(d: Drawing) -> None:
    """One sum, in two launches

    Launch 1: each program adds up its block of x and stores one partial sum. Launch 2: one program
    adds up the partial sums. Between the launches all programs of the first one are done.
    """
    d.level(58, 66, "x")
    d.level(174, 88, "", "chip")
    d.level(310, 62, "")
    for x, w, p, s in (
        (50, 105, "0", "s₀"),
        (165, 105, "1", "s₁"),
        (280, 105, "2", "s₂"),
        (445, 165, "p−1", "sₚ₋₁"),
    ):
        block = d.box(x, 72, w, 38, f"block {p}", "in")
        program = d.box(x, 186, w, 64, f"prog. {p}\ntl.sum", "keep")
        d.arrow(block.bottom, program.top, kind="load")
        d.arrow(program.bottom, d.box(x, 322, w, 38, s, "out").top, kind="store")
    for y, kind in ((72, "in"), (322, "out")):
        d.box(395, y, 40, 38, "…", kind)
    d.words(390, 156, "launch 1")
    d.words(235, 402, "launch 2", "end")
    d.level(420, 66, "on the chip", "chip", low=True)
    last = d.box(220, 431, 200, 44, "program 0: tl.sum", "keep")
    d.arrow((320, 372), last.top, kind="load")
    d.level(534, 56, "main memory", low=True)
    d.arrow(last.bottom, (320, 544), kind="store")
    d.box(250, 544, 140, 36, "total", "out")
    bars(d, 600, 10, "2²⁷ elements, fp32")


def day11(d: Drawing) -> None:
    """The row's length shapes the tile

    Short rows: one program takes 256 rows of 16 elements at once. Long rows: one program walks along
    a row in blocks of 8192, and carries sum, max and the place of the max in registers.
    """
    d.words(20, 78, "short rows, n = 16: a program takes 256")
    d.box(10, 90, 210, 96, kind="memory")
    d.box(240, 90, 390, 96, kind="chip")
    for p, y, rows in ((0, 100, "rows 0–255"), (1, 140, "rows 256–511")):
        given = d.box(24, y, 160, 36, rows, "in")
        d.chain(given, d.program(252, y + 1, f"program {p}"), kind="load")
        d.words(406, y + 25, "sum, max, argmax")
    d.words(20, 226, "long rows: a program walks along row 0")
    d.level(238, 62, "")
    blocks = d.cells(110, 250, ["from 0", "from 8192", "from 16384"], "in", 130, 38)
    d.box(500, 250, 70, 38, "mask", "off")
    d.level(350, 160, "program 0, in registers", "chip", low=True)
    places = [d.box(x.bottom[0] - 35, 359, 70, 114, kind="chip") for x in blocks]
    for y, name, result in ((364, "sum", "mean"), (401, "max", "max"), (438, "at", "argmax")):
        d.words(30, y + 22, name)
        dots = [d.box(x.bottom[0] - 30, y, 60, 30, "", "keep") for x in blocks]
        d.chain(*dots)
        d.arrow(dots[2].right, (510, y + 15))
        d.words(518, y + 22, result)
    for block, place in zip(blocks, places, strict=True):
        d.arrow(block.bottom, place.top, kind="load")
    d.moving(blocks, 0)
    d.moving(places, 0)
    bars(d, 520, 11, "8192 × 8192, fp32")


def day12(d: Drawing) -> None:
    """Find the maximum first, then exp

    A program walks along its row twice. Walk 1 reads the row from HBM and finds the maximum m. Walk 2
    finds the row in cache and adds up exp(x − m), which is at most 1.
    """
    d.level(58, 98, "main memory")
    d.cells(120, 94, ["block 0", "block 1", "last"], "in", 120, 46)
    d.box(480, 94, 110, 46, "other=", "off")
    d.words(24, 124, "one row")
    d.level(220, 190, "on the chip", "chip", low=True)
    first = d.box(120, 240, 300, 46, "walk 1: the maximum", "keep")
    m = d.box(480, 240, 60, 46, "m", "now")
    again = d.box(120, 320, 300, 46, "walk 2: Σ exp(x − m)", "keep")
    end = d.box(450, 320, 160, 46, "m + log Σ", "out")
    d.arrow((180, 140), (180, 240), kind="load")
    d.words(192, 192, "from HBM, 32 KB")
    d.chain(first, m)
    d.arrow((520, 286), (520, 320))
    d.chain(again, end)
    d.arrow((490, 286), (400, 320))
    d.arrow((20, 356), (120, 356), kind="load")
    d.words(20, 316, "from\ncache")
    d.note(436, "without m, exp(x) is Inf above x = 88.7")
    bars(d, 455, 12, "8192 × 8192, fp32")


def day13(d: Drawing) -> None:
    """Fused: read once, written once

    Five kernels pass over the matrix eight times: 5 reads and 3 writes. One fused kernel keeps a row
    in registers for all five steps: 1 read and 1 write.
    """
    d.words(20, 78, "five kernels: 5 reads + 3 writes")
    d.level(90, 40, "main memory")
    d.level(188, 62, "", "chip")
    for number, step in enumerate(STEPS):
        x = 30 + 118 * number
        d.box(x, 198, 108, 42, step)
        d.arrow((x + 34, 130), (x + 34, 198), kind="load")
        if step not in ("max", "sum"):
            d.arrow((x + 74, 198), (x + 74, 130), kind="store")
    d.words(20, 294, "one kernel: 1 read + 1 write")
    d.level(306, 40, "main memory")
    d.level(404, 92, "one row on the chip, in registers", "chip", low=True)
    d.box(30, 416, 580, 42, "max  →  subtract  →  exp  →  sum  →  divide", "keep")
    d.arrow((64, 346), (64, 416), kind="load")
    d.arrow((576, 416), (576, 346), kind="store")
    bars(d, 506, 13, "16384 × 8192, fp16")


def day14(d: Drawing) -> None:
    """Online softmax: two passes, not three

    Pass 1 reads a wide row from HBM and keeps a maximum m and a sum l. When the maximum rises, the
    old sum is multiplied by exp(m − m_new). Pass 2 walks backwards, finds most of the row in cache,
    and writes y.
    """
    d.level(58, 84, "main memory: one row, 128 KB in fp16")
    d.cells(30, 94, ["block 0", "block 1", "…", "last"], "in", 145, 38)
    d.arrow((30, 172), (610, 172), kind="load")
    d.words(30, 202, "pass 1: from HBM")
    d.arrow((610, 226), (30, 226), kind="load")
    d.words(610, 256, "pass 2: backwards, mostly from cache, writes y", "end")
    d.level(276, 178, "on the chip: the pair (m, l)", "chip")
    rows = (
        ("[1, 3]", "m = 3", "l = e⁻² + 1 = 1.135"),
        ("[5, 2]", "m = 5", "l = 1.135 · e⁻² + 1 + e⁻³ = 1.203"),
    )
    for row, (block, m, total) in enumerate(rows):
        y = 314 + 50 * row
        d.box(24, y, 80, 40, block, "in")
        d.box(116, y, 84, 40, m, "keep")
        d.box(212, y, 408, 40, total, "keep")
    d.words(24, 440, "old sum · exp(m − m_new) + this block")
    bars(d, 464, 14, "2048 × 65536, fp16")
