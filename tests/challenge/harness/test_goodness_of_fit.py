"""What is drawn at random by given odds: a right sampler is never failed, and one of other odds always is."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Frequencies
from grader.challenge.harness.argument_serialization import Answer
from grader.challenge.harness.goodness_of_fit import contradicted, frequencies, impossible, possible
from grader.challenge.harness.oracle import expect
from grader.challenge.harness.trial import Trial
from grader.challenge.harness.value_checks import value_findings
from tests.judge.tried import REPORT
from tests.made_up_day import Judged, fails

ROWS = 2000
ODDS = (0.5, 0.2, 0.0, 0.15, 0.1, 0.05)
DOUBLED = "These are the odds, squared."


def trial(odds: Tensor, drawn: Tensor) -> Trial:
    """A trial of these odds, [rows, categories], in which these categories came."""
    declared = Frequencies(of=lambda p: p, suspects={DOUBLED: lambda p: p**2 / (p**2).sum(1, keepdim=True)})
    case = Case(rows=len(odds))
    challenge = Challenge("f", lambda case, draw: (), lambda p: p.argmax(dim=1), [case], frequencies=declared)
    made = Trial(challenge, case, (odds,), ["p"], oracle_arguments=(odds,))
    made.expected, made.answer = expect(challenge, (odds,)), Answer(REPORT, [drawn])
    return made


def said(odds: Tensor, drawn: Tensor) -> str:
    """What is said of the categories that came; nothing when they pass."""
    made = trial(odds, drawn)
    found = value_findings(made) or frequencies(made)
    return (found[0].told or (found[0].reason,))[0] if found else ""


def equal_rows(odds: tuple[float, ...] = ODDS, rows: int = ROWS) -> Tensor:
    return torch.tensor(odds, dtype=torch.float64).expand(rows, len(odds))


def drawn_by(odds: Tensor, seed: int = 1) -> Tensor:
    return odds.multinomial(1, generator=torch.Generator().manual_seed(seed))[:, 0]


def test_who_draws_by_the_odds_passes_every_time() -> None:
    generator = torch.Generator().manual_seed(1)
    for _ in range(40):
        odds = torch.rand(300, 50, generator=generator, dtype=torch.float64) ** 8
        odds /= odds.sum(dim=1, keepdim=True)
        assert said(odds, odds.multinomial(1, generator=generator)[:, 0]) == ""
        assert said(equal_rows(), equal_rows().multinomial(1, generator=generator)[:, 0]) == ""


@pytest.mark.parametrize(("rows", "categories"), [(0, 5), (1, 1), (1, 7), (700, 1)])
def test_few_rows_and_few_categories_tell_nothing(rows: int, categories: int) -> None:
    odds = torch.full((rows, categories), 1 / categories, dtype=torch.float64)
    assert said(odds, torch.zeros(rows, dtype=torch.int64)) == ""


def test_the_category_that_comes_too_often_is_named() -> None:
    drawn = drawn_by(equal_rows((0.3, 0.4, 0.0, 0.15, 0.1, 0.05)))
    assert said(equal_rows(), drawn).startswith("Category 1 comes in 39.9%")
    assert said(equal_rows(), drawn).endswith("of 2000 rows, not in 20.0%.")


def test_a_suspect_of_the_same_counts_says_why() -> None:
    squared = equal_rows() ** 2
    assert said(equal_rows(), drawn_by(squared)) == DOUBLED


def test_a_suspect_must_give_what_came_in_every_case() -> None:
    squared = equal_rows() ** 2
    one, alike = (trial(equal_rows(), drawn_by(squared, seed)) for seed in (1, 2))
    one.findings = frequencies(one)
    other = trial(equal_rows(), torch.zeros(ROWS, dtype=torch.int64))
    assert not contradicted(one, [one, alike])
    assert contradicted(one, [one, other])
    other.findings = frequencies(other)  # told by no suspect
    assert not contradicted(other, [one, other])


def test_a_run_of_rare_categories_is_found() -> None:
    odds = torch.full((128, 4000), 1 / 4000, dtype=torch.float64)
    drawn = drawn_by(odds)
    assert said(odds, drawn) == ""
    assert "One of the categories 0 to " in said(odds, drawn % 2000)


def test_rows_that_draw_alike_are_found() -> None:
    drawn = drawn_by(equal_rows())
    assert "All 2000 equal rows draw category 3, and 15.0% should" in said(
        equal_rows(), torch.full((ROWS,), 3)
    )
    assert "equal rows 1 apart" in said(equal_rows(), drawn[:1000].repeat_interleave(2))
    assert "equal rows 500 apart" in said(equal_rows(), drawn[:500].repeat(4))


def test_rows_of_other_odds_may_have_one_favourite() -> None:
    odds = torch.rand(ROWS, 2, dtype=torch.float64) * torch.tensor([0.01, 1.0])
    odds /= odds.sum(dim=1, keepdim=True)
    assert said(odds, drawn_by(odds)) == ""


@pytest.mark.parametrize(
    ("category", "says"),
    [
        (2, "Row 7 draws category 2, whose probability is 0."),
        (6, "Row 7 draws 6, and its categories are 0 to 5."),
        (-1, "Row 7 draws -1, and"),
    ],
)
def test_what_cannot_come_may_not_come_once(category: int, says: str) -> None:
    drawn = drawn_by(equal_rows())
    drawn[7] = category
    assert said(equal_rows(), drawn).startswith(says)


def test_what_is_too_rare_to_be_met_may_not_come_either() -> None:
    odds = equal_rows((1 - 1e-13, 1e-13, 1e-21), rows=10)
    declared, drawn = Frequencies(of=lambda p: p), torch.tensor([0, 1, 2, 3] + [0] * 6)
    assert possible(declared, (odds,), drawn).tolist() == [True, True, False, False] + [True] * 6


def test_where_nothing_is_left_to_chance_other_rules_speak() -> None:
    odds = torch.eye(4, dtype=torch.float64)
    made = trial(odds, torch.tensor([0, 1, 2, 2]))
    assert [finding.kind for finding in value_findings(made)] == ["values"]
    assert impossible(made, torch.tensor([0, 1, 2, 2])) is None
    assert said(odds, torch.arange(4)) == ""


HIDDEN = """
def odds(weights, seed):
    return weights / weights.sum(dim=1, keepdim=True)

challenge = Challenge(
    entry="choose",
    inputs=lambda case, draw: (draw(1, case.n).abs().expand(case.m, case.n).contiguous(), 7),
    reference=lambda weights, seed: weights.argmax(dim=1),
    frequencies=Frequencies(of=odds),
    cases=[Case(m=3, n=5), Case(m=600, n=4)],
)
"""
KERNEL = """@triton.jit
def choose_kernel(weights_ptr, ids_ptr, n, seed, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    weights = tl.load(weights_ptr + row * n + offs, mask=offs < n, other=0.0)
    sums = tl.cumsum(weights, axis=0)
    u = tl.rand(seed, row) * tl.sum(weights, axis=0)
    tl.store(ids_ptr + row, tl.sum(((sums <= u) & (offs < n - 1)).to(tl.int64), axis=0))


def choose(weights, seed):
    m, n = weights.shape
    ids = torch.empty(m, dtype=torch.int64, device=weights.device)
    choose_kernel[(m,)](weights, ids, n, seed, BLOCK=triton.next_power_of_2(n))
    return ids
"""


def test_a_right_kernel_passes(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL)
    assert verdict.status == "passed", verdict.diagnosis


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("tl.rand(seed, row)", "tl.rand(seed, row * 0)", "equal rows draw category"),
        ("tl.rand(seed, row)", "tl.rand(seed, row // 2)", "equal rows 1 apart"),
        ("tl.rand(seed, row) *", "tl.sqrt(tl.rand(seed, row)) *", " comes in "),
        ("(sums <= u) & (offs < n - 1)", "(sums <= u * 1.2)", "its categories are 0 to"),
    ],
)
def test_a_wrong_kernel_is_told_why(judged: Judged, old: str, new: str, says: str) -> None:
    fails(judged, HIDDEN, KERNEL, (old, new), says)
