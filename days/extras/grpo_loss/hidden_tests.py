"""Extra: GRPO's loss, group statistics that feed the losses of tokens, both passes at 0.5 of a plain copy."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Gradients, Piece, Speed, between

from .suspects import SUSPECTS, grpo

FAR = 1e-4  # no ratio lies so near to where clipping begins: there rounding would decide


def inputs(case: Case, draw) -> tuple:
    """logp, old_logp, ref_logp, rewards, mask, eps, beta.

    The old policy is `apart` times as far from the new one. A token counts unless its integer in [low,
    high) is 0. The second answer is `empty`; with `lost` tokens that do not count hold NaN and Inf. Rewards
    are multiples of `unit`. Some ratios are 1. `ref_values` are those of ref_logp.
    """
    b, eps = case.groups * case.g, case.get("eps", 0.2)
    logp, old = draw(b, case.s), draw(b, case.s)
    ref = draw(b, case.s, values=case.get("ref_values"))
    old.mul_(0.3 * case.get("apart", 1.0)).add_(logp)
    ref.mul_(0.5).add_(logp)
    ratio = (logp - old).exp()
    close = (ratio - 1 - eps).abs().minimum((ratio - 1 + eps).abs()) < FAR
    old[close] = logp[close]
    old[:, 3::7] = logp[:, 3::7]
    rewards = draw(case.groups, case.g, values=case.get("r_values", "normal"))
    rewards *= case.get("unit", 1.0)
    mask = draw.integers(b, case.s, low=case.get("low", 0), high=case.get("high", 3), dtype=torch.bool)
    if "empty" in case:
        mask[1:2] = False
    if "lost" in case:
        for one, what in ((logp, torch.nan), (old, torch.inf), (ref, -torch.inf)):
            one[~mask] = what
    return logp, old, ref, rewards, mask, eps, case.get("beta", 0.1)


def kept(logp: Tensor, old: Tensor, ref: Tensor, rewards: Tensor, mask: Tensor, *_) -> int:
    return 3 * logp.nbytes + rewards.nbytes + mask.nbytes + 8 * len(logp)


wide = Case(groups=2048, g=8, s=2048, low=1, gpu=True)

CASES = [
    Case(groups=2, g=3, s=8),
    Case(groups=1, g=2, s=1, low=1),
    Case(groups=0, g=4, s=8),
    Case(groups=2, g=4, s=0),
    Case(groups=1, g=2, s=50),
    Case(groups=3, g=4, s=33),
    Case(groups=3, g=4, s=33, low=1),
    Case(groups=3, g=4, s=33, high=2),
    Case(groups=3, g=4, s=33, empty=True),
    Case(groups=3, g=4, s=33, high=1),
    Case(groups=3, g=4, s=33, beta=0.0),
    Case(groups=3, g=4, s=33, beta=1.0),
    Case(groups=3, g=4, s=33, eps=0.05),
    Case(groups=3, g=4, s=33, eps=0.5, apart=3.0),
    Case(groups=3, g=4, s=33, apart=20.0),
    Case(groups=2, g=7, s=127),
    Case(groups=2, g=7, s=112),
    Case(groups=2, g=7, s=96),
    Case(groups=2, g=5, s=128),
    Case(groups=1, g=16, s=129),
    Case(groups=1, g=33, s=20),
    Case(groups=1, g=3, s=1023),
    Case(groups=1, g=3, s=1025),
    Case(groups=1, g=2, s=between(4097, 4400)),
    Case(groups=40, g=2, s=6),
    Case(groups=between(300, 350), g=7, s=2),
    Case(groups=6, g=7, s=20, r_values="constant", unit=0.9, beta=1.0),
    Case(groups=6, g=4, s=20, r_values="integers"),
    Case(groups=3, g=4, s=33, layout="offset"),
    Case(groups=3, g=4, s=33, lost=True, values="negative", demand="extreme_inputs"),
    Case(groups=3, g=4, s=33, lost=True, empty=True, values="negative", demand="extreme_inputs"),
    Case(groups=3, g=4, s=33, values="negative"),
    Case(groups=3, g=4, s=33, values="nan", r_values="normal"),
    Case(groups=3, g=4, s=33, low=1, ref_values="nan"),
    Case(groups=3, g=4, s=33, empty=True, calls=2),
    Case(groups=150, g=8, s=301, huge=True),
]

challenge = Challenge(
    entry="grpo_loss",
    inputs=inputs,
    reference=grpo,
    no_host_reads=True,
    gradients=Gradients(of=(0,), saved=kept),
    suspects=SUSPECTS,
    shown=Case(groups=3, g=4, s=33),
    pieces=(  # the results are the loss and the gradient of logp
        Piece("losses of answers", "row_kernel", results=(0,)),
        Piece("what backward reads", "row_kernel", results=(1,)),
        Piece("mean", "mean_kernel", results=(0,)),
        Piece("dlogp", "backward_kernel", results=(1,)),
    ),
    cases=CASES,
    speed=Speed(
        wide, moved=lambda logp, *rest: 7 * logp.nbytes + 2 * rest[3].nbytes, of_copy=0.50, part="both"
    ),
)
