"""Whatever the other end sends: an answer of the form that was asked for, or one of three errors."""

from __future__ import annotations

import dataclasses
import json
import socket
import struct
from contextlib import suppress

from hypothesis import example, given
from hypothesis import strategies as st

from grader import runner_answers, runner_measurements
from grader.challenge.case import LAYOUTS, SHORT, VALUES, Case
from grader.challenge.harness import message_validation
from grader.challenge.harness.argument_serialization import read_outputs
from grader.challenge.harness.message_validation import Misfit
from grader.challenge.harness.runner_client import RunnerLost
from grader.wire import Channel, Closed, Malformed, TimedOut
from tests.fuzz.test_kept import JSON

FORMS = [
    form
    for form in (vars(runner_answers) | vars(runner_measurements)).values()
    if dataclasses.is_dataclass(form)
]
HEADERS = st.one_of(
    JSON, st.fixed_dictionaries({"blobs": st.lists(st.one_of(st.integers(-9, 9), JSON), max_size=3)})
)


def _framed(text: str) -> bytes:
    return struct.pack("<I", len(text.encode())) + text.encode()


def sent(raw: bytes) -> Channel:
    """A channel on which these bytes came, and then nothing."""
    ours, theirs = socket.socketpair()
    theirs.sendall(raw)
    theirs.close()
    return Channel(ours)


FRAMED = HEADERS.map(lambda value: _framed(json.dumps(value)))


@given(st.one_of(st.binary(max_size=60), FRAMED), st.binary(max_size=9))
@example(struct.pack("<I", 9) + b'{"blobs":', b"")
@example(struct.pack("<I", 2**32 - 1), b"")
def test_any_bytes_are_a_message_or_an_error(raw: bytes, rest: bytes) -> None:
    channel = sent(raw + rest)
    try:
        header, blobs = channel.receive(1.0, 1 << 20)
    except (Closed, TimedOut, Malformed):
        return
    finally:
        channel.close()
    assert isinstance(header, dict)
    assert sum(map(len, blobs)) <= len(raw) + len(rest)


@given(st.sampled_from(FORMS), st.data())
def test_any_answer_has_the_form_or_does_not_fit(form: type, data: st.DataObject) -> None:
    names = [field.name for field in dataclasses.fields(form)]
    value = data.draw(st.one_of(JSON, st.dictionaries(st.sampled_from(names or ["none"]), JSON)))
    with suppress(Misfit):
        assert isinstance(message_validation.read(form, value), form)


OUTPUTS = st.builds(
    runner_answers.TensorOutput,
    **{
        field.name: {"dtype": st.sampled_from((*map(str, SHORT), "float32", "save", "Tensor", "")),
                     "shape": st.lists(st.integers(-2, 5), max_size=3)}.get(field.name, JSON)
        for field in dataclasses.fields(runner_answers.TensorOutput)
    },
)  # fmt: skip


@given(st.lists(OUTPUTS, max_size=2), st.lists(st.binary(max_size=64).map(bytearray), max_size=3))
def test_any_bytes_of_results_fit_or_lose_the_runner(
    outputs: list[runner_answers.TensorOutput], blobs: list[bytearray]
) -> None:
    defaults = {field.name: None for field in dataclasses.fields(runner_answers.Called)}
    report = runner_answers.Called(**{**defaults, "outputs": outputs})  # type: ignore[arg-type]
    with suppress(RunnerLost):
        made, inputs = read_outputs(report, blobs, None)
        assert len(made) <= len(outputs)
        assert len(made) + len(inputs) <= len(blobs)


WORDS = st.sampled_from((*LAYOUTS, *VALUES, "first", "slicde", "", 1, None))
SIZES = st.dictionaries(
    st.sampled_from(("rows", "n", "sizes", "dtypes", "q_layout", "k_values", "layuot", "id", "scale")),
    st.one_of(st.integers(), st.booleans(), st.none(), st.floats(), WORDS),
    max_size=3,
)


@given(st.sampled_from((*SHORT, "fp16", None, int)), WORDS, WORDS, st.integers(-1, 3), SIZES)
def test_any_case_has_an_id_or_is_refused(
    dtype: object, layout: object, values: object, calls: int, sizes: dict[str, object]
) -> None:
    try:
        case = Case(dtype=dtype, layout=layout, values=values, calls=calls, **sizes)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return
    assert case.id
    assert case.group in ("correct", "edges")
