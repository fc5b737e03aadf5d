"""A sentence leads to the lines that share its words."""

from __future__ import annotations

import pytest

from grader.diagnosis.lines_by_words import about

SOURCE = """
@triton.jit
def helper(x, n_cols):
    centred = x - tl.sum(x, axis=0) / n_cols
    return tl.sum(centred * centred, axis=0) / n_cols


@triton.jit
def kernel(x_ptr, y_ptr, n_cols, eps, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n_cols, other=0.0)
    var = helper(x, n_cols)
    for start in range(BLOCK, n_cols, BLOCK):
        x += tl.load(x_ptr + start + offs)
    tl.store(y_ptr + offs, tl.log(x * tl.rsqrt(var + eps)))


@triton.jit
def other(x_ptr):
    tl.store(x_ptr, tl.log(1.0))
"""


def line(piece: str) -> int:
    return SOURCE[: SOURCE.index(piece)].count("\n") + 1


@pytest.mark.parametrize(
    ("sentence", "piece"),
    [
        ("The logarithm is in base 2; the natural one is asked for.", "tl.store(y_ptr"),
        ("The deviations are not squared.", "return tl.sum(centred"),
        ("What follows the first block is left out: round the number of blocks up.", "for start"),
        ("With n=3-fp32: eps is squared.", "tl.store(y_ptr"),
    ],
)
def test_a_line_with_words_of_a_sentence_is_one_of_the_first_two(sentence: str, piece: str) -> None:
    assert line(piece) in about(sentence, SOURCE, frozenset(), ["kernel"], frozenset())[:2]


def test_lines_that_are_handed_out_are_not_named() -> None:
    given = frozenset({line("tl.store(y_ptr")})
    found = about("The logarithm is missing.", SOURCE, given, ["kernel"], frozenset())
    assert line("tl.store(y_ptr") not in found


def test_a_sentence_without_a_word_of_the_file_names_no_line() -> None:
    assert about("Nothing.", SOURCE, frozenset(), ["kernel"], frozenset()) == []
