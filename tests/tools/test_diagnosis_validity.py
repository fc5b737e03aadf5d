"""A sentence that names what its case does not have is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.verdict import Check, Verdict
from tools.diagnosis_validity import untrue

SOURCE = "BLOCK = 32\n\nx = 1\ndef config(BLOCK_K): ...\n"
CAUSE = {
    "expected": 0.205645,
    "got": 0.136306,
    "max_error": 3.1e-4,
    "reason": "8 of 40 elements were never written",
}


def verdict(sentence: str) -> Verdict:
    checks = (
        Check("imports", "passed"),
        Check("correct[m=4-n=8-fp32]", "passed"),
        Check("correct[m=40-n=1-fp32]", "failed", 0.1, CAUSE),
        Check("correct[m=129-n=20-fp32]", "failed", 0.1, {}),
    )
    return Verdict(5, "failed", 1, "cpu", {}, checks, diagnosis=sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "8 of 40 elements were never written.",
        "Rows from 32 on were never written.",
        "With m=129-n=20-fp32: Rows from 64 on were never written.",
        "Right up to m = 4, wrong from m = 40 on.",
        "Line 3 rounds to fp16, and exp2 has 10 bits.",
        "With BLOCK_K = 32 half is missing.",
        "This is x · sigmoid(x), up to 2e-2 away from GELU.",
        "With m=129-n=20-fp32: x is read as if its elements lay 2580 apart.",
        "Close (error 3.1e-04): 0.205645 is right, of a block of 32.",
        "",
    ],
)
def test_a_true_sentence_has_all_it_names(sentence: str) -> None:
    assert untrue(verdict(sentence), SOURCE) == []


@pytest.mark.parametrize(
    ("sentence", "what"),
    [
        ("Rows from 64 on were never written.", "64 lies outside of correct[m=40-n=1-fp32]"),
        ("Of k = 300 only the first 8 count.", "no case has k = 300"),
        ("With m=7-n=7-fp32: the result is transposed.", "no failed case m=7-n=7-fp32"),
        ("With m=4-n=8-fp32: the result is transposed.", "no failed case m=4-n=8-fp32"),
        ("With BLOCK_K = 64 half is missing.", "no case has BLOCK_K = 64"),
        ("With BLOCK_N = 32 half is missing.", "no case has BLOCK_N = 32"),
        ("The values are up to 2e-2 too large.", "2e-2 is nowhere in correct[m=40-n=1-fp32]"),
        ("Unmasked load on line 2.", "there is no line 2"),
        ("Why is not known: our bug.", "Why is not known: our bug."),
        ("Unmasked load on line 30.", "there is no line 30"),
        ("The result is 0.5 where 0.205645 is right.", "0.5 is nowhere in correct[m=40-n=1-fp32]"),
    ],
)
def test_what_is_not_there_is_named(sentence: str, what: str) -> None:
    assert any(each.startswith(what) for each in untrue(verdict(sentence), SOURCE))


@pytest.mark.parametrize("kernels", [0, 1, 3])
def test_what_there_is_to_look_at_has_a_line_however_many_kernels_there_are(kernels: int) -> None:
    source = SOURCE + "@triton.jit\ndef kernel(): ...\n" * kernels
    told = replace(verdict("8 of 40 elements were never written."), look_at="the formula")
    assert untrue(told, source) == ["no line has 'the formula'"]
    assert untrue(replace(told, look_at="the formula: line 3"), source) == []
    assert untrue(replace(told, look_at=""), source) == []
