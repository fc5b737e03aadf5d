"""What the words of a case's name mean: each that a screen may show is explained somewhere."""

from __future__ import annotations

import re

from grader.challenge import Case, Challenge
from grader.challenge.case import LAYOUTS, VALUES, Own
from grader.challenge.harness import draw
from grader.challenge.harness.case_name_glossary import meanings
from grader.challenge.loading import load_challenges
from grader.course import catalog
from grader.course.catalog import Day

PLAIN = {"rows", "cols", "batch"}  # beside single letters, which are shapes
LEFT = {"w_thin"}  # `thin`, of the weight: nothing says so yet


def inputs(case: Case, draw: object) -> tuple[object, ...]:
    """q and k; `gain` multiplies both, `sink` and `lift`
    the first key. Where CLIMBING, scores rise.
    """
    return ()


def told(case: Case, way: str = "") -> dict[str, str]:
    return meanings(Challenge("f", inputs, lambda: None, [case]), case, way)


def test_a_days_own_words_are_told_in_its_own_words() -> None:
    assert told(Case(n=8, gain=2.0)) == {"gain": "`gain` multiplies both, `sink` and `lift` the first key"}
    assert told(Case(n=8, values=Own("climbing"))) == {"climbing": "Where CLIMBING, scores rise"}
    assert told(Case(n=8, other=3)) == {}


def test_layouts_and_values_are_told_of_the_tensor_that_has_them() -> None:
    case = Case(n=8, layout="strided", k_values="zeros", calls=2, upstream="first")
    assert told(case) == {
        "k_values=zeros": "k: 0 everywhere",
        "strided": LAYOUTS["strided"],
        "2_calls": "called on other contents before",
        "upstream_first": "a gradient comes in for the first output alone",
    }
    assert list(told(Case(n=8), "walked")) == ["walked"]


def test_what_can_be_drawn_has_a_meaning() -> None:
    assert LAYOUTS.keys() == draw.LAYOUTS.keys()
    assert VALUES.keys() == draw.VALUES.keys()


def test_no_word_of_a_case_is_left_to_guess() -> None:
    """It stands in the lesson or the skeleton, or its meaning is shown with the case."""
    assert {one.place: left for one in catalog.course() if (left := unknown_words(one) - PLAIN - LEFT)} == {}


def unknown_words(one: Day) -> set[str]:
    known = one.lesson.read_text(encoding="utf-8") + one.skeleton.read_text(encoding="utf-8")
    unknown = set[str]()
    for challenge in load_challenges(one.hidden_tests):
        for case in challenge.cases:
            found = meanings(challenge, case)
            sizes = {
                name for name, value in case.sizes.items() if not {name, f"{name}={value}"} & found.keys()
            }
            unknown |= {name for name in sizes if len(name) > 1 and not re.search(rf"\b{name}\b", known)}
            kinds = {case.layout, case.values} - {"contiguous", "normal"}
            unknown |= kinds - found.keys()
    return unknown
