"""Operators that a learner registered with torch (triton_op, custom_op): what they do is looked at, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    from torch._library import custom_ops

    _known: Any = custom_ops.OPDEFS
except (ImportError, AttributeError):  # a private name: without it such an operator is one of torch's
    _known = {}


def body(func: Any) -> Callable[..., Any] | None:
    """The learner's function behind an operator; None where it is none of theirs.

    Args:
        func: as __torch_dispatch__ is handed it.
    """
    found = _known.get(func._schema.name)
    return found._init_fn if found is not None else None
