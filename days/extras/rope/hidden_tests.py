"""Extra: rotary position embedding of q and k, both ways; forward at 0.55 of a plain copy."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Gradients, Memory, Own, Piece, Speed, between
from grader.challenge.formulas.draw_one_input import holding
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS, rope

BHSD = Own("bhsd")  # heads before tokens, as attention has them


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, bool]:
    """q, k, the tables of `p` positions, the positions of all tokens and whether pairs lie side by side.

    Where `bhsd`, heads lie before tokens in memory, as attention has them. Every angle is another one,
    and positions come in any order, some of them twice.
    """
    q = _drawn(case, draw, case.h, case.layout)
    k = _drawn(case, draw, case.h_k, case.get("k_layout", case.layout))
    angles = draw(case.p, case.d // 2, dtype=torch.float32, layout="contiguous", values="normal") * 3
    positions = draw.integers(case.b, case.s, low=0, high=case.p)
    cos, sin = holding(draw, angles.cos()), holding(draw, angles.sin())
    return q, k, cos, sin, positions, case.get("interleaved", False)


def _drawn(case: Case, draw, heads: int, layout: str | Own) -> Tensor:
    if layout == BHSD:
        return draw(case.b, heads, case.s, case.d, layout="contiguous").transpose(1, 2)
    return draw(case.b, case.s, heads, case.d, layout=layout)


def moved(q: Tensor, k: Tensor, *_) -> int:
    return 2 * (q.nbytes + k.nbytes)


def tables(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, positions: Tensor, *_) -> int:
    return cos.nbytes + sin.nbytes + positions.nbytes


wide = Case(b=4, s=4096, h=32, h_k=8, d=128, p=4096, dtype=BRAIN, gpu=True)

CASES = [
    Case(b=1, s=3, h=2, h_k=1, d=8, p=4),
    Case(b=1, s=1, h=1, h_k=1, d=2, p=1),
    Case(b=1, s=5, h=3, h_k=1, d=4, p=9, interleaved=True),
    Case(b=0, s=4, h=2, h_k=2, d=8, p=4),
    Case(b=2, s=0, h=2, h_k=2, d=8, p=4),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, interleaved=True),
    Case(b=3, s=4, h=1, h_k=3, d=32, p=7, demand="degenerate_sizes"),
    Case(b=1, s=between(5, 7), h=5, h_k=5, d=6, p=7),
    Case(b=2, s=between(3, 9), h=7, h_k=1, d=80, p=64),
    Case(b=2, s=3, h=7, h_k=1, d=80, p=64, interleaved=True),
    Case(b=1, s=4, h=12, h_k=4, d=96, p=5),
    Case(b=1, s=3, h=33, h_k=8, d=128, p=300),
    Case(b=1, s=2, h=3, h_k=2, d=256, p=17),
    Case(b=1, s=2, h=17, h_k=9, d=256, p=17, interleaved=True),
    Case(b=1, s=1, h=130, h_k=40, d=256, p=2),
    Case(b=2, s=6, h=4, h_k=2, d=64, p=12, dtype=HALF),
    Case(b=2, s=6, h=4, h_k=2, d=64, p=12, dtype=BRAIN),
    Case(b=2, s=6, h=4, h_k=2, d=64, p=12, dtype=BRAIN, interleaved=True),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, layout=BHSD),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, layout=BHSD, interleaved=True, dtype=HALF),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, layout=BHSD, k_layout="contiguous"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, layout="sliced"),
    Case(b=2, s=5, h=4, h_k=2, d=48, p=11, layout="padded", dtype=BRAIN),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, layout="offset"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, layout="offset", dtype=HALF),
    Case(b=3, s=5, h=4, h_k=2, d=16, p=11, layout="expanded"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, values="large"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, values="heavy", dtype=HALF),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, values="zeros"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, values="inf"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, values="nan"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, upstream="sliced"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, upstream="transposed"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, upstream="transposed", interleaved=True, dtype=BRAIN),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, upstream="strided"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, upstream="expanded"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, upstream="scalar"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, upstream="first"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, upstream="last"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, upstream="unlike"),
    Case(b=2, s=5, h=4, h_k=2, d=16, p=11, calls=2),
    Case(b=2, s=3, h=2, h_k=1, d=8, p=7, alone=0),
    Case(b=2, s=3, h=2, h_k=1, d=8, p=7, alone=1),
    Case(b=5, s=131_072, h=32, h_k=8, d=128, p=64, dtype=HALF, huge=True),
    Case(b=1, s=1_048_571, h=24, h_k=8, d=128, p=64, layout=BHSD, dtype=HALF, huge=True),
    Case(b=2, s=1100, h=4, h_k=2, d=16, p=1101, layout="far", upstream="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(b=1, s=1101, h=2, h_k=1, d=16, p=5000),
]

challenge = Challenge(
    entry="rope",
    inputs=inputs,
    reference=rope,
    gradients=Gradients(of=(0, 1), saved=tables),
    suspects=SUSPECTS,
    shown=Case(b=2, s=5, h=4, h_k=2, d=16, p=11),
    pieces=(  # the results are q and k turned, and their gradients
        Piece("reads of x", "rotate_kernel", by="loads", reads=("x_ptr",)),
        Piece("stores of y", "rotate_kernel", by="stores", results=(0, 1)),
        Piece("bounds", "rotate_kernel", by="bounds"),
        Piece("forward", "rotate_kernel", by="values", results=(0, 1)),
        Piece("backward", "rotate_kernel", by="values", results=(2, 3)),
        Piece("launcher", "rotate"),
    ),
    cases=CASES,
    speed=Speed(wide, moved=moved, of_copy=0.55),
    memory=Memory(wide),
)
