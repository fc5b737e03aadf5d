"""Extra: a step of AdamW in place, at 0.75 of a plain copy; lr and step change without a compilation."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.optim.adamw import adamw as of_torch

from grader.challenge import Case, Challenge, Compilations, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS, step_of

USUAL = {"lr": 0.05, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.1, "step": 10}


def inputs(case: Case, draw) -> tuple:
    """param, grad, both states, and six numbers; `g_values` are grad's, `faint` makes the second state small.

    The states are fp32 and laid out like the rest.
    """
    param, grad = draw(case.n), draw(case.n, values=case.get("g_values"))
    exp_avg, exp_avg_sq = (draw(case.n, dtype=torch.float32, values=case.get("s_values")) for _ in range(2))
    exp_avg *= 0.5
    exp_avg_sq *= exp_avg_sq
    if "faint" in case:
        grad *= case.faint
        exp_avg_sq *= case.faint**2
    return (param, grad, exp_avg, exp_avg_sq, *(case.get(name, usual) for name, usual in USUAL.items()))


def reference(param, grad, exp_avg, exp_avg_sq, *numbers) -> tuple[Tensor, Tensor, Tensor]:
    """What the three hold one step later, in fp32 or wider."""
    wide = torch.promote_types(param.dtype, torch.float32)
    return step_of(param.to(wide), grad.to(wide), exp_avg, exp_avg_sq, *numbers)


def plain(param, grad, exp_avg, exp_avg_sq, lr, beta1, beta2, eps, weight_decay, step) -> None:
    """torch's own fused step, in place as well; it counts the step itself."""
    count = torch.full((), step - 1.0, device=param.device)
    states = [exp_avg], [exp_avg_sq], [], [count]
    numbers = {"lr": lr, "beta1": beta1, "beta2": beta2, "eps": eps, "weight_decay": weight_decay}
    of_torch([param], [grad], *states, fused=True, amsgrad=False, maximize=False, **numbers)


large = Case(n=2**27, gpu=True)

CASES = [
    Case(n=3),
    Case(n=1),
    Case(n=0),
    Case(n=127),
    Case(n=1023),
    Case(n=1024),
    Case(n=1025),
    Case(n=1536),
    Case(n=1056),
    Case(n=4099),
    Case(n=between(19_000, 21_000)),
    Case(n=500, step=1),
    Case(n=500, step=2, lr=0.01),
    Case(n=500, step=3, lr=0.02),
    Case(n=500, step=1000, lr=0.3),
    Case(n=500, step=1, beta2=0.9999, s_values="zeros"),
    Case(n=500, weight_decay=0.0),
    Case(n=500, lr=0.0),
    Case(n=500, eps=0.0),
    Case(n=500, eps=0.1),
    Case(n=500, eps=1e-3, faint=1e-3, step=2),
    Case(n=500, eps=0.0, faint=1e-8, step=2),
    Case(n=500, beta1=0.5, beta2=0.6, step=2),
    Case(n=500, beta1=0.0, step=5),
    Case(n=1000, dtype=HALF, lr=0.5),
    Case(n=1000, dtype=HALF, step=1, lr=0.5),
    Case(n=1000, dtype=BRAIN, lr=0.5),
    Case(n=1000, dtype=BRAIN, step=1, lr=0.5),
    Case(n=300, layout="offset"),
    Case(n=300, layout="offset", dtype=HALF, lr=0.5),
    Case(n=300, layout="offset", dtype=BRAIN, lr=0.5),
    Case(n=300, values="large"),
    Case(n=300, values="large", dtype=HALF, lr=0.5, s_values="normal"),
    Case(n=300, values="normal", g_values="zeros"),
    Case(n=300, values="normal", g_values="zeros", s_values="zeros"),
    Case(n=300, values="normal", g_values="nan"),
    Case(n=300, values="normal", g_values="inf"),
    Case(n=300, values="heavy"),
    Case(n=700, calls=2),
    Case(n=700, calls=2, dtype=BRAIN, lr=0.5),
    Case(n=2**31 + 12_345, dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(n=1_300_001),
]

challenge = Challenge(
    entry="adamw",
    inputs=inputs,
    reference=reference,
    writes=(0, 2, 3),
    no_host_reads=True,
    suspects=SUSPECTS,
    shown=Case(n=4099),
    cases=CASES,
    compilations=Compilations([case for case in CASES if case.n == 500 and "step" in case][:4], most=2),
    speed=Speed(large, moved=lambda param, *_: 7 * param.nbytes, of_copy=0.75, torch=plain),
)
