"""The types of blocks, made once: a shape is checked, spelled and wrapped once, and blocks share it.

What is known of a shape lies with it: to ask for its id instead would be one of Python's audits each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from triton.language import core
from triton.language.semantic import TritonSemantic
from triton.runtime import interpreter

_Shape: Any = core.tuple
_block: Any = core.block_type
_tensor: Any = core.tensor
_Handle: Any = interpreter.TensorHandle
KNOWN = "_known"  # where a shape has its Form


class Form(NamedTuple):
    """What is known of one shape.

    Attributes:
        shape, numel: as a block's type has them.
        wrapped, count: as a block has them.
        types: of its blocks, by the names of their elements'.
    """

    sizes: tuple[int, ...]
    shape: Any
    numel: int
    text: str
    wrapped: Any
    count: Any
    types: dict[str, Any]


_forms: dict[tuple[int, ...], Form] = {}


def install() -> None:
    """Share the types of this process; to be called once."""
    stock: Callable[..., None] = _block.__init__

    def init_block(self: Any, element_ty: Any, shape: Any) -> None:
        form = shape.__dict__.get(KNOWN) if type(shape) is _Shape else None
        if form is None:
            sizes = tuple(getattr(size, "value", size) for size in shape)
            if any(type(size) is not int for size in sizes) or sizes not in _forms:
                stock(self, element_ty, shape)
                _forms[sizes] = _known(sizes, self)
            form = _forms[sizes]
        self.element_ty = element_ty
        self.shape, self.numel = form.shape, form.numel
        self.name = f"<{form.text}, {element_ty}>"

    def with_element_ty(self: Any, scalar_ty: Any) -> Any:
        return of(self.shape.__dict__[KNOWN], scalar_ty)

    scalar = (_Shape([]), core.constexpr(1))

    def init_tensor(self: Any, handle: Any, type: Any) -> None:
        self.handle, self.type = handle, type
        if isinstance(type, _block):
            form = type.shape.__dict__[KNOWN]
            self.dtype, self.shape, self.numel = type.element_ty, form.wrapped, form.count
        else:
            self.dtype = type.scalar
            self.shape, self.numel = scalar

    _block.__init__, _block.with_element_ty, _tensor.__init__ = init_block, with_element_ty, init_tensor
    _meet_at_a_glance()
    _splat_by_plain_sizes()


def _known(sizes: tuple[int, ...], block: Any) -> Form:
    """The form of a block's type that is the first of its shape."""
    wrapped = _Shape([core.constexpr(size) for size in block.shape])
    count = core.constexpr(block.numel)
    form = Form(sizes, block.shape, block.numel, str(block.shape), wrapped, count, {})
    block.shape.__dict__[KNOWN] = form
    return form


def of(form: Form, element: Any) -> Any:
    """The type of blocks of this form."""
    if type(element) is not core.dtype:
        return _block(element, form.shape)
    if element.name not in form.types:
        form.types[element.name] = _block(element, form.shape)
    return form.types[element.name]


def _meet_at_a_glance() -> None:
    """Blocks that share a shape need no broadcasting, and others no spelling of their types."""
    semantic: Any = TritonSemantic
    stock = semantic.broadcast_impl_value

    def splat(builder: Any, value: Any, like: Any) -> Any:
        type = like.with_element_ty(value.type.scalar)
        return _tensor(builder.create_splat(type, value.handle), type)

    def stretched(builder: Any, block: Any, sizes: tuple[int, ...]) -> Any:
        if block.type.shape.__dict__[KNOWN].sizes == sizes:
            return block
        form = _forms.get(sizes)
        type = of(form, block.type.element_ty) if form else _block(block.type.element_ty, [*sizes])
        return _tensor(builder.create_broadcast(block.handle, type.shape.__dict__[KNOWN].sizes), type)

    def broadcast(self: Any, lhs: Any, rhs: Any) -> Any:
        left, right = lhs.type, rhs.type
        if not isinstance(left, _block):
            return (splat(self.builder, lhs, right), rhs) if isinstance(right, _block) else (lhs, rhs)
        if not isinstance(right, _block):
            return lhs, splat(self.builder, rhs, left)
        if left.shape is right.shape:
            return lhs, rhs
        one, other = left.shape.__dict__[KNOWN].sizes, right.shape.__dict__[KNOWN].sizes
        sizes = tuple(b if a == 1 else a for a, b in zip(one, other, strict=False))
        fits = all(b in (1, size) for b, size in zip(other, sizes, strict=False))
        if len(one) != len(other) or not fits:
            return stock(self, lhs, rhs)
        return stretched(self.builder, lhs, sizes), stretched(self.builder, rhs, sizes)

    semantic.broadcast_impl_value = broadcast


def _splat_by_plain_sizes() -> None:
    """NumPy asks Triton's own tuple for its length and each element over and over."""
    builder: Any = interpreter.InterpreterBuilder
    stock = builder.create_splat

    def create_splat(self: Any, ret_ty: Any, arg: Any) -> Any:
        form = getattr(ret_ty.shape, "__dict__", {}).get(KNOWN)
        if form is None or isinstance(arg.dtype, _block):
            return stock(self, ret_ty, arg)
        data = np.full(form.sizes, arg.data, dtype=interpreter._get_np_dtype(arg.dtype))
        return _Handle(data, arg.dtype.scalar)

    builder.create_splat = create_splat
