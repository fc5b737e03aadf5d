"""What a random entry may choose: declared by a day, judged by statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from grader.challenge.case import Case


@dataclass(frozen=True)
class Chance:
    """The entry drops elements at random: its choice is taken as given, and judged by statistics.

    Args:
        keep: which elements were kept, bool, from the arguments and the outputs.
        rate: the probability that one is kept.
    """

    keep: Callable[..., torch.Tensor]
    rate: Callable[[Case], float]


@dataclass(frozen=True)
class Frequencies:
    """The entry draws a category for each row at random, an integer [rows]: whatever can come is right, and
    how often it comes is judged by statistics. The reference returns the likeliest one.

    Args:
        of: the probability of each category, float64 [rows, categories], from the arguments, floating tensors
            among them in float64. A row with a single 1 leaves no choice.
        suspects: probabilities that a learner may have drawn by instead, by the sentence that says so.
    """

    of: Callable[..., torch.Tensor]
    suspects: Mapping[str, Callable[..., torch.Tensor]] = field(default_factory=dict)
