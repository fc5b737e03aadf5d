"""Days 22 to 28: layer norm, dropout, functions of a library, attention step by step."""

from __future__ import annotations

from tools.pictures.drawing import Drawing
from tools.pictures.speed import bars


def day22(d: Drawing) -> None:
    """Subtracting changes masked lanes, too

    A row of 5 elements in a block of 8 lanes. After the mean 5 is subtracted, the masked lanes hold
    −5, and their squares make the variance 17. tl.where puts zeros there, and the variance is 2, as
    it should be.
    """
    d.level(58, 252, "on the chip: one row, read once", "chip")
    rows = (
        ("x", (4, 6, 5, 7, 3), 0, "mean 5"),
        ("x − mean", (-1, 1, 0, 2, -2), -5, ""),
        ("squared", (1, 1, 0, 4, 4), 25, "var 17"),
        ("tl.where", (1, 1, 0, 4, 4), 0, "var 2"),
    )
    for place, (name, values, masked, result) in enumerate(rows):
        y = 96 + 53 * place
        d.words(20, y + 27, name)
        texts = [str(value).replace("-", "−") for value in (*values, *[masked] * 3)]
        off = "bad" if masked else "off"
        d.cells(122, y, texts, ["keep"] * 5 + [off] * 3, 50, 40)
        d.words(530, y + (27 if place < 2 else 17), result, look="bold")
    d.words(530, 242, "wrong")
    d.words(530, 295, "right")
    d.note(336, "5 lanes with a column, 3 masked lanes (dashed)")
    bars(d, 352, 22, "16384 × 4096, bf16")


def day23(d: Drawing) -> None:
    """Column sums: partial rows, then add

    Each of p programs walks along its own rows, writes their dx, and keeps a row of sums for dweight
    and one for dbias in registers. It stores them once. A second kernel adds the p rows, column by
    column.
    """
    d.level(58, 84, "main memory: s, dy and ds")
    d.level(206, 96, "", "chip")
    d.level(366, 96, "main memory: dx, and partial sums [p, n]")
    for x, name in ((24, "0"), (214, "1"), (434, "p−1")):
        rows = d.box(x, 94, 180, 38, "its rows", "in")
        program = d.box(x, 216, 180, 76, f"program {name}\nsums of columns", "keep")
        dx = d.box(x, 404, 66, 46, "dx", "out")
        part = d.box(x + 74, 404, 106, 46, "2 rows", "out")
        d.arrow(rows.bottom, program.top, kind="load")
        d.arrow((dx.top[0], 292), (dx.top[0], 366), kind="store")
        d.arrow((part.top[0], 292), (part.top[0], 366), kind="store")
    d.note(182, "kernel 1", 124)
    d.words(414, 261, "…", "middle")
    d.level(520, 60, "chip", "chip", low=True)
    add = d.box(190, 529, 330, 42, "add p rows, column by column", "keep")
    d.arrow((355, 462), add.top, kind="load")
    d.note(500, "kernel 2")
    d.level(626, 56, "main memory", low=True)
    out = d.box(250, 634, 210, 40, "dweight, dbias [n]", "out")
    d.arrow(add.bottom, out.top, kind="store")
    bars(d, 694, 23, "backward, 16384 × 4096, bf16", "backward")


def day24(d: Drawing) -> None:
    """A counter needs no state

    A generator with a state makes its numbers one after the other. A generator with a counter is a
    function of seed and counter: every program makes its own numbers, all at once and in any order.
    """
    d.words(20, 80, "with a state: each number waits")
    states = [d.box(40 + 200 * i, 94, 130, 42, "state", "bad") for i in range(3)]
    d.chain(*states, kind="wrong")
    for i, state in enumerate(states):
        d.arrow(state.bottom, d.box(state.x + 30, 174, 70, 38, f"u{i}", "out").top)
    d.words(20, 256, "with a counter: all at once, in any order")
    d.level(268, 188, "on the chip", "chip")
    d.box(470, 278, 140, 38, "seed", "keep")
    d.line((540, 316), (540, 330), (105, 330))
    for i in range(3):
        x = 40 + 200 * i
        made = d.box(x, 352, 130, 42, f"Philox({i})", "keep")
        d.arrow((x + 65, 330), made.top)
        d.arrow(made.bottom, d.box(x + 30, 412, 70, 38, f"u{i}", "out").top)
    d.note(482, "the counter is made of the element's number alone")
    bars(d, 498, 24, "2²⁷ elements, fp32")


def day25(d: Drawing) -> None:
    """Keep the seed, not the mask

    torch stores a mask of one byte an element in the forward pass and reads it in the backward pass:
    18 bytes an fp32 element. A kernel that draws the same numbers again from the seed moves
    16 bytes, and keeps 8 bytes in all.
    """
    d.words(20, 78, "store the mask: 18 bytes an element")
    _two_passes(d, 78, stored=True)
    d.words(20, 300, "recompute: 16 bytes, and one seed")
    _two_passes(d, 300, stored=False)
    bars(d, 502, 25, "both passes, 16384 × 8192, fp32")


def _two_passes(d: Drawing, top: float, stored: bool) -> None:
    d.level(top + 12, 56, "")
    d.level(top + 122, 66, "chip", "chip", low=True)
    x, y, dy, dx = (
        d.box(left, top + 21, 100, 38, name, kind)
        for left, name, kind in (
            (30, "x 4", "in"),
            (150, "y 4", "out"),
            (390, "dy 4", "in"),
            (510, "dx 4", "out"),
        )
    )
    kept = d.box(270, top + 21, 100, 38, *(("mask 1", "bad") if stored else ("seed", "keep")))
    forward = d.box(80, top + 133, 200, 42, "forward: draw")
    back = d.box(360, top + 133, 250, 42, "backward: apply" if stored else "backward: draw again")
    d.arrow((100, x.bottom[1]), (100, forward.y), kind="load")
    d.arrow((200, forward.y), y.bottom, kind="store")
    way = (250, forward.y), (300, kept.bottom[1])
    d.arrow(*(way if stored else way[::-1]), kind="store" if stored else "load")
    d.arrow((340, kept.bottom[1]), (390, back.y), kind="load")
    d.arrow(dy.bottom, (440, back.y), kind="load")
    d.arrow((560, back.y), dx.bottom, kind="store")


def day26(d: Drawing) -> None:
    """The dtype of x picks the function

    libdevice.erf calls __nv_erff for fp32 and __nv_erf for fp64, and nothing for fp16. The function
    is compiled into your kernel. At x = −10⁴ the formula of asinh gives −∞, libdevice.asinh gives
    −9.9035.
    """
    d.words(20, 84, "libdevice.erf(x)", look="mono")
    rows = (
        ("fp32", "__nv_erff", "keep"),
        ("fp64", "__nv_erf", "keep"),
        ("fp16", "none: does not compile", "bad"),
    )
    for row, (dtype, name, kind) in enumerate(rows):
        y = 100 + 52 * row
        given = d.box(40, y, 90, 42, dtype, "in")
        called = d.box(190, y, 180 if row < 2 else 300, 42, name, kind)
        d.arrow(given.right, called.left, kind="line" if row < 2 else "wrong")
    d.line((370, 121), (394, 121), (394, 173), (370, 173))
    d.arrow((394, 147), (430, 147))
    d.box(430, 106, 190, 82, "inlined into\nyour kernel", "keep")
    d.words(20, 300, "asinh at x = −10⁴, in fp32")
    for row, (name, value, kind) in enumerate(
        (("log(x + √(x² + 1))", "−∞", "bad"), ("libdevice.asinh(x)", "−9.9035", "out"))
    ):
        y = 314 + 50 * row
        d.words(40, y + 27, name, look="mono")
        d.arrow((280, y + 20), (380, y + 20), kind="wrong" if row == 0 else "line")
        d.box(380, y, 130, 40, value, kind)
    bars(d, 424, 26, "exact gelu, 2²⁷ elements, fp32")


def day27(d: Drawing) -> None:
    """Three kernels, two big matrices

    Attention step by step. Kernel 1 reads Q and K and writes the scores S. Kernel 2 reads S and
    writes the weights P. Kernel 3 reads P and V and writes O. S and P have Sq × Sk elements, and both
    pass through main memory twice.
    """
    d.height = 500
    d.level(58, 196, "main memory")
    d.box(30, 96, 44, 130, "Q", "in")
    d.box(84, 96, 44, 130, "K", "in")
    d.box(170, 96, 130, 130, "S\nSq × Sk", "bad")
    d.box(334, 96, 130, 130, "P\nSq × Sk", "bad")
    d.box(498, 96, 44, 130, "V", "in")
    d.box(574, 96, 44, 130, "O", "out")
    d.level(330, 100, "on the chip", "chip", low=True)
    names = ("1: scores", "2: softmax", "3: P · V")
    kernels = [d.box(60 + 194 * i, 344, 132, 44, name, "keep") for i, name in enumerate(names)]
    for x, x1 in ((52, 74), (106, 106), (270, 280), (434, 460), (520, 520)):
        d.arrow((x, 226), (x1, 344), kind="load")
    for x, x1 in ((180, 210), (360, 370), (570, 596)):
        d.arrow((x, 344), (x1, 226), kind="store")
    d.moving(kernels, 1)
    d.words(20, 462, "Q, K, V, O: one row for each token, D numbers")
    d.words(20, 488, "S, P: a number for each pair of tokens")


def day28(d: Drawing) -> None:
    """Compute the scores twice, store none

    A program keeps its queries on the chip. In pass 1 the keys pass by, and only each row's maximum m
    stays. In pass 2 keys and values pass by, the same scores are made again, and l and acc grow. The
    only store is o.
    """
    d.level(58, 150, "main memory")
    first = d.cells(196, 92, [f"k{i}" for i in range(4)], "in", 104, 44)
    again = d.cells(196, 150, [f"k{i}, v{i}" for i in range(4)], "in", 104, 44)
    d.words(20, 122, "pass 1 reads")
    d.words(20, 180, "pass 2 reads")
    d.moving([*first, *again], 5)
    d.level(280, 218, "on the chip: no score is kept", "chip", low=True)
    one = d.box(24, 294, 190, 84, "pass 1\ns = q · k\nforgotten", "now")
    q = d.box(244, 294, 76, 60, "q\nstays", "keep")
    two = d.box(350, 294, 230, 84, "pass 2: s again\np = exp(s − m)\nforgotten", "now")
    d.moving([one] * 4 + [two] * 4, 5)
    m = d.box(24, 408, 190, 46, "m", "keep")
    acc = d.box(350, 408, 230, 46, "l, acc", "keep")
    d.arrow(q.left, (214, 324))
    d.arrow(q.right, (350, 324))
    d.arrow(one.bottom, m.top)
    d.arrow(two.bottom, acc.top)
    d.arrow(m.right, (328, 431), (328, 362), (350, 362))
    d.arrow(first[0].left, (176, 114), (176, 294), kind="load")
    d.arrow((450, 194), (450, 294), kind="load")
    d.arrow(acc.right, (602, 431), (602, 208), kind="store")
    d.words(590, 272, "o = acc / l", "end")
    d.words(188, 250, "each turn")
    d.words(462, 242, "each turn")
    d.note(524, "orange frames: one turn of one pass")
    bars(d, 536, 28, "64 heads × 2048, D = 128, fp16", torch="torch, math")
