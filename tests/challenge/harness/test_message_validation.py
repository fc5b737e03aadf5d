"""What a runner sends is used only if it has the form that was asked for: every answer, field by field."""

from __future__ import annotations

import json
import types
from collections.abc import Iterator
from dataclasses import asdict, fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from grader import runner_answers, runner_measurements
from grader.challenge.harness import message_validation
from grader.challenge.harness.message_validation import Misfit

FORMS = [
    form
    for form in (vars(runner_answers) | vars(runner_measurements)).values()
    if isinstance(form, type) and is_dataclass(form)
]
each_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
PLAIN = {int: 3, float: 0.5, str: "x", bool: True, type(None): None, Any: {"a": [1]}}


def example(form: Any) -> Any:
    """A right value of this form: every list and dictionary holds one item."""
    if form in PLAIN:
        return PLAIN[form]
    if is_dataclass(form):
        hints = get_type_hints(form)
        return form(**{field.name: example(hints[field.name]) for field in fields(form)})  # type: ignore[operator]
    origin, args = get_origin(form), get_args(form)
    if origin in (Union, types.UnionType):
        return example(args[0])
    if origin is tuple:
        return tuple(example(arg) for arg in args if arg is not ...)
    if origin is dict:
        return {example(args[0]): example(args[1])}
    assert origin is list, form
    return [example(args[0])]


def sent(value: Any) -> Any:
    """As JSON has it at the other end."""
    return json.loads(json.dumps(asdict(value)))


def spoilt(form: Any, value: Any) -> Iterator[Any]:
    """The same with one thing wrong in it: a field that is missing, or a value of another type."""
    if form is Any:
        return
    yield {"no": "such thing"} if form in PLAIN or get_origin(form) is list else 3.25j
    if is_dataclass(form):
        hints = get_type_hints(form)
        for name in (field.name for field in fields(form)):
            yield {key: item for key, item in value.items() if key != name}
            for wrong in spoilt(hints[name], value[name]):
                yield {**value, name: wrong}
    origin, args = get_origin(form), get_args(form)
    if origin in (list, tuple):
        yield from ([wrong, *value[1:]] for wrong in spoilt(args[0], value[0]))
    if origin is dict:
        (key, item), *_ = value.items()
        yield from ({key: wrong} for wrong in spoilt(args[1], item))


@each_form
def test_an_answer_arrives_as_it_was_sent(form: Any) -> None:
    right = example(form)
    assert message_validation.read(form, sent(right)) == right
    assert message_validation.read(form, {**sent(right), "more": 1}) == right


@each_form
def test_an_answer_of_another_form_is_none(form: Any) -> None:
    taken = [wrong for wrong in spoilt(form, sent(example(form))) if _fits(form, wrong)]
    assert not taken


def _fits(form: Any, value: Any) -> bool:
    try:
        message_validation.read(form, value)
    except Misfit:
        return False
    return True


@pytest.mark.parametrize(
    ("form", "value"),
    [(int, True), (int, 1.5), (int, "1"), (float, False), (float, "nan"), (bool, 1), (str, None),
     (list[int], "12"), (list[int], {"0": 1}), (dict[str, int], [1]), (dict[int, int], {"x": 1}),
     (int | None, "None")],
)  # fmt: skip
def test_no_value_passes_for_another(form: Any, value: Any) -> None:
    assert not _fits(form, value)


def test_integers_are_numbers_and_keys_come_back_as_integers() -> None:
    assert message_validation.read(float, 3) == 3
    assert message_validation.read(dict[int, int], {"16": 4}) == {16: 4}


def test_an_output_is_a_tensor_or_a_number_and_nothing_between() -> None:
    tensor = asdict(runner_answers.TensorOutput("float32", [2], [1], "cpu", "x", True))
    plain = {"type": "int", "value": 3}
    read = [
        message_validation.read(runner_measurements.Verified, {"nonce": 1, "outputs": [one]}).outputs[0]
        for one in (tensor, plain)
    ]
    assert [type(one) for one in read] == [runner_answers.TensorOutput, runner_answers.PlainOutput]
    assert not _fits(runner_measurements.Verified, {"nonce": 1, "outputs": [{"dtype": "float32"}]})
    assert not _fits(runner_measurements.Verified, {"nonce": 1, "outputs": [{}]})
