"""Of a bug hunt: what stands, what is hidden and what is gone, and how many lines it took."""

from __future__ import annotations

import pytest

from grader.challenge import Bug, Case
from grader.judge.bug_hunt_progress import changed, states
from grader.verdict import Verdict
from tests.made_up_day import Judged

HIDDEN = """
short, long, shown = Case(n=8), Case(n=40), Case(n=16)
challenge = Challenge(
    entry="double",
    inputs=lambda case, draw: (draw(case.n),),
    reference=lambda x: 2 * x,
    cases=[short, long, shown, Case(n=16, values="nan", demand="values")],
    bugs=[
        Bug("one program alone", "a grid that is too small", witness=long),
        Bug("a factor of 3", "arithmetic", witness=short, hides=["one program alone"]),
        Bug("x is doubled too", "an input as scratch memory", witness=shown, shows="inputs"),
    ],
)
"""
KERNEL = """@triton.jit
def double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = FACTOR * tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, y, mask=offs < n)
    AND


def double(x):
    y = torch.empty_like(x)
    double_kernel[(GRID,)](x, y, len(x), BLOCK=16)
    return y
"""
BUGS = {
    "GRID": ("triton.cdiv(len(x), 16)", "1"),
    "FACTOR": ("2", "3"),
    "AND": ("pass", "tl.store(x_ptr + offs, y, mask=offs < n)"),
}


def kernel(*bugs: str, **other: str) -> str:
    """Right but for these bugs, and for what is put in their places."""
    source = KERNEL
    for place, (right, wrong) in BUGS.items():
        source = source.replace(place, other.get(place, wrong if place in bugs else right))
    return source


def told(verdict: Verdict) -> list[str]:
    assert verdict.hunt
    return [bug.state for bug in verdict.hunt.bugs]


@pytest.mark.parametrize(
    ("bugs", "wanted"),
    [
        (["GRID", "FACTOR", "AND"], ["hidden", "standing", "standing"]),
        (["FACTOR"], ["hidden", "standing", "fixed"]),
        (["GRID", "AND"], ["standing", "fixed", "standing"]),
        (["AND"], ["fixed", "fixed", "standing"]),
        ([], ["fixed", "fixed", "fixed"]),
    ],
)
def test_a_bug_stands_while_its_own_case_fails(judged: Judged, bugs: list[str], wanted: list[str]) -> None:
    verdict = judged(HIDDEN, kernel(*bugs))
    assert told(verdict) == wanted
    assert (verdict.status == "passed") == (not bugs)
    assert verdict.for_the_hint == bool(bugs)
    assert Verdict.from_json(verdict.to_json()).hunt == verdict.hunt


def test_a_copy_by_torch_hides_what_is_written_into_an_input(judged: Judged) -> None:
    verdict = judged(HIDDEN, kernel("AND").replace("y = torch", "x = x.clone()\n    y = torch"))
    assert told(verdict) == ["fixed", "fixed", "not judged"]


def test_only_what_is_gone_is_named(judged: Judged) -> None:
    verdict = judged(HIDDEN, kernel("GRID", "AND"))
    assert verdict.hunt
    named = [(bug.name, bug.kind) for bug in verdict.hunt.bugs]
    assert named == [("", ""), ("a factor of 3", "arithmetic"), ("", "")]


def test_a_new_fault_is_told_at_once_when_no_bug_stands(judged: Judged) -> None:
    verdict = judged(HIDDEN, kernel(AND="tl.store(y_ptr + offs, 0.0, mask=(offs < n) & (y != y))"))
    assert verdict.status == "failed"
    assert told(verdict) == ["fixed", "fixed", "fixed"]
    assert not verdict.for_the_hint
    assert verdict.diagnosis


def test_of_a_kernel_that_raises_nothing_is_said_and_the_line_is_shown(judged: Judged) -> None:
    verdict = judged(HIDDEN, kernel("FACTOR", GRID="nobody"))
    assert told(verdict) == ["not judged", "not judged", "not judged"]
    assert "nobody" in verdict.diagnosis
    assert not verdict.for_the_hint


def test_of_a_file_that_does_not_import_and_of_other_days_there_is_no_hunt(judged: Judged) -> None:
    assert judged(HIDDEN, "1 / 0\n").hunt is None
    assert judged(HIDDEN[: HIDDEN.index("    bugs=")] + ")\n", kernel("FACTOR")).hunt is None


A, B, C = (Bug(name, "a kind", Case(n=1), hides=hides) for name, hides in (("a", "b"), ("b", "c"), ("c", "")))


@pytest.mark.parametrize(
    ("heard", "wanted"),
    [
        ((False, False, False), ["standing", "hidden", "hidden"]),
        ((True, False, True), ["fixed", "standing", "hidden"]),
        ((True, True, False), ["fixed", "fixed", "standing"]),
        # It cannot be told who makes the cases behind it fail.
        ((None, False, True), ["not judged", "not judged", "not judged"]),
        ((True, True, None), ["fixed", "fixed", "not judged"]),
    ],
)
def test_what_hides_a_bug_may_be_hidden_itself(heard: tuple[bool | None, ...], wanted: list[str]) -> None:
    assert states([A, B, C], dict(zip("abc", heard, strict=True))) == wanted


BEFORE = '''"""Doubles."""
def f(x):
    y = x + 1
    return y

if __name__ == "__main__":
    print(f(1))
'''


@pytest.mark.parametrize(
    ("edits", "lines"),
    [
        ({}, 0),
        ({"x + 1": "x + 2"}, 1),
        ({"    y = x + 1\n": "", "return y": "return 2"}, 2),
        ({"x + 1": "(\n        x\n        + 1\n    )  # one more", "Doubles.": "Triples."}, 0),
        ({"print(f(1))": "print(f(2))\n    print(f(3))"}, 0),
    ],
)
def test_lines_of_code_are_counted_however_they_are_laid_out(edits: dict[str, str], lines: int) -> None:
    after = BEFORE
    for old, new in edits.items():
        after = after.replace(old, new)
    assert changed(BEFORE, after) == lines
