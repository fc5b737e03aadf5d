"""Extra find_the_bug_layernorm: layer norm and its gradients with four bugs, one of them a race."""

from __future__ import annotations

import torch

from grader.challenge import Bug, Case, Challenge, Claim, Memory, Speed, between
from grader.challenge.formulas.draw_one_input import tensor, vector
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.layer_norm import dx_of, mean_of, rstd_of


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, float]:
    """x, moved by `mean`, weight, dy and eps; `dy_layout` and `dy_values` make dy unlike x."""
    x = tensor(case, draw, "x", case.rows, case.cols)
    if "mean" in case:
        x += case.mean
    weight = vector(case, draw, case.cols, "normal")
    return x, weight, tensor(case, draw, "dy", case.rows, case.cols), case.get("eps", 1e-6)


def reference(
    x: torch.Tensor, weight: torch.Tensor, dy: torch.Tensor, eps: float
) -> tuple[torch.Tensor, ...]:
    """y, dx and dweight, by sums in fp32 or better, rounded once."""
    wide = torch.promote_types(x.dtype, torch.float32)
    x_wide, weight, dy = x.to(wide), weight.to(wide), dy.to(wide)
    rstd = rstd_of(x_wide, eps)
    x_hat = (x_wide - mean_of(x_wide)) * rstd
    results = x_hat * weight, dx_of(dy, weight, x_hat, rstd), (dy * x_hat).sum(0)
    return tuple(result.to(x.dtype) for result in results)


def by_torch(x: torch.Tensor, weight: torch.Tensor, dy: torch.Tensor, eps: float) -> tuple[torch.Tensor, ...]:
    """y, dx and dweight as someone with torch gets them."""
    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    y = torch.nn.functional.layer_norm(x, x.shape[1:], weight, eps=eps)
    return y.detach(), *torch.autograd.grad(y, (x, weight), dy)


big = Case(rows=16384, cols=4096, dtype=BRAIN, gpu=True)

# Few rows, so that no two programs share a place of dweight; then a hundred, so that many do.
ragged = Case(rows=5, cols=300, mean=3.0)
thick = Case(rows=6, cols=64, eps=0.25)
strides = Case(rows=7, cols=64, layout="sliced", dy_layout="contiguous")
crowd = Case(rows=100, cols=64)

# Fixed before anything was measured: short rows too, and long ones in which torch is at its best.
CLAIMED = [
    Case(rows=16384, cols=cols, dtype=dtype, gpu=True)
    for dtype in (torch.float32, BRAIN)
    for cols in (256, 1024, 4096, 16384)
]
SAYS = "LayerNorm in Triton is 1.2 to 2 times as fast as torch's, both passes together"

BUGS = [
    Bug(
        "masked lanes become -mean and count in the variance",
        "masked lanes that are not neutral",
        witness=ragged,
    ),
    Bug(
        "eps is added outside of the root",
        "an expression that a wide tolerance forgives",
        witness=thick,
    ),
    Bug(
        "rows of dy are read at the stride of x",
        "one tensor's stride used for another",
        witness=strides,
    ),
    Bug(
        "programs that share partial sums of dweight load, add and store, and lose updates",
        "a race between programs",
        witness=crowd,
        shows="races",
    ),
]

challenge = Challenge(
    entry="layer_norm_backward",
    inputs=inputs,
    reference=reference,
    bugs=BUGS,
    claims=[Claim(SAYS, CLAIMED, of_torch=1.2, backend=b, torch=by_torch) for b in ("eager", "compile")],
    cases=[
        Case(rows=4, cols=1024),
        ragged,
        thick,
        strides,
        crowd,
        Case(rows=1, cols=1),
        Case(rows=5, cols=1),
        Case(rows=0, cols=8),
        Case(rows=2, cols=33),
        Case(rows=131, cols=65),
        Case(rows=3, cols=127),
        Case(rows=between(33, 47), cols=between(700, 800)),
        Case(rows=5, cols=1025),
        Case(rows=2, cols=16384),
        Case(rows=33, cols=64, eps=1e-12),
        Case(rows=9, cols=100, dtype=HALF),
        Case(rows=9, cols=100, dtype=BRAIN),
        Case(rows=300, cols=20, dtype=BRAIN),
        Case(rows=304, cols=48, dtype=BRAIN),
        Case(rows=288, cols=96, dtype=BRAIN),
        Case(rows=2, cols=10007, dtype=HALF),
        Case(rows=6, cols=50, layout="sliced"),
        Case(rows=7, cols=200, layout="sliced", dtype=HALF),
        Case(rows=6, cols=50, dy_layout="sliced"),
        Case(rows=5, cols=64, layout="offset"),
        Case(rows=6, cols=50, dy_layout="expanded"),
        Case(rows=6, cols=50, layout="expanded", dy_layout="contiguous"),
        Case(rows=5, cols=70, values="large", dy_values="normal"),
        Case(rows=5, cols=300, values="heavy", dtype=HALF),
        Case(rows=5, cols=300, values="negative"),
        Case(rows=40, cols=64, values="constant", dy_values="normal", eps=0.1),
        Case(rows=5, cols=77, values="spike"),
        Case(rows=5, cols=77, values="inf"),
        Case(rows=5, cols=77, values="nan"),
        Case(rows=5, cols=77, values="normal", dy_values="nan"),
        Case(rows=40, cols=60, calls=2),
        Case(rows=4096, cols=64, gpu=True),
        Case(rows=185_001, cols=16_379, dtype=HALF, huge=True),
        Case(rows=2100, cols=64, layout="far", dtype=HALF, huge=True),
    ],
    speed=Speed(big, moved=lambda x, weight, dy, eps: 4 * x.nbytes + 2 * weight.nbytes, of_copy=0.35),
    # Partial sums: a row of fp32 for each program that is under way.
    memory=Memory(big, extra=lambda x, weight, dy, eps: 4 * 1024 * x.shape[1]),
)
