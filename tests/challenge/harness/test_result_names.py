"""An element is told with its result's name, and only what the learner printed is shown as printed."""

from __future__ import annotations

import pytest

from grader.challenge.harness.result_names import a_few, called, element, returned
from tests.made_up_day import Judged


def test_results_are_called_as_the_function_returns_them() -> None:
    source = b"def other():\n    return a, b\n\ndef f(x):\n    if x: return None\n    return dq, dk\n"
    assert returned(source, "f") == ("dq", "dk")
    assert returned(b"def f(x):\n    return x[0], x[1]\n", "f") == ()
    assert returned(b"def f(x):\n    return x\n", "f") == ()


@pytest.mark.parametrize(
    ("name", "index", "told"),
    [
        (called(1, 2, ["dq", "dk"]), [0, 8], "dk[0, 8]"),
        (called(1, 2, []), [0, 8], "[0, 8] of output 1"),
        (called(0, 1, ["x"]), [0, 8], "x[0, 8]"),  # an argument that is written
        (called(0, 1, []), [0, 8], "[0, 8]"),
        (called(0, 1, []), [], ""),
        (called(0, 2, ["low", "high"]), [], "low"),
        ("the gradient of x", [3], "[3] of the gradient of x"),
    ],
)
def test_an_element_is_told_with_its_result(name: str, index: list[int], told: str) -> None:
    assert element(name, index) == told


def test_cases_that_come_near_are_named_or_some_of_all() -> None:
    names = [f"rows={rows}-cols=8-fp32" for rows in range(20)]
    assert a_few(names, "rows=3-cols=8-fp16").startswith("rows=3-cols=8-fp32")
    assert a_few(names, "nosuch").endswith("rows=16-cols=8-fp32, …")


HIDDEN = """
challenge = Challenge("f", lambda case, draw: (draw(case.n),), lambda x: (x + 1, x * 2), [Case(n=64)])
"""
SECOND_WRONG = """
@triton.jit
def kernel(x_ptr, up_ptr, twice_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(up_ptr + offs, x + 1, mask=offs < n)
    tl.store(twice_ptr + offs, x * 2 + tl.max((x - x) / (x - x)), mask=offs < n)


def f(x):
    up, twice = torch.empty_like(x), torch.empty_like(x)
    kernel[(1,)](x, up, twice, x.numel(), BLOCK=64)
    PRINT
    return up, twice
"""


@pytest.mark.parametrize("printed", ["", "x has 64"])
def test_only_what_the_file_prints_is_shown_as_printed(judged: Judged, printed: str) -> None:
    # The wrong output has number 1, and numpy warns of a maximum over NaN alone.
    verdict = judged(HIDDEN, SECOND_WRONG.replace("PRINT", f"print({printed!r}, end='')"))
    assert verdict.status == "failed"
    assert verdict.checks[1].cause["at"] == "twice[0]"
    assert verdict.output.strip() == printed
