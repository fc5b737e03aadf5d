"""Near ties: where an exact quotient lies beside a rounding boundary, one rounding more decides on which side
of it a right kernel ends.
"""

from __future__ import annotations

import torch

from grader.challenge.harness.compare import Expected
from grader.challenge.harness.goodness_of_fit import possible
from grader.challenge.harness.trial import Trial

SHARE = 0.01  # of a result; who rounds by another rule meets more


def most(elements: int) -> int:
    """How many of so many elements may be near ties: of a few, one."""
    return max(1, int(SHARE * elements))


def settled(trial: Trial, out: torch.Tensor, want: Expected) -> torch.Tensor:
    """The first result that was returned, with the oracle's elements where the challenge accepts others.

    As it is where it differs so in more than 1 %, and in a case that is exact. Of what is drawn at random all
    that is possible is accepted.
    """
    right = want.right
    if trial.challenge.frequencies:
        could = possible(trial.challenge.frequencies, trial.oracle_arguments, out)
        return torch.where(could, right.to(out.device), out)
    accept = trial.challenge.accept
    if accept is None or trial.case.exact:
        return out
    differs = (out != right) & ~(out.isnan() & right.isnan())
    device = next(value.device for value in trial.oracle_arguments if isinstance(value, torch.Tensor))
    accepted = differs & accept(out.to(device), *trial.last_arguments).to(out.device)
    return torch.where(accepted, right, out) if int(accepted.sum()) <= most(out.numel()) else out


def without(got: torch.Tensor, plain: torch.Tensor) -> torch.Tensor:
    """Elements of a timed result, with torch's for as many of those that differ most as may be near ties."""
    off = (got.double() - plain.double()).abs().nan_to_num(torch.inf)
    where = off.topk(most(got.numel())).indices
    return got.index_copy(0, where, plain[where].to(got.dtype))
