"""Days 29 to 35: flash attention, forward and backward."""

from __future__ import annotations

from tools.pictures.drawing import Drawing
from tools.pictures.palette import QUIET
from tools.pictures.speed import bars

# What the queries of a tile see of its keys under a causal mask.
SEEN = {"f": ("all", "in"), "m": ("mask", "now"), "s": ("skip", "off")}


def day29(d: Drawing) -> None:
    """Two partial softmaxes merge exactly

    Part 1 has the scores 1 and 3: m = 3, l = 1.135, o = 21.353. Part 2 has 5 and 2: m = 5, l = 1.050,
    o = 31.991. Each part's l and o are multiplied by its α and added. After the last merge, out is
    o / l = 28.985, as of all four scores at once.
    """
    d.height = 506
    parts = (
        (24, "part 1", "1, 3", "10, 20", ("m = 3", "l = 1.135", "o = 21.353"), "0.135"),
        (334, "part 2", "5, 2", "30, 40", ("m = 5", "l = 1.050", "o = 31.991"), "1"),
    )
    d.level(180, 278, "on the chip", "chip", low=True)
    for x, name, scores, values, kept, alpha in parts:
        d.words(x, 84, name, look="bold")
        d.box(x, 94, 282, 60, f"scores {scores}\nvalues {values}", "in")
        d.arrow((x + 141, 154), (x + 141, 196))
        d.box(x, 196, 282, 60, f"{kept[0]}\n{kept[1]}   {kept[2]}".replace("   ", ",  "), "keep")
        d.arrow((x + 141, 256), (x + 141, 326))
        d.words(x + 155, 298, f"α = {alpha}")
    d.box(
        110,
        326,
        420,
        92,
        "m = max(3, 5) = 5\nl = 0.135 · 1.135 + 1.050 = 1.203\no = 0.135 · 21.353 + 31.991 = 34.881",
        "out",
    )
    d.words(20, 488, "after the last merge: out = o / l = 28.985")


def day30(d: Drawing) -> None:
    """Tiles of K and V pass by together

    A program keeps a tile of queries and acc, a tile of o, on the chip. Each turn reads one tile of K
    and the same tile of V. It makes a tile of scores, uses it, and forgets it. After the last turn
    acc is stored as o.
    """
    d.height = 440
    d.level(58, 116, "main memory: K, V and o")
    k = d.cells(30, 98, ["k0", "k1", "k2", "k3"], "in", 58, 56)
    v = d.cells(300, 98, ["v0", "v1", "v2", "v3"], "in", 58, 56)
    o = d.box(560, 98, 56, 56, "o", "out")
    d.moving(k, 1)
    d.moving(v, 1)
    d.level(250, 140, "on the chip", "chip", low=True)
    q = d.box(24, 268, 80, 80, "q\nstays", "keep")
    s = d.box(150, 268, 190, 80, "s = q · k · scale\nforgotten", "now")
    acc = d.box(390, 268, 150, 80, "acc += s · v\nstays", "keep")
    d.chain(q, s, acc)
    d.arrow((146, 174), (146, 216), (245, 216), s.top, kind="load")
    d.arrow((416, 174), (416, 268), kind="load")
    d.words(160, 204, "each turn")
    d.words(428, 224, "each turn")
    d.arrow(acc.right, (588, 308), o.bottom, kind="store")
    d.note(424, "turn 1:  s1 = q · k1 · scale,  acc = s0 · v0 + s1 · v1")


def day31(d: Drawing) -> None:
    """One pass keeps m and l up to date

    A row with the scores 2, 1, 4, 3, 0 passes by in tiles of two. After each tile m is the maximum so
    far, and l the sum relative to it. At the end lse = 4 + log 1.571 = 4.452. With a causal mask,
    tiles that no query sees are not even read.
    """
    d.height = 560
    tiles = ("2, 1", "4, 3", "0, –")
    table = (("2", "0", "1.368"), ("4", "e²⁻⁴ = 0.135", "1.553"), ("4", "1", "1.571"))
    d.level(58, 196, "on the chip, for each query", "chip")
    for x, name in ((30, "tile"), (170, "m"), (300, "α"), (490, "l = l · α + new")):
        d.words(x if x < 400 else 620, 116, name, "start" if x < 400 else "end", look=QUIET)
    rows = []
    for row, (tile, (m, alpha, total)) in enumerate(zip(tiles, table, strict=True)):
        y = 126 + 40 * row
        cells = [d.box(24, y, 90, 36, tile, "in"), d.box(150, y, 70, 36, m, "keep")]
        cells += [d.box(250, y, 180, 36, alpha, "plain"), d.box(460, y, 160, 36, total, "keep")]
        rows.append(cells[0].to(cells[-1]))
    d.moving(rows, 1)
    d.words(20, 282, "lse = m + log l = 4 + log 1.571 = 4.452", look="bold")
    d.words(20, 336, "causal: 6 queries, 10 keys, tiles of 2 × 2")
    for p in range(3):
        d.words(20, 382 + 50 * p, f"program {p}")
    d.grid(150, 352, ("ffmss", "fffms", "ffffm"), SEEN, 92, 50)
    d.note(530, "all: every query sees every key of the tile")


def day32(d: Drawing) -> None:
    """Flash: no score ever leaves the chip

    A program keeps q, m, l and acc on the chip. Each turn reads one tile of k and of v, makes a tile
    of scores and weights, and rescales l and acc by α. With a causal mask it skips the tiles that no
    query sees: 528 of 1024 remain.
    """
    d.words(20, 80, "tiles of keys")
    grid = d.grid(24, 92, ("msss", "fmss", "ffms", "fffm"), SEEN, 76, 42)
    d.moving(grid[3], 1)
    d.words(344, 118, "4 blocks of queries,\n4 programs")
    d.words(344, 184, "of 4096 × 4096 in tiles\nof 128: 528 of 1024")
    d.words(344, 246, "◀ the last program", look="bold")
    d.level(278, 38, "main memory")
    d.level(364, 166, "on the chip", "chip", low=True)
    q = d.box(24, 378, 80, 110, "q\nstays", "keep")
    s = d.box(140, 378, 230, 110, "S = q kᵀ · scale\nP = exp(S − m_new)\nforgotten", "now")
    acc = d.box(406, 378, 142, 110, "m, l\nacc = α · acc\n+ P v", "keep")
    d.chain(q, s, acc)
    d.arrow((255, 316), s.top, kind="load")
    d.words(243, 346, "k, v: one tile a turn", "end")
    d.arrow(acc.right, (580, 433), (580, 316), kind="store")
    d.words(568, 346, "o = acc / l, lse", "end")
    bars(d, 540, 32, "64 causal heads × 4096, fp16", torch="torch, flash")


def day33(d: Drawing) -> None:
    """lse makes the weights again

    A tile of dS is made on the chip from q, k, v and do, and from two numbers for each query: lse and
    δ. P = exp(S − lse) needs no maximum and no sum. In the example dS = P · (dP − δ) is 1.5, −1.25
    and −0.25: its sum is 0.
    """
    d.height = 638
    d.level(58, 84, "main memory")
    for x, words in ((30, "q, do"), (200, "k, v"), (420, "lse, δ")):
        d.box(x, 92, 130, 40, words, "in")
    d.level(216, 160, "on the chip", "chip", low=True)
    p = d.box(40, 232, 250, 90, "S = q kᵀ · scale\nP = exp(S − lse)\ndP = do vᵀ", "keep")
    ds = d.box(350, 232, 240, 90, "dS = P ∘ (dP − δ)\none tile, in fp32", "now")
    for x, x1 in ((95, 95), (255, 180), (440, 265), (510, 510)):
        d.arrow((x, 132), (x1, 232), kind="load")
    d.chain(p, ds)
    d.note(402, "instead of weights: lse and δ, 8 bytes a query")
    d.words(20, 446, "by hand: three keys, dO = (1, −1), δ = 1", look="bold")
    table = (
        ("V", ("4, 0", "0, 4", "8, 8")),
        ("P", ("0.5", "0.25", "0.25")),
        ("dP", ("4", "−4", "0")),
        ("dS", ("1.5", "−1.25", "−0.25")),
    )
    for row, (name, values) in enumerate(table):
        d.words(40, 488 + 42 * row, name)
        kind = {"V": "in", "dS": "now"}.get(name, "keep")
        d.cells(100, 462 + 42 * row, values, kind, 110, 38)
    d.words(450, 572, "dP = dO · V")
    d.words(450, 614, "sum 0", look="bold")


def day34(d: Drawing) -> None:
    """Who owns a block writes its gradient

    Every tile is made twice. In one kernel a program owns a block of keys, walks down its column from
    the diagonal on, and keeps dK and dV. In the other it owns a block of queries, walks along its row
    up to the diagonal, and keeps dQ.
    """
    kinds = {"f": ("", "plain"), "s": ("", "off"), "o": ("", "in")}
    for x, name, rows, own in (
        (24, "dK and dV: own keys 1", ("fsss", "foss", "fofs", "foff"), [(1, 1), (2, 1), (3, 1)]),
        (344, "dQ: own queries 1", ("fsss", "ooss", "fffs", "ffff"), [(1, 0), (1, 1)]),
    ):
        d.words(x, 80, name, look="bold")
        grid = d.grid(x + 34, 120, rows, kinds, 58, 42)
        for number in range(4):
            d.words(x + 34 + 58 * number + 29, 112, str(number), "middle")
            d.words(x + 12, 148 + 42 * number, str(number), "middle")
            diagonal = grid[number][number]
            d.line((diagonal.x, diagonal.y), (diagonal.x + 58, diagonal.y + 42))
        d.moving([grid[row][column] for row, column in own], 1)
    d.note(318, "rows: queries, columns: keys; line: mask; dashed: skip")
    for x, lines in (
        (10, ("keeps k, v, dK, dV", "reads q, do, lse, δ", "each turn")),
        (330, ("keeps q, do, lse, δ, dQ", "reads k, v", "each turn")),
    ):
        d.box(x, 338, 300, 90, "\n".join(lines), "chip")
    d.note(458, "no two programs add to one element: no atomics")
    bars(d, 476, 34, "64 causal heads × 4096, fp16", torch="torch, flash")


def day35(d: Drawing) -> None:
    """Four query heads share one key head

    Hq = 8 query heads, Hk = 2 key heads. The program that owns keys of key head 0 goes through the
    query heads 0 to 3 one after the other, adds to the same dk and dv, and writes them once.
    """
    d.level(58, 200, "main memory")
    heads = d.cells(30, 110, [str(h) for h in range(8)], ["in"] * 4 + ["plain"] * 4, 72.5, 44)
    d.words(610, 83, "8 query heads", "end")
    for kh, x in ((0, 102), (1, 392)):
        key = d.box(x, 200, 146, 44, f"key head {kh}", "in" if kh == 0 else "plain")
        for h in range(4):
            d.line(heads[4 * kh + h].bottom, key.top)
    d.moving(heads[:4], 1)
    d.level(320, 146, "on the chip: program (b, kh = 0)", "chip", low=True)
    turn = d.box(40, 336, 250, 80, "for h = 0, 1, 2, 3:\nall queries of head h", "now")
    acc = d.box(350, 336, 250, 80, "dv += pᵀ do\ndk += dsᵀ q", "keep")
    d.chain(turn, acc)
    d.arrow((175, 258), (175, 336), kind="load")
    d.arrow(acc.top, (475, 258), kind="store")
    d.words(187, 282, "k, v: once\nq, do: each turn")
    d.words(487, 300, "dk, dv once")
    bars(d, 478, 35, "both passes, 64 causal heads × 4096", torch="torch, flash")
