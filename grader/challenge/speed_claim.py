"""What is said of the speed of such kernels, to be held against torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from grader.challenge.case import Case


@dataclass(frozen=True)
class Claim:
    """A claim about speed: measured on a GPU by `track grade --claims`, and no gate.

    Args:
        says: the claim, in the words of those who make it.
        cases: what it is measured on, fixed beforehand, those included in which it should not hold.
        of_torch: torch's speed times this is claimed.
        backend: of torch: as it stands, compiled by torch.compile, or one backend of its attention.
        part: what is timed: forward, backward (the gradients alone), or both.
        torch: the torch call; that of the challenge's first bar when None.
    """

    says: str
    cases: Sequence[Case]
    of_torch: float
    backend: Literal["eager", "compile", "flash", "cudnn", "flex"] = "eager"
    part: Literal["forward", "backward", "both"] = "forward"
    torch: Callable[..., Any] | None = None
