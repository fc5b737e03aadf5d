"""torch's operators by what they do to memory, and the tensors among their arguments.

Operators that a learner registered with torch (triton_op, custom_op) are seen through, and launches by way of
wrap_triton: what they do is looked at, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._C import DispatchKey
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode

try:
    from torch._library import custom_ops

    _known: Any = custom_ops.OPDEFS
except (ImportError, AttributeError):  # a private name: without it such an operator is one of torch's
    _known = {}


class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A dispatch mode for which torch does not import its whole compiler (1 to 4 s) at the first operator.

    torch would do so only to keep the compiler out of the mode.
    """

    supports_higher_order_operators = True  # such as a launch by way of wrap_triton

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        own = body(func)
        if own is not None:
            with self:
                return own(*args, **(kwargs or {}))
        return self.ran(func, args, kwargs or {}, func(*args, **(kwargs or {})))

    def ran(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> Any:
        """One of torch's operators ran; what whoever called it gets."""
        return result


# None that can be added to.
EMPTY = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"})
FILLED = frozenset({
    "zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "full", "full_like", "new_full",
})  # fmt: skip
VIEWS = frozenset({
    "view", "_unsafe_view", "reshape", "_reshape_alias", "as_strided", "slice", "select", "t", "transpose",
    "permute", "expand", "unsqueeze", "squeeze", "alias", "detach", "unbind", "split", "split_with_sizes",
    "chunk", "narrow", "unflatten", "movedim", "swapaxes", "view_as", "expand_as", "lift_fresh",
    "broadcast_tensors",
})  # fmt: skip
WRAPPERS = ("TensorDescriptor", "TensorWrapper")  # Triton's, around a tensor
WHOLE_FILLS = frozenset({"fill_", "zero_"})


def body(func: Any) -> Callable[..., Any] | None:
    """The learner's function behind an operator, or what launches a wrapped kernel; None where it is neither.

    Args:
        func: as __torch_dispatch__ is handed it.
    """
    if isinstance(func, HigherOrderOperator):
        return func.py_kernels.get(DispatchKey.CompositeExplicitAutograd)
    found = _known.get(func._schema.name)
    return found._init_fn if found is not None else None


def tensors_in(arguments: Any) -> list[torch.Tensor]:
    """The tensors among launch arguments, those inside tuples and tensor descriptors too."""
    found = []
    for argument in arguments:
        base = getattr(argument, "base", argument) if type(argument).__name__ in WRAPPERS else argument
        if isinstance(base, torch.Tensor):
            found.append(base)
        elif isinstance(base, tuple | list):
            found += tensors_in(base)
    return found


def storages_in(arguments: Any) -> set[int]:
    """Addresses of the memory behind those tensors."""
    return {tensor.untyped_storage().data_ptr() for tensor in tensors_in(arguments)}
