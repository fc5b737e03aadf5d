"""What a watched kernel asks before each access, and of whom."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol


class Access(NamedTuple):
    """One load, store or atomic of one program, before it happens.

    Attributes:
        kind: load, store or atomic.
        addresses: of its lanes, in bytes.
        mask: which of the lanes are active; bool, of the same shape.
        dtype: numpy's, of an element; bf16 comes as its bits, uint16.
        value: what a store writes, of a shape that fits the lanes.
        op: of an atomic, as Triton spells it; CAS for a compare-and-swap.
    """

    kind: str
    addresses: Any
    mask: Any
    dtype: Any
    value: Any = None
    op: str = ""

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return int(self.dtype.itemsize)

    @property
    def lanes(self) -> Any:
        """The addresses of the active lanes."""
        return self.addresses[self.mask]


class Watcher(Protocol):
    """Watches a kernel in the interpreter."""

    def allows(self, access: Access) -> bool:
        """Look at an access that is about to happen.

        Returns:
            False where it must not: nothing is stored then, and active lanes load zeros.

        Raises:
            BaseException: the program ends here.
        """
