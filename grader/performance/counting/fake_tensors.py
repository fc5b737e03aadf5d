"""Large tensors without contents: what torch would compute on them is noted, not computed.

Memory that is never touched takes no room, and what a kernel moves does not depend on it.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from grader.operator_memory_effects import (
    EMPTY,
    FILLED,
    VIEWS,
    WHOLE_FILLS,
    Watch,
    body,
    storages_in,
    tensors_in,
)
from grader.tensor_storage import span

LARGE = 1 << 18  # elements, from which on contents do not matter
REDUCTIONS = ("all", "amax", "amin", "any", "logsumexp", "mean", "sum")
PRODUCTS = ("mm", "bmm", "addmm", "baddbmm")  # the last two tensors are multiplied
_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # Linux does not count it as memory before it is touched


def reserved(size: int, apart: int = 0) -> torch.Tensor:
    """Memory that is not there before it is touched; uint8 [size].

    Args:
        apart: bytes before and after it that belong to nothing.

    Raises:
        OSError: the system has no addresses left for it.
    """
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
    whole = mmap.mmap(-1, apart + size + 1 + apart, flags=flags)
    return torch.frombuffer(whole, dtype=torch.uint8, count=size or 1, offset=apart)


def unfilled(plain: torch.Tensor, apart: int = 0) -> torch.Tensor:
    """A tensor of the shape, strides and dtype of `plain`, which may be on `meta`; nobody has written it.

    All of it reads as 0, which is an index and a count: what of a small one the programs that ran did not
    write must lead nobody astray, any more than what of a large one.

    Args:
        apart: bytes that a large one lies away from all others.
    """
    small = plain.numel() < LARGE
    memory = torch.zeros(span(plain), dtype=torch.uint8) if small else reserved(span(plain), apart)
    storage = memory.untyped_storage()
    return torch.empty(0, dtype=plain.dtype).set_(storage, 0, plain.shape, plain.stride())


class Hollow(Watch):  # type: ignore[no-untyped-call]
    """Operations on large tensors give tensors that are never filled.

    Args:
        note: told of every operation that would move memory: its name, bytes read, bytes written, and the
            floating-point operations of a product, with the bytes of an element.
        apart: bytes between two large tensors.

    Attributes:
        made: addresses of the storages behind all results.
    """

    def __init__(self, note: Callable[..., None], apart: int = 0) -> None:
        super().__init__()
        self.made = set[int]()
        self.note, self.apart = note, apart

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = self._result(func, args, kwargs or {})
        if func._schema.name.split("::")[-1] not in VIEWS:  # a view may be one of memory from elsewhere
            self.made |= storages_in([result])
        return result

    def _result(self, func: Any, args: Any, kwargs: Any) -> Any:
        own = body(func)
        if own is not None:
            with self:
                return own(*args, **kwargs)
        name = func._schema.name.split("::")[-1]
        if name in VIEWS:
            return func(*args, **kwargs)
        if name in EMPTY or name in FILLED:
            return self._allocate(func, name, args, kwargs)
        given = tensors_in([*args, *kwargs.values()])
        if name in WHOLE_FILLS:
            self.note(name, 0, args[0].nbytes)
            return args[0] if args[0].numel() >= LARGE else func(*args, **kwargs)
        if any(tensor.numel() >= LARGE for tensor in given):
            result = self._instead(func, args, kwargs)
        else:
            result = func(*args, **kwargs)
        made = tensors_in([result])
        if made:
            moved = sum(t.nbytes for t in given), sum(t.nbytes for t in made)
            self.note(name, *moved, *_product(name, given, made[0]))
        return result

    def _allocate(self, func: Any, name: str, args: Any, kwargs: Any) -> torch.Tensor:
        plain: torch.Tensor = func(*args, **{**kwargs, "device": torch.device("meta")})
        if name in FILLED:
            self.note(name, 0, plain.nbytes)
        if name in EMPTY or plain.numel() >= LARGE:
            plain = unfilled(plain, self.apart)
        else:
            plain = func(*args, **kwargs)
        return plain

    def _instead(self, func: Any, args: Any, kwargs: Any) -> Any:
        """What `func` would give, with the right shapes and no contents."""
        first = func._schema.arguments[0] if func._schema.arguments else None
        if first is not None and first.alias_info is not None and first.alias_info.is_write:
            return args[0]
        plain = _foreseen(func, args, kwargs)
        if plain is None:
            plain = func(*map(_on_meta, args), **{name: _on_meta(value) for name, value in kwargs.items()})
        return _off_meta(plain, self.apart)


def _foreseen(func: Any, args: Any, kwargs: Any) -> torch.Tensor | None:
    """The result on `meta` where it is plain what it will be, and None elsewhere.

    torch knows it of every operator, but imports sympy and its compiler to tell of these: more than a second.
    """
    name, given = func._schema.name.split("::")[-1], tensors_in([*args, *kwargs.values()])
    if name in ("mm", "bmm"):
        one, other = given
        fits = one.dtype == other.dtype and one.dim() == other.dim()
        if fits and one.shape[:-2] == other.shape[:-2] and one.shape[-1] == other.shape[-2]:
            return one.new_empty(*one.shape[:-1], other.shape[-1], device="meta")
    if name in REDUCTIONS:
        return _reduced(func, args, kwargs)
    alike = all(t.shape == given[0].shape and t.stride() == given[0].stride() for t in given)
    if not alike and not all(tensor.is_contiguous() for tensor in given):
        return None
    if name in ("tril", "triu"):
        return given[0].new_empty(given[0].shape, device="meta")
    if torch.Tag.pointwise not in func.tags or func._schema.is_mutable or "device" in kwargs:
        return None
    if torch.Tag.nondeterministic_seeded in func.tags:
        return None
    small = _on_one(func, args, kwargs)
    if not isinstance(small, torch.Tensor):
        return None
    if alike:
        kept = kwargs.get("memory_format") or torch.preserve_format
        return torch.empty_like(given[0], dtype=small.dtype, device="meta", memory_format=kept)
    return small.new_empty(np.broadcast_shapes(*(tensor.shape for tensor in given)), device="meta")


def _reduced(func: Any, args: Any, kwargs: Any) -> torch.Tensor:
    """What a reduction leaves of its first argument, contiguous."""
    whole = args[0]
    small: torch.Tensor = _on_one(func, args, kwargs)
    named = dict(zip((argument.name for argument in func._schema.arguments), args, strict=False)) | kwargs
    over = named.get("dim")
    over = [over] if isinstance(over, int) else over or range(whole.dim())
    gone = {dim % whole.dim() for dim in over}
    kept = [1 if dim in gone else size for dim, size in enumerate(whole.shape)]
    if small.dim() < whole.dim():
        kept = [size for dim, size in enumerate(kept) if dim not in gone]
    return small.new_empty(kept, device="meta")


def _on_one(func: Any, args: Any, kwargs: Any) -> Any:
    """What `func` gives where each tensor has one element: dtype and dimensions are right."""
    return func(*map(_one, args), **{key: _one(value) for key, value in kwargs.items()})


def _one(value: Any) -> Any:
    """A tensor of as many dimensions with one element, for one that may have many."""
    return torch.ones((1,) * value.dim(), dtype=value.dtype) if isinstance(value, torch.Tensor) else value


def _product(name: str, given: list[torch.Tensor], made: torch.Tensor) -> tuple[int, ...]:
    """Operations of a matrix product, and bytes of an element; nothing for another operator."""
    if name not in PRODUCTS:
        return ()
    return 2 * made.numel() * given[-2].shape[-1], made.element_size()


def _on_meta(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
    return torch.device("meta") if isinstance(value, torch.device) else value


def _off_meta(plain: Any, apart: int) -> Any:
    if isinstance(plain, tuple | list):
        return type(plain)(_off_meta(value, apart) for value in plain)
    return unfilled(plain, apart) if isinstance(plain, torch.Tensor) else plain
