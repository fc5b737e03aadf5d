"""`track dev mutants` edits right files one place at a time, and says which of the wrong ones pass."""

from __future__ import annotations

from functools import cache

import pytest

from grader.course import catalog
from grader.grading.warm_client import Warm
from tools.mutation import score as command
from tools.mutation.generate import Mutant, files, mutants
from tools.mutation.kill import Tried, killed_by
from tools.mutation.operators import OPERATORS
from tools.planted import Equivalent, equivalents

ADDING = catalog.find("8")

KERNEL = '''
@triton.jit
def kernel(x_ptr, y_ptr, m, n, stride_xm, stride_xn, BLOCK: tl.constexpr):
    """y = x, mended."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        x_ptrs = x_ptr + offs[:, None] * stride_xm + offs[None, :] * stride_xn
        x = tl.load(x_ptrs, mask=offs < n, other=-float("inf"))  # µ
        acc += tl.sum(x, axis=1)
    if m > 1:
        tl.debug_barrier()
    tl.atomic_add(y_ptr + offs, tl.where(acc > 0, acc, 0.0), mask=offs < n)


def launch(x, helper):
    m, n = x.shape[0], x.shape[1]
    y = torch.zeros(n)
    BLOCK = 2 * 512
    kernel[(triton.cdiv(n, BLOCK),)](x, y, m, n, *x.stride(), BLOCK=BLOCK, num_warps=4)
    return y


def untouched(x):
    return x + 1
'''


@cache
def of_the_kernel() -> list[Mutant]:
    return mutants(ADDING, "solution", KERNEL)


def made(operator: str) -> list[str]:
    return [each.becomes for each in of_the_kernel() if each.operator == operator]


@pytest.mark.parametrize(
    ("operator", "becomes"),
    [
        ("drop-mask", "x = tl.load(x_ptrs)  # µ"),
        ("drop-other", "x = tl.load(x_ptrs, mask=offs < n)  # µ"),
        ("change-other", "x = tl.load(x_ptrs, mask=offs < n, other=0.0)  # µ"),
        ("drop-cast", "offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)"),
        ("swap-programs", "offs = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)"),
        ("drop-factor", "offs = tl.program_id(0).to(tl.int64) + tl.arange(0, BLOCK)"),
        ("swap-strides", "x_ptrs = x_ptr + offs[:, None] * stride_xn + offs[None, :] * stride_xm"),
        ("swap-axis", "acc += tl.sum(x, axis=0)"),
        ("turn-sign", "acc -= tl.sum(x, axis=1)"),
        ("lower-precision", "acc = tl.zeros((BLOCK,), tl.float16)"),
        ("shrink-loop", "for start in range(0, n - BLOCK, BLOCK):"),
        ("move-edge", 'x = tl.load(x_ptrs, mask=offs <= n, other=-float("inf"))  # µ'),
        ("turn-comparison", "if m <= 1:"),
        ("change-constant", "if m > 2:"),
        ("fix-branch", "if False:"),
        ("drop-barrier", "pass"),
        ("drop-atomic", "tl.store(y_ptr + offs, tl.where(acc > 0, acc, 0.0), mask=offs < n)"),
        ("drop-choice", "tl.atomic_add(y_ptr + offs, acc, mask=offs < n)"),
        ("drop-fill", "y = torch.empty(n)"),
        ("change-shape", "m, n = x.shape[1], x.shape[1]"),
    ],
)
def test_an_operator_edits_the_line_and_nothing_else(operator: str, becomes: str) -> None:
    assert becomes in made(operator)
    edited = next(m for m in of_the_kernel() if m.becomes == becomes)
    pairs = zip(KERNEL.splitlines(), edited.source.splitlines(), strict=True)
    assert [at for at, (one, other) in enumerate(pairs, 1) if one != other] == [edited.number]


def test_what_changes_speed_alone_is_left_as_it_is() -> None:
    assert not [line for operator in OPERATORS for line in made(operator) if line.startswith("BLOCK =")]
    assert not any("num_warps=5" in line for operator in OPERATORS for line in made(operator))


def test_only_kernels_and_launchers_are_edited() -> None:
    assert {each.function for each in of_the_kernel()} == {"kernel", "launch"}


def test_every_mutant_is_another_program_and_no_two_are_one() -> None:
    sources = [each.source for each in of_the_kernel()]
    assert len({*sources, KERNEL}) == len(sources) + 1


def test_a_mutant_is_named_alike_when_lines_are_added_above() -> None:
    later = mutants(ADDING, "solution", "import math\n\n" + KERNEL)
    assert [each.key for each in later] == [each.key for each in of_the_kernel()]
    assert later[0].number == of_the_kernel()[0].number + 2


def of_the_day() -> list[Mutant]:
    return mutants(ADDING, "solution", ADDING.solution.read_text("utf-8"))


def test_a_wrong_mutant_of_a_day_fails_and_the_right_file_does_not(warm: Warm) -> None:
    store = next(each for each in of_the_day() if each.operator == "drop-mask")
    assert killed_by(store, warm).startswith("correct[")
    right = Mutant(ADDING, "solution", "", 0, "", "", "", ADDING.solution.read_text("utf-8"))
    assert killed_by(right, warm) == ""


def test_what_is_listed_and_fails_is_told_and_what_no_edit_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other, third, *_ = of_the_day()
    lists = [
        Equivalent(*one.key, "it is the same"),
        Equivalent(*other.key, "it is not"),
        Equivalent("solution:kernel", "a", "b", "it was"),
    ]
    monkeypatch.setattr(command.planted, "equivalents", lambda day: lists)
    row = command.judged(ADDING, [Tried(one, ""), Tried(other, "correct[n=1]"), Tried(third, "")])
    assert [mutant for mutant, _ in row.known] == [one]
    assert row.alive == [third]
    assert "is listed, and fails correct[n=1]" in row.untrue[0]
    assert "no edit makes this of solution:kernel: b" in row.untrue[1]
    assert next(command.lines(row)).endswith("| 3 | 1 | 1 | 0 | 1 | 50.0% |")


# Of one day in three; `track dev mutants` says it of the others.
@pytest.mark.parametrize("day", [d for d in catalog.course() if equivalents(d)][::3], ids=lambda d: d.label)
def test_what_is_listed_is_an_edit_of_a_right_file_and_says_why(day: catalog.Day) -> None:
    listed = equivalents(day)
    named = {entry.where.partition(":")[0] for entry in listed}
    keys = {each.key for file in named for each in mutants(day, file, files(day)[file].read_text("utf-8"))}
    assert [entry for entry in listed if entry.key not in keys] == []
    assert all(entry.why for entry in listed)
    assert len({entry.key for entry in listed}) == len(listed)
