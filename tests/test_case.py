"""A case is read back by its sizes, and a misspelt word in it is told at once."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch

from grader.challenge import Case, Own, between


def test_sizes_read_back_as_attributes_and_some_cases_have_more_of_them() -> None:
    case = Case(rows=4, cols=8, scale=0.5)
    assert (case.rows, case.cols) == (4, 8)
    assert (case.get("scale"), case.get("shift"), case.get("shift", 2)) == (0.5, None, 2)
    assert "scale" in case
    assert "shift" not in case
    with pytest.raises(AttributeError, match="no shift"):
        _ = case.shift


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"layout": "silced"}, "no layout 'silced'; did you mean 'sliced'?"),
        ({"values": "negativ"}, "no values 'negativ'; did you mean 'negative'?"),
        ({"upstream": "frist"}, "no upstream 'frist'; did you mean 'first'?"),
        ({"q_layout": "silced"}, "no q_layout 'silced'; did you mean 'sliced'?"),
        ({"do_values": "lagre"}, "no do_values 'lagre'; did you mean 'large'?"),
        ({"layout": "first"}, "no layout 'first'"),
        ({"values": "qqq"}, "no values 'qqq'. There are normal, heavy"),
    ],
)
def test_an_unknown_word_is_told_with_the_closest_one_and_all_there_are(
    words: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=r"There are .*\w\.$") as error:
        Case(rows=4, **words)
    assert told in str(error.value)
    assert str(error.value).startswith("Case(rows=4")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("layuot", "'layuot'; did you mean 'layout'?"),
        ("dtpye", "'dtpye'; did you mean 'dtype'?"),
        ("vlaues", "'vlaues'; did you mean 'values'?"),
        ("exat", "'exat'; did you mean 'exact'?"),
        ("call", "'call'; did you mean 'calls'?"),
        ("upsteam", "'upsteam'; did you mean 'upstream'?"),
        ("q_layuot", "'q_layuot'; did you mean 'layout'?"),
        ("group", "'group'"),  # case.group would be something else
    ],
)
def test_a_misspelt_keyword_is_no_size(name: str, told: str) -> None:
    with pytest.raises(TypeError) as error:
        Case(rows=4, **{name: 1})
    assert f"Case(rows=4-{name}=1-fp32): no size may be called {told}" in str(error.value)


def test_honest_sizes_are_free() -> None:
    names = (
        "cols",
        "groups",
        "programs",
        "gap",
        "gain",
        "rise",
        "lift",
        "order",
        "extra",
        "last",
        "size",
        "p",
    )
    assert set(Case(**dict.fromkeys(names, 1)).sizes) == set(names)


def test_a_day_may_have_words_of_its_own() -> None:
    far = Own("far")
    case = Case(n=4, values=far, q_layout=Own("bshd"), dtype=torch.float16)
    assert case.values == "far"
    assert case.id == "n=4-q_layout=bshd-fp16-far"
    assert case.group == "edges"


def test_a_size_between_two_others_is_drawn_by_the_seed_and_another_stays() -> None:
    case = Case(rows=3, cols=between(4097, 5000))
    drawn = [case.drawn(Random(seed)) for seed in range(200)]
    assert {one.rows for one in drawn} == {3}
    assert all(4097 <= one.cols <= 5000 for one in drawn)
    assert len({one.cols for one in drawn}) > 100
    assert case.drawn(Random(7)).id == case.drawn(Random(7)).id
    assert case.id == "rows=3-cols=4097-fp32"


@pytest.mark.parametrize(
    ("named", "kept"), [("cols=4500", True), ("rows=3-cols=4500-fp32", True), ("cols=9", False)]
)
def test_a_drawn_size_that_is_asked_for_by_name_is_taken_whatever_the_seed(named: str, kept: bool) -> None:
    case = Case(rows=3, cols=between(4097, 5000))
    assert (case.drawn(Random(1), named).cols == 4500) is kept


def test_a_range_that_holds_one_size_at_most_is_refused() -> None:
    with pytest.raises(ValueError, match=r"between\(5, 5\): the first must be below"):
        between(5, 5)
