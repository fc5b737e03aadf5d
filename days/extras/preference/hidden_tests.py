"""Extra: pairs in the order of their rewards at 0.65 of a plain copy, and a reward model's step in place."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Piece, Speed, between
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import OF_SELECT, OF_UPDATE, selected


def pairs(case: Case, draw) -> tuple[Tensor, ...]:
    """a and b, each laid out by itself, and their rewards; `r_values` are a's, `other_values` b's."""
    rows = [tensor(case, draw, which, case.n, case.d) for which in "ab"]
    first = draw(case.n, dtype=torch.float32, layout="contiguous", values=case.get("r_values", "normal"))
    plain = "integers" if case.get("r_values") == "integers" else case.get("other_values", "normal")
    return *rows, first, draw(case.n, dtype=torch.float32, layout="contiguous", values=plain)


def learnt(case: Case, draw) -> tuple:
    """w, chosen, rejected, lr. w is so short that no pair is decided, and lr so large that a step shows."""
    w = draw(case.d, dtype=torch.float32, layout="contiguous", values=case.get("w_values", "normal"))
    w /= case.d**0.5
    chosen, rejected = (tensor(case, draw, which, case.n, case.d) for which in "cr")
    return w, chosen, rejected, case.get("lr", 3.0)


def step(w: Tensor, chosen: Tensor, rejected: Tensor, lr: float) -> Tensor:
    """What w holds one step later, in fp32 or wider."""
    d = chosen.to(w.dtype) - rejected.to(w.dtype)
    return w + lr * (torch.sigmoid(-(d @ w))[:, None] * d).sum(dim=0) / max(len(d), 1)


wide = Case(n=65536, d=1024, dtype=BRAIN, gpu=True)

select = Challenge(
    entry="preference_select",
    inputs=pairs,
    reference=selected,
    rowwise=True,
    no_host_reads=True,
    suspects=OF_SELECT,
    shown=Case(n=20, d=33, exact=True),
    pieces=(
        Piece("chosen", "select_kernel", results=(0,)),
        Piece("rejected", "select_kernel", results=(1,)),
        Piece("margin", "select_kernel", results=(2,)),
    ),
    cases=[
        Case(n=3, d=8, exact=True),
        Case(n=1, d=1, exact=True),
        Case(n=0, d=8, exact=True),
        Case(n=40, d=1, exact=True),
        Case(n=20, d=33, exact=True),
        Case(n=5, d=127, exact=True),
        Case(n=5, d=128, exact=True),
        Case(n=5, d=129, exact=True),
        Case(n=4, d=between(1026, 1100), exact=True),
        Case(n=3, d=4099, exact=True),
        Case(n=2, d=20011, exact=True),
        Case(n=300, d=5, exact=True),
        Case(n=500, d=9, r_values="integers", exact=True),  # 60 pairs have no tie once in 40 draws
        Case(n=20, d=33, dtype=HALF, exact=True),
        Case(n=20, d=33, dtype=BRAIN, exact=True),
        Case(n=9, d=70, layout="sliced", exact=True),
        Case(n=9, d=72, layout="padded", exact=True),
        Case(n=9, d=70, layout="sliced", b_layout="contiguous", exact=True),
        Case(n=9, d=70, layout="contiguous", b_layout="sliced", dtype=HALF, exact=True),
        Case(n=9, d=70, layout="offset", dtype=BRAIN, exact=True),
        Case(n=9, d=70, layout="expanded", b_layout="sliced", exact=True),
        Case(n=9, d=70, values="inf", exact=True),
        Case(n=9, d=70, values="nan", exact=True),
        Case(n=12, d=20, values="large", r_values="nan", exact=True),
        Case(n=12, d=20, other_values="nan", exact=True),
        Case(n=12, d=20, other_values="inf", exact=True),
        Case(n=12, d=20, values="large", r_values="inf", exact=True),
        Case(n=12, d=20, values="large", r_values="minus_inf", exact=True),
        Case(n=9, d=70, calls=2, exact=True),
        Case(n=140_001, d=16_379, dtype=HALF, huge=True),
        Case(n=2100, d=70, layout="far", dtype=HALF, huge=True),
        # Large enough that a fixed number of programs has several tiles each.
        Case(n=1101, d=5, exact=True),
    ],
    speed=Speed(wide, moved=lambda a, b, *_: 2 * (a.nbytes + b.nbytes), of_copy=0.65),
)

update = Challenge(
    entry="reward_update",
    inputs=learnt,
    reference=step,
    writes=(0,),
    no_host_reads=True,
    suspects=OF_UPDATE,
    pieces=(Piece("w", "step_kernel", results=(0,)),),
    cases=[
        Case(n=3, d=8),
        Case(n=1, d=1),
        Case(n=0, d=8),
        Case(n=50, d=1),
        Case(n=1, d=33),
        Case(n=20, d=33, lr=0.5),
        Case(n=63, d=20),
        Case(n=64, d=20),
        Case(n=80, d=20),
        Case(n=96, d=20),
        Case(n=65, d=20, lr=60.0),  # so that w is mostly the step
        Case(n=between(130, 143), d=between(66, 79)),
        Case(n=200, d=24),
        Case(n=5, d=127),
        Case(n=5, d=129),
        Case(n=3, d=4099),
        Case(n=40, d=24, w_values="zeros"),
        Case(n=40, d=24, dtype=HALF),
        Case(n=40, d=24, dtype=BRAIN),
        Case(n=40, d=24, layout="sliced"),
        Case(n=40, d=24, layout="padded", dtype=HALF),
        Case(n=40, d=24, c_layout="sliced", r_layout="expanded", dtype=HALF),
        Case(n=40, d=24, layout="offset", dtype=BRAIN),
        Case(n=9, d=24, values="large", lr=0.01),
        Case(n=9, d=24, values="heavy"),
        Case(n=9, d=24, values="nan"),
        Case(n=70, d=24, calls=2),
        Case(n=70, d=24, calls=3),
        Case(n=140_001, d=16_379, dtype=HALF, huge=True),
        Case(n=2100, d=70, layout="far", dtype=HALF, huge=True),
        # Large enough that a fixed number of programs has several tiles each.
        Case(n=1101, d=5),
    ],
)

challenge = (select, update)
