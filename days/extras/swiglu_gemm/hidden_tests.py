"""Extra: silu(x w_gateᵀ) · (x w_upᵀ) in one kernel, at 0.45 of the speed of torch's four."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import silu

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor]:
    """x[m, k], w_gate[n, k] and w_up[n, k]; `x_layout`, `gate_values`, … make one of them unlike.

    With `gate_gain` and `up_gain` a weight is that much larger: sums of x w_upᵀ may leave fp16 while the
    results do not.
    """
    sides = {"x": (case.m, case.k), "gate": (case.n, case.k), "up": (case.n, case.k)}
    drawn = {which: tensor(case, draw, which, *shape) for which, shape in sides.items()}
    for which in ("gate", "up"):
        if f"{which}_gain" in case:
            drawn[which] *= case.get(f"{which}_gain")
    return drawn["x"], drawn["gate"], drawn["up"]


def reference(x: Tensor, w_gate: Tensor, w_up: Tensor) -> Tensor:
    """By sums in fp32 or wider, rounded once."""
    wide = torch.promote_types(x.dtype, torch.float32)
    gate, up = (x.to(wide) @ w.to(wide).mT for w in (w_gate, w_up))
    return (silu(gate) * up).to(x.dtype)


def by_torch(x: Tensor, w_gate: Tensor, w_up: Tensor) -> Tensor:
    """Four kernels."""
    return silu(x @ w_gate.mT) * (x @ w_up.mT)


def moved(x: Tensor, w_gate: Tensor, w_up: Tensor) -> int:
    return x.nbytes + w_gate.nbytes + w_up.nbytes + len(x) * len(w_gate) * x.element_size()


# The MLP of a model of 7B parameters or so, for 8192 tokens.
layer = Case(m=8192, n=8192, k=4096, dtype=HALF, gpu=True)

CASES = [
    Case(m=16, n=16, k=16),
    Case(m=48, n=48, k=48),
    Case(m=96, n=96, k=96, dtype=HALF),
    Case(m=16, n=16, k=16, dtype=HALF),
    Case(m=1, n=1, k=1),
    Case(m=0, n=8, k=4),
    Case(m=8, n=0, k=4),
    Case(m=8, n=9, k=0),
    Case(m=5, n=7, k=3),
    Case(m=1, n=100, k=40),
    Case(m=100, n=1, k=40),
    Case(m=31, n=33, k=65),
    Case(m=64, n=128, k=32),
    Case(m=65, n=63, k=31),
    Case(m=127, n=129, k=63, dtype=HALF),
    Case(m=129, n=127, k=65, dtype=BRAIN),
    Case(m=1100, n=140, k=20, dtype=HALF),
    Case(m=20, n=1100, k=20, dtype=HALF),
    Case(m=between(18, 31), n=between(18, 31), k=between(514, 543)),
    Case(m=20, n=30, k=1003, dtype=HALF),
    Case(m=40, n=70, k=50, dtype=BRAIN),
    Case(m=130, n=140, k=192, dtype=HALF),
    Case(m=40, n=50, k=64, gate_gain=0.003, up_gain=1e4, dtype=HALF),
    Case(m=40, n=70, k=50, layout="transposed"),
    Case(m=40, n=70, k=50, gate_layout="transposed", dtype=HALF),
    Case(m=40, n=70, k=50, up_layout="transposed", dtype=HALF),
    Case(m=40, n=70, k=50, layout="sliced", up_layout="contiguous"),
    Case(m=40, n=70, k=50, layout="sliced", gate_layout="strided"),
    Case(m=40, n=70, k=50, x_layout="columns", dtype=BRAIN),
    Case(m=40, n=72, k=48, layout="padded", dtype=HALF),
    Case(m=40, n=70, k=50, layout="expanded", gate_layout="contiguous", up_layout="sliced"),
    Case(m=41, n=71, k=51, layout="offset", dtype=HALF),
    Case(m=40, n=70, k=50, values="zeros", x_values="normal"),
    Case(m=40, n=70, k=50, values="constant", x_values="normal"),
    Case(m=40, n=70, k=50, values="heavy"),
    Case(m=40, n=70, k=50, values="normal", gate_values="large"),
    Case(m=40, n=70, k=50, values="inf", gate_values="normal", up_values="normal"),
    Case(m=40, n=70, k=50, values="normal", gate_values="nan"),
    Case(m=40, n=70, k=50, values="normal", up_values="nan", dtype=HALF),
    Case(m=90, n=80, k=40, calls=2),
    Case(m=85_001, n=32_771, k=67, dtype=HALF, huge=True),
    Case(m=2**20 + 5, n=9, k=4099, dtype=HALF, huge=True),
    Case(m=9, n=2**20 + 5, k=4099, dtype=HALF, huge=True),
    Case(m=9, n=2**20 + 5, k=4099, dtype=HALF, layout="transposed", huge=True),
    Case(m=2100, n=2100, k=9, layout="far", dtype=HALF, huge=True),
]

challenge = Challenge(
    entry="swiglu_gemm",
    inputs=inputs,
    reference=reference,
    suspects=SUSPECTS,
    # fp16 and bf16 are summed in fp32 and rounded once, however long the sum.
    reduces=lambda case: case.k if case.dtype == torch.float32 else 1,
    shown=Case(m=127, n=129, k=63, dtype=HALF),
    cases=CASES,
    speed=Speed(
        layer,
        moved=moved,
        flops=lambda x, w_gate, w_up: 4 * x.numel() * len(w_gate),
        of_torch=0.45,
        torch=by_torch,
    ),
    # A product that is stored is as large as the result.
    memory=Memory(Case(m=1600, n=1600, k=64, dtype=HALF)),
)
