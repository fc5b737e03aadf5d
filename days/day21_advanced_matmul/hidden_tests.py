"""Day 21: one product for each group of rows, where the group sizes are known to the device alone."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Relation, Speed, between
from grader.challenge.formulas.draw_one_input import counts, tensor
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.matmul import overflow


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """x, w and group_sizes; `x_layout`, `w_layout` and `w_values` make x and w unlike each other.

    With `overflows`, sums leave fp16 and come back.
    """
    group_sizes = counts(case.groups)
    x = tensor(case, draw, "x", sum(group_sizes), case.k)
    w = tensor(case, draw, "w", len(group_sizes), case.k, case.n)
    if "overflows" in case:
        overflow(x, w.transpose(0, 1))
    on_device = draw(len(group_sizes), dtype=torch.int32, layout="contiguous", values="zeros")
    return x, w, on_device.copy_(torch.tensor(group_sizes))


def reference(x: torch.Tensor, w: torch.Tensor, group_sizes: torch.Tensor) -> torch.Tensor:
    rows = x.split(group_sizes.tolist())
    return torch.cat([x_i @ w_i for x_i, w_i in zip(rows, w, strict=True)])


def even_loop(x: torch.Tensor, w: torch.Tensor, group_sizes: torch.Tensor) -> torch.Tensor:
    """torch's loop where all groups are known to be alike, so that it need not ask the device."""
    out = torch.empty(x.shape[0], w.shape[2], dtype=x.dtype, device=x.device)
    size = len(x) // len(w)
    for group, w_i in enumerate(w):
        rows = slice(group * size, (group + 1) * size)
        torch.mm(x[rows], w_i, out=out[rows])
    return out


def flops(x: torch.Tensor, w: torch.Tensor, group_sizes: torch.Tensor) -> int:
    return 2 * x.numel() * w.shape[2]


def moved(x: torch.Tensor, w: torch.Tensor, group_sizes: torch.Tensor) -> int:
    return x.nbytes + w.nbytes + x.shape[0] * w.shape[2] * x.element_size()


def swapped(x: torch.Tensor, w: torch.Tensor, group_sizes: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The two groups in the other order, each with its rows and its matrix."""
    return x.roll(len(x) - int(group_sizes[0]), 0), w.flip(0), group_sizes.flip(0)


big = Case(groups="16x512", k=4096, n=4096, dtype=BRAIN)

HUGE = [
    Case(groups="2x42_500", k=67, n=32_771, dtype=HALF, huge=True),
    Case(groups="2x42_500", k=67, n=32_771, dtype=HALF, layout="transposed", huge=True),
    Case(groups="300x1", k=2051, n=4099, dtype=HALF, huge=True),
    Case(groups="2x600_001", k=2051, n=9, dtype=HALF, huge=True),
    Case(groups="2x1100", k=1100, n=9, layout="far", dtype=HALF, huge=True),
]

RELATIONS = [
    Relation(
        "groups in another order",
        Case(groups="3+21", k=20, n=18, values="integers"),
        swapped,
        lambda one, other: torch.equal(other[0], one[0].roll(len(one[0]) - 3, 0)),
        "Group sizes of 3 and 21, then 21 and 3, with rows and matrices in that order too: the same rows "
        "have other results. Do sizes of an earlier call of these shapes stay in use?",
    ),
]

challenge = Challenge(
    entry="grouped_matmul",
    inputs=inputs,
    reference=reference,
    no_host_reads=True,
    shown=Case(groups="15+16+17", k=31, n=64),
    cases=[
        Case(groups="16+16", k=32, n=16),
        # Whole tiles along n, and more rows of tiles than a group has: too long a row leads elsewhere.
        Case(groups="1030+5", k=16, n=256),
        Case(groups="1", k=1, n=1),
        Case(groups="15+16+17", k=48, n=80),
        Case(groups="15+16+17", k=96, n=96),
        Case(groups="3x0", k=20, n=30),
        Case(groups="3+5", k=0, n=7),
        Case(groups="3+5+2", k=7, n=5),
        Case(groups="5x16", k=33, n=17),
        Case(groups="15+16+17", k=31, n=64),
        Case(groups="63+65", k=64, n=65),
        Case(groups="0+4+0+0+21+3+0", k=40, n=36),
        Case(groups="13x1", k=24, n=20),
        Case(groups="13x1", k=24, n=150),
        Case(groups="70x1", k=24, n=20),
        Case(groups="2+140x0+3+150x0+5", k=24, n=20),
        Case(groups="6x1", k=64, n=40, dtype=HALF),
        Case(groups="4x0+90+3x0", k=50, n=24),
        Case(groups="1+200+2", k=20, n=40),
        Case(groups="11+2+29", k=between(130, 143), n=between(66, 79)),
        Case(groups="2+30+9", k=127, n=129, dtype=BRAIN),
        Case(groups="5+0+20", k=2001, n=20, dtype=BRAIN),
        Case(groups="129+127", k=72, n=264, dtype=HALF),
        Case(groups="257", k=64, n=40, dtype=HALF),
        Case(groups="7+3", k=1024, n=6, dtype=HALF, values="negative"),
        Case(groups="3+5", k=512, n=6, values="negative", overflows=True, dtype=HALF),
        Case(groups="9+0+20", k=45, n=37, layout="transposed"),
        Case(groups="9+0+20", k=48, n=40, layout="columns", w_layout="padded"),
        Case(groups="130+140", k=64, n=40, layout="padded", dtype=HALF),
        Case(groups="9+0+20", k=48, n=40, layout="columns", x_layout="padded", dtype=HALF),
        Case(groups="9+0+20", k=47, n=39, layout="sliced"),
        Case(groups="9+0+20", k=48, n=40, layout="strided", dtype=HALF),
        Case(groups="150+120", k=48, n=40, layout="offset", dtype=HALF),
        Case(groups="9+0+20", k=44, n=32, layout="expanded"),
        Case(groups="9+0+20", k=60, n=52, values="integers", exact=True),
        Case(groups="260+0+140", k=64, n=40, values="integers", dtype=HALF, exact=True),
        Case(groups="9+0+20", k=61, n=53, values="constant", w_values="normal"),
        Case(groups="9+0+20", k=62, n=54, values="large"),
        Case(groups="9+0+20", k=62, n=54, values="large", dtype=BRAIN),
        Case(groups="9+0+20", k=63, n=55, values="heavy"),
        Case(groups="9+0+20", k=65, n=56, values="spike"),
        Case(groups="9+0+20", k=66, n=57, values="inf"),
        Case(groups="9+0+20", k=67, n=58, values="nan"),
        Case(groups="130+140", k=64, n=40, values="nan", dtype=BRAIN),
        Case(groups="6+8", k=35, n=31, calls=2),
        Case(groups="256x3+0+1000", k=256, n=1024, dtype=BRAIN, gpu=True),
        *HUGE,
    ],
    relations=RELATIONS,
    speed=Speed(big, moved=moved, flops=flops, of_torch=0.5, torch=even_loop),
)
