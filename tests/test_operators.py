"""An operator that a learner registers with torch is seen through: a canary for a private name of torch."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.operators import body


@torch.library.custom_op("track_canary::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


def test_the_learners_operators_have_a_body_and_torchs_have_none() -> None:
    seen: dict[str, Any] = {}

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen[func._schema.name] = body(func)
            return func(*args, **(kwargs or {}))

    with Look():
        double(torch.ones(3)) + 1
    assert seen["track_canary::double"](torch.ones(1)) == 2
    assert seen["aten::add"] is None
