"""Arguments that are no tensors, told as the tensors that they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Made:
    """One argument that is made of tensors just before the learner's function is called.

    `inputs` returns the tensors, one behind the other in its place, and so the reference takes them.
    Positions (`writes`, `Gradients.of`) count tensors.

    Args:
        at: position of the first of them.
        kind: "list", of all of them; "dlpack", an object over one tensor that has nothing but `__dlpack__`
            and `__dlpack_device__`; "all_reduce", a function of one tensor: it leaves what it is given in the
            second of them, and adds the first, what all other ranks hold, to it in place.
        count: how many they are.
    """

    at: int
    kind: Literal["list", "dlpack", "all_reduce"]
    count: int = 1
