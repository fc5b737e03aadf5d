"""A term that is the logarithm of a whole number says what the logarithm is taken of."""

from __future__ import annotations

import math

import pytest

from grader.judge.diagnosis.logarithms import under_a_logarithm

SENTENCE = "Every element is off by {:+.4g}: a constant is missing or added twice."
KERNEL = "@triton.jit\ndef kernel(n):\n    for i in range(n):\n        l += 1\n    y = tl.{}(l)\n"


@pytest.mark.parametrize(
    ("term", "name", "says"),
    [
        (math.log(2), "log", "off by +0.6931, as where what log is taken of is 2 times too large. Does any"),
        (-math.log(3), "log", "off by -1.099, as where what log is taken of is 3 times too small."),
        (2.0, "log2", "off by +2, as where what log2 is taken of is 4 times too large."),
    ],
)
def test_what_a_logarithm_is_taken_of_is_a_whole_number_of_times_too_large(term, name, says) -> None:
    told = under_a_logarithm(SENTENCE.format(term), KERNEL.format(name))
    assert told
    assert says in told[0]
    assert told[1] == "the loop, and what goes into the sum"


@pytest.mark.parametrize(
    ("term", "name"),
    [(0.5, "log"), (math.log(2), "exp"), (math.log(2), "log2"), (1e3, "log"), (-1e9, "log2")],
)
def test_another_term_is_a_constant(term: float, name: str) -> None:
    assert under_a_logarithm(SENTENCE.format(term), KERNEL.format(name)) is None
