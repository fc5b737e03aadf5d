"""One verdict, one case: a sentence is true of the first failed case, or begins with its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from grader.challenge import Case, Challenge
from grader.challenge.harness.compare import Finding
from grader.challenge.harness.trial import Trial
from grader.diagnosis.diagnose import diagnose
from grader.diagnosis.evidence import Evidence
from grader.runner_answers import Launch
from tests.judge.tried import Function, told, tried
from tests.made_up_day import Judged

FIRST = "Only the first 64 elements count."


def shifted(n: int, by: float = -2.0) -> Trial:
    return tried(Case(n=n), (torch.randn(n),), lambda a: a + 1, lambda a: a + 1 + by)


def test_what_one_element_cannot_tell_is_told_of_the_case_that_does() -> None:
    assert told(shifted(1), shifted(8)).startswith("With n=8-fp32: Every element is off by -2")


def test_what_the_first_case_tells_needs_no_case() -> None:
    assert told(shifted(8), shifted(9)).startswith("Every element is off by -2")


def test_a_case_is_told_as_the_screen_spells_it_where_there_are_several_functions() -> None:
    sentence, _ = diagnose(Evidence([shifted(1), shifted(8)], several=True))
    assert sentence.startswith("With f-n=8-fp32: Every element")


def test_what_a_finding_tells_of_another_case_names_it() -> None:
    trials = [shifted(1), shifted(8)]
    trials[1].findings = [replace(trials[1].findings[0], told=("Too many are dropped.", "p"))]
    assert told(*trials) == "With n=8-fp32: Too many are dropped."


def suspicious(given: dict[int, Function]) -> list[Trial]:
    """Sums of n elements by a kernel that computes `given[n]`, on a day that suspects one block alone."""
    challenge = Challenge(
        "f", lambda case, draw: (), lambda x: x.sum(), [], suspects={FIRST: lambda x: x[:64].sum()}
    )
    trials = [tried(Case(n=n), (torch.rand(n),), lambda x: x.sum(), each) for n, each in given.items()]
    for trial in trials:
        trial.challenge = challenge
    return trials


def whole(x: torch.Tensor) -> torch.Tensor:
    return x.sum()


def block(x: torch.Tensor) -> torch.Tensor:
    return x[:64].sum()


def test_a_suspect_that_explains_the_first_case_is_told() -> None:
    assert told(*suspicious({8: whole, 100: block, 200: block})) == FIRST


def test_a_suspect_that_would_fail_where_the_kernel_passes_is_none() -> None:
    assert FIRST not in told(*suspicious({8: whole, 100: block, 200: whole}))


def test_a_suspect_that_explains_half_and_not_the_first_is_none() -> None:
    def other(x: torch.Tensor) -> torch.Tensor:
        return x.sum() * 0.3 + 1

    assert FIRST not in told(*suspicious({70: other, 80: other, 90: other, 100: block, 200: block}))


LATER = "The first 64 elements are left out."


def test_a_suspect_that_most_of_what_failed_speaks_against_is_none_where_another_explains_more() -> None:
    def later(x: torch.Tensor) -> torch.Tensor:
        return x[64:].sum()

    def with_rival(*sizes: int) -> str:
        trials = suspicious({n: block if n < 150 else later for n in sizes})
        both = replace(trials[0].challenge, suspects={FIRST: block, LATER: later})
        return told(*(replace(trial, challenge=both) for trial in trials))

    assert with_rival(100, 110, 120, 130, 200, 210, 220) == FIRST
    assert with_rival(100, 110, 120, 200, 210, 220, 230) == f"With n=200-fp32: {LATER}"


def in_wholes(*cases: tuple[int, int, torch.dtype], source: str = "") -> str:
    """What is said of sums of the whole blocks of n elements, for each n, block and dtype."""
    suspects: dict[str, Function] = {
        f"Whole blocks of {size} count.": lambda x, size=size: x[: len(x) // size * size].sum()
        for size in (64, 32)
    }
    trials = [
        tried(
            Case(n=n, dtype=dtype),
            (torch.rand(n, dtype=dtype),),
            whole,
            suspects[f"Whole blocks of {size} count."],
        )
        for n, size, dtype in cases
    ]
    challenge = Challenge("f", lambda case, draw: (), whole, [], suspects=suspects)
    return told(*(replace(trial, challenge=challenge) for trial in trials), source=source)


def test_blocks_have_the_size_that_explains_the_cases_of_the_dtype_that_is_told() -> None:
    half = [(n, 64, torch.float16) for n in (100, 170, 230)]
    assert in_wholes((70, 32, torch.float32), (100, 32, torch.float32), *half) == "Whole blocks of 32 count."
    assert in_wholes(*half) == "Whole blocks of 64 count."


def test_where_blocks_of_two_sizes_explain_as_much_both_are_named_or_the_one_in_the_source() -> None:
    alike = [(n, 32, torch.float32) for n in (70, 80, 90)]
    assert in_wholes(*alike) == "Whole blocks of 32 or 64 count."
    assert in_wholes(*alike, source="BLOCK = 64") == "Whole blocks of 64 count."


def covered(m: int, n: int, written: Callable[[int], int]) -> Trial:
    """A matrix of sums in tiles of 32 rows; `written` says how many rows there are of `m`."""
    trial = tried(Case(m=m, n=n), (torch.randn(m, n),), lambda a: a + 1, lambda a: a + 1)
    assert trial.answer is not None
    programs = -(-m // 32)
    trial.answer = replace(
        trial.answer, report=replace(trial.answer.report, launches=[Launch("k", [programs])])
    )  # type: ignore[type-var]
    hole = (torch.arange(m) >= written(m))[:, None].expand(m, n)
    facts = {"index": [written(m), 0], "at": f"[{written(m)}, 0]", "result": 0}
    count = int(hole.sum())
    if count:
        trial.findings = [
            Finding("unwritten", f"{count} of {m * n} elements were never written", facts, hole)
        ]
    return trial


def test_too_few_programs_convict_it_of_the_case_on_the_screen() -> None:
    trials = [covered(m, 8, lambda m: min(m, 64)) for m in (20, 70, 150, 65)]
    for trial in trials:
        assert trial.answer is not None
        trial.answer = replace(trial.answer, report=replace(trial.answer.report, launches=[Launch("k", [2])]))  # type: ignore[type-var]
    assert told(*trials).startswith("Rows from 64 on were never written: none of 2 programs stores there")


HIDDEN = """
challenge = Challenge("f", lambda case, draw: (draw(case.n),), lambda x: x + 1, [
    Case(n=1), Case(n=0), Case(n=100)])
"""
NEVER_STORED = """
@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)


def f(x):
    out = torch.empty_like(x)
    kernel[(GRID,)](x, out, x.numel(), BLOCK=64)
    return out
"""


@pytest.mark.parametrize(
    ("grid", "says"),
    [
        ("triton.cdiv(x.numel(), 64)", "The result was never written"),
        ("x.numel() // 64", "the grid is empty"),
    ],
)
def test_a_grid_is_empty_by_right_where_there_is_nothing_to_do(judged: Judged, grid: str, says: str) -> None:
    kernel = NEVER_STORED.replace("GRID", grid)
    if "//" in grid:
        kernel = kernel.replace(
            "mask=offs < n)\n", "mask=offs < n)\n    tl.store(out_ptr + offs, x + 1, mask=offs < n)\n"
        )
    assert says in judged(HIDDEN, kernel).diagnosis


RACE = "A race between programs: line 3."


def racing(trial: Trial) -> Trial:
    """The same, in which two programs met."""
    trial.findings.append(Finding("race", RACE, {"kind": "store", "line": 3}, told=(RACE, "line 3")))
    return trial


def test_a_race_comes_before_what_another_case_looks_like() -> None:
    assert told(racing(shifted(1)), shifted(8)) == RACE
    assert told(racing(shifted(8)), shifted(9)).startswith("Every element is off by -2"), "what it looks like"


def test_a_race_comes_before_where_something_is_wrong() -> None:
    wrong = racing(tried(Case(n=3), (torch.tensor([3.0, 1.0, 7.0]),), lambda a: a, lambda a: a * a - 2))
    assert told(wrong) == RACE
