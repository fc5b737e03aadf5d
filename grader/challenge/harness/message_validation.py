"""An answer is read field by field as its dataclass has it. What does not fit is no answer: the other end may
lie.
"""

from __future__ import annotations

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
_hints = cache(get_type_hints)


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
    found: Form = _read(form, value)
    return found


def _read(form: Any, value: Any) -> Any:
    origin, args = get_origin(form), get_args(form)
    if form is Any:
        return value
    if form in PLAIN:
        _must(isinstance(value, PLAIN[form]) and (form is bool or not isinstance(value, bool)), form, value)
        return value
    if is_dataclass(form):
        hints = _hints(form)  # type: ignore[arg-type]  # a class is hashable
        _must(isinstance(value, dict) and not hints.keys() - value.keys(), form, value)
        return form(**{name: _read(hint, value[name]) for name, hint in hints.items()})  # type: ignore[operator]
    if origin in (Union, UnionType):
        return _first_that_fits(args, value)
    if origin in (list, tuple):
        _must(isinstance(value, list), form, value)
        return origin(_read(args[0], item) for item in value)
    assert origin is dict, f"no answer holds {form}"
    _must(isinstance(value, dict), form, value)
    try:
        return {
            args[0](key): _read(args[1], item) for key, item in value.items()
        }  # JSON has strings for keys
    except ValueError as error:
        raise Misfit(str(error)) from None


def _first_that_fits(forms: tuple[Any, ...], value: Any) -> Any:
    for form in forms:
        try:
            return _read(form, value)
        except Misfit:
            continue
    raise Misfit(f"{value!r:.40} fits none of {len(forms)} forms")


def _must(fits: bool, form: Any, value: Any) -> None:
    if not fits:
        raise Misfit(f"{value!r:.40} where {getattr(form, '__name__', form)} is asked for")
