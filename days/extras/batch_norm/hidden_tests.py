"""Extra: batch norm in training, running statistics in place; forward at 0.40 of a copy, backward at 0.30."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import batch_norm as of_torch

from grader.challenge import Case, Challenge, Gradients, Piece, Speed, between
from grader.challenge.formulas.draw_one_input import vector
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS, batch_norm


def inputs(case: Case, draw) -> tuple:
    """x, weight, bias, running mean and variance, momentum and eps.

    `mean=1000` lies far from 0, and `drift` each image so much further from it than the one before; with
    `thin` all deviations are small, so that eps decides.
    """
    c = case.c
    x = draw(case.b, c, case.h, case.w)
    weight, bias = (vector(case, draw, c, "normal") for _ in range(2))
    running_mean, running_var = (
        draw(c, dtype=torch.float32, layout="contiguous", values="normal") for _ in "mv"
    )
    running_var.square_().add_(0.1)
    x *= case.get("thin", 1.0)
    if "drift" in case:
        x += case.drift * torch.arange(case.b, device=x.device).view(-1, 1, 1, 1)
    if "mean" in case:
        x += case.mean
    return x, weight, bias, running_mean, running_var, case.get("momentum", 0.1), case.get("eps", 1e-5)


def reference(x: Tensor, weight: Tensor, bias: Tensor, *rest) -> tuple[Tensor, Tensor, Tensor]:
    """Running mean and variance one step later, and y; in fp32 or wider."""
    wide = torch.promote_types(x.dtype, torch.float32)
    new_mean, new_var, y = batch_norm(x.to(wide), weight.to(wide), bias.to(wide), *rest)
    return new_mean, new_var, y.to(x.dtype)


def plain(x, weight, bias, running_mean, running_var, momentum, eps) -> Tensor:
    """torch's own, in place as well; beside fp32 statistics it takes fp32 parameters."""
    return of_torch(x, running_mean, running_var, weight.float(), bias.float(), True, momentum, eps)


def kept(x: Tensor, weight: Tensor, *_) -> int:
    return x.nbytes + weight.nbytes + 8 * x.shape[1]


def of(b: int, c: int, h: int, w: int, **more) -> Case:
    return Case(b=b, c=c, h=h, w=w, **more)


resnet = of(64, 64, 112, 112, dtype=HALF, gpu=True)

CASES = [
    of(2, 3, 2, 4),
    of(2, 1, 1, 1, eps=0.25),
    of(1, 2, 1, 2, eps=0.25),
    of(1, 3, 4, 5),
    of(5, 4, 1, 1, eps=0.1),
    of(3, 5, 7, 7),
    of(between(5, 9), 4, 6, between(7, 13)),
    of(2, 2, 33, 31),
    of(2, 2, 25, 41),
    of(5, 2, 40, 53),
    of(1, 1, 80, 80),
    of(70, 3, 8, 8),
    of(1200, 1, 2, 3),
    of(3, 130, 3, 3),
    of(4, 3, 9, 10, momentum=0.9),
    of(4, 3, 9, 10, momentum=0.0),
    of(4, 3, 9, 10, eps=0.3),
    of(4, 3, 9, 10, eps=1e-3, thin=0.02),
    of(4, 3, 40, 40, mean=1000.0),
    of(6, 3, 30, 40, drift=100.0),
    # Few elements: n − 1 in the place of n is more than what 16 bits round.
    of(3, 3, 2, 3, dtype=HALF),
    of(3, 3, 2, 3, dtype=BRAIN),
    of(4, 3, 9, 10, dtype=BRAIN),
    of(3, 2, 40, 40, dtype=HALF, mean=100.0),
    of(4, 3, 6, 11, layout="offset"),
    of(4, 3, 6, 11, layout="offset", dtype=HALF),
    of(4, 3, 6, 11, values="large"),
    of(4, 3, 6, 11, values="heavy"),
    of(4, 3, 6, 11, values="constant", eps=0.1),
    of(4, 3, 6, 11, values="nan"),
    of(4, 3, 6, 11, upstream="sliced"),
    of(4, 3, 6, 11, upstream="transposed", dtype=BRAIN),
    of(4, 3, 6, 11, upstream="broadcast"),
    of(4, 3, 6, 11, alone=0),
    of(4, 3, 6, 11, calls=2),
    of(4, 3, 6, 11, calls=2, dtype=HALF),
    of(2050, 3, 600, 600, dtype=HALF, huge=True),
]

challenge = Challenge(
    entry="batch_norm",
    inputs=inputs,
    reference=reference,
    writes=(3, 4),
    reduces=lambda case: case.b * case.h * case.w,
    no_host_reads=True,
    gradients=Gradients(of=(0, 1, 2), saved=kept),
    suspects=SUSPECTS,
    shown=of(2, 2, 25, 41),
    pieces=(  # the results are running mean and variance, y, and the gradients of x, weight and bias
        Piece("parts of a channel", "statistics_kernel", results=(0, 1, 2)),
        Piece("mean and variance", "finish_kernel", results=(0, 1, 2)),
        Piece("y", "normalize_kernel", results=(2,)),
        Piece("gradient sums", "gradient_sums_kernel", results=(4, 5)),
        Piece("dweight and dbias", "finish_gradients_kernel", results=(4, 5)),
        Piece("dx", "dx_kernel", results=(3,)),
    ),
    cases=CASES,
    speed=[
        Speed(resnet, moved=lambda x, *_: 3 * x.nbytes, torch=plain, of_copy=0.40, sweep=("b",)),
        Speed(
            resnet, moved=lambda x, *_: 5 * x.nbytes, torch=plain, of_copy=0.30, part="backward", sweep=("b",)
        ),
    ],
)
