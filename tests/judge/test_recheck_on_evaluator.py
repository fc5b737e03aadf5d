"""On a GPU a case that failed is looked at once more in the evaluator, beside what compiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grader.course import catalog
from grader.diagnosis.diagnose import ONLY_ON_A_GPU
from tests.kernel import fresh
from tools import planted


def looked(day: str, kernel: Path, *more: str) -> list[Any]:
    """The sentence before and after, the cause that was seen, and how many huge cases are walked."""
    found: list[Any] = fresh.module("tests.judge.recheck_process", day, kernel, *more)
    return found


def test_what_a_gpu_shows_by_values_is_told_by_addresses(tmp_path: Path) -> None:
    day = catalog.find("7")
    mistake = next(m for m in planted.mistakes(day) if m.name == "rows of y are taken to be n apart")
    kernel = tmp_path / "kernel.py"
    kernel.write_text(mistake.source(day))
    before, after, cause, walked = looked("7", kernel)
    assert not any(words in before for words in mistake.words(False))
    assert any(words in after for words in mistake.words(False))
    assert cause["line"]
    assert walked, "huge cases are walked beside a GPU, too"


def test_what_only_a_gpu_shows_is_told_as_it_was_there() -> None:
    before, after, cause, _ = looked("7", catalog.find("7").solution, "right")
    assert after == f"{before} {ONLY_ON_A_GPU}"
    assert cause == {}


def test_where_a_launcher_chose_other_blocks_nothing_is_said_of_what_only_a_gpu_does() -> None:
    before, after, cause, _ = looked("7", catalog.find("7").solution, "right", "blocks")
    assert (after, cause) == (before, {})
