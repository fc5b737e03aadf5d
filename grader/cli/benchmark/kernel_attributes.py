"""Which kernels of Triton a call launches, and what the driver says of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from triton.runtime.jit import JITFunction


@contextlib.contextmanager
def noting(noted: list[dict[str, Any]]) -> Iterator[None]:
    """The driver's facts about each kernel of Triton that is launched meanwhile are added to `noted`."""
    stock: Any = JITFunction.run

    def run(self: Any, *args: Any, **options: Any) -> Any:
        compiled = stock(self, *args, **options)
        if compiled is not None and not options.get("warmup"):  # which compiles, and launches nothing
            # n_spills counts words of a thread's local memory.
            fact = {"kernel": self.__name__, "registers": compiled.n_regs, "stack": 4 * compiled.n_spills}
            fact["shared"] = compiled.metadata.shared
            if fact not in noted:
                noted.append(fact)
        return compiled

    JITFunction.run = run
    try:
        yield
    finally:
        JITFunction.run = stock
