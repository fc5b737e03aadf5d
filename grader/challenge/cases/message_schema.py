"""An answer is read field by field as its dataclass has it. What does not fit is no answer: the other end may
lie.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Form = TypeVar("Form")
PLAIN: dict[Any, tuple[type, ...]] = {
    str: (str,),
    bool: (bool,),
    int: (int,),
    float: (int, float),
    NoneType: (NoneType,),
}


class Misfit(Exception):
    """A value has another form than was asked for."""


def read(form: type[Form], value: Any) -> Form:
    """`value`, as JSON has it, in this form.

    Args:
        form: a dataclass of runner_answers.py or runner_measurements.py: of numbers, strings, None, lists,
            tuples of one type, dictionaries, dataclasses, unions of these, and Any.

    Raises:
        Misfit: it has another form; a dictionary may hold more keys than a dataclass has fields.
    """
    reader: Reader = _reader(form)  # type: ignore[arg-type]  # a class is hashable
    found: Form = reader(value)
    return found


Reader = Callable[[Any], Any]


@cache
def _reader(form: Any) -> Reader:
    if form is Any:
        return lambda value: value
    if form in PLAIN:
        return lambda value: _plain(form, value)
    if is_dataclass(form):
        return lambda value: _fields(form, value)
    origin, args = get_origin(form), get_args(form)
    if origin in (Union, UnionType):
        return lambda value: _first_that_fits(args, value)
    if origin is list or (origin is tuple and args[1:] in ((...,), args[:1] * (len(args) - 1))):
        return lambda value: origin(_items(args[0], value))
    if origin is dict:
        return lambda value: _dictionary(args[0], args[1], value)
    if form is dict:
        return lambda value: _dictionary(str, Any, value)
    raise TypeError(f"no answer holds {form}")


def _plain(form: Any, value: Any) -> Any:
    if not isinstance(value, PLAIN[form]) or (isinstance(value, bool) and form is not bool):
        raise Misfit(f"{value!r:.40} where {form.__name__} is asked for")
    return value


def _fields(form: Any, value: Any) -> Any:
    readers = _field_readers(form)
    if not isinstance(value, dict) or readers.keys() - value.keys():
        raise Misfit(f"{value!r:.40} where {form.__name__} is asked for")
    return form(**{name: reader(value[name]) for name, reader in readers.items()})


@cache
def _field_readers(form: Any) -> dict[str, Reader]:
    hints = get_type_hints(form)
    return {name: _reader(hints[name]) for name in form.__dataclass_fields__}


def _items(form: Any, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Misfit(f"{value!r:.40} where a list is asked for")
    return [_reader(form)(item) for item in value]


def _dictionary(key: Any, form: Any, value: Any) -> dict[Any, Any]:
    """JSON has strings for keys, of integers too."""
    if not isinstance(value, dict):
        raise Misfit(f"{value!r:.40} where a dictionary is asked for")
    try:
        return {key(name): _reader(form)(item) for name, item in value.items()}
    except ValueError as error:
        raise Misfit(str(error)) from None


def _first_that_fits(forms: tuple[Any, ...], value: Any) -> Any:
    for form in forms:
        try:
            return _reader(form)(value)
        except Misfit:
            continue
    raise Misfit(f"{value!r:.40} fits none of {len(forms)} forms")
