"""Beside a GPU small cases are evaluated as well, and huge ones walked: it shows neither addresses nor
races.
"""

from __future__ import annotations

from pathlib import Path

from grader.course import catalog
from tests.kernel import fresh
from tools import planted


def said(day: str, kernel: Path) -> dict[str, str]:
    """What is said of each small case, and of each huge one."""
    found: dict[str, str] = fresh.module("tests.judge.beside_gpu_process", day, kernel)
    return found


def edited(day: str, name: str, into: Path) -> Path:
    mistake = next(m for m in planted.mistakes(catalog.find(day)) if m.name == name)
    kernel = into / "kernel.py"
    kernel.write_text(mistake.source(catalog.find(day)))
    return kernel


def test_a_load_whose_lanes_are_thrown_away_is_told_with_its_line(tmp_path: Path) -> None:
    outcomes = said("5", edited("5", "x is read without a mask", tmp_path))
    assert len(outcomes) >= 4
    assert all(name.endswith(("-evaluated", "-walked")) for name in outcomes)
    assert any(what.startswith("Unmasked load: line ") for what in outcomes.values())


def test_wrong_values_are_left_to_the_gpu(tmp_path: Path) -> None:
    outcomes = said("5", edited("5", "y is masked by the number of rows", tmp_path))
    assert not any("expected" in what for what in outcomes.values())


def test_a_right_kernel_passes() -> None:
    assert set(said("7", catalog.find("7").solution).values()) == {"passed"}


def test_what_cannot_be_evaluated_is_not_measured(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text(
        catalog.find("5")
        .solution.read_text()
        .replace(
            "def outer_add(", "def outer_add(x, y):\n    raise RuntimeError('for a GPU')\n\n\ndef other("
        )
    )
    assert set(said("5", kernel).values()) == {"not evaluated: RuntimeError: for a GPU"}


def test_an_offset_that_turns_negative_is_told_of_a_walk_that_was_begun_early(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text(catalog.find("7").solution.read_text().replace(".to(tl.int64)", ""))
    outcomes = said("7", kernel)
    assert any("in int32" in what for name, what in outcomes.items() if name.endswith("-walked"))


def test_whoever_is_lost_in_the_evaluator_is_lost_there_alone(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.py"
    right = catalog.find("7").solution.read_text()
    kernel.write_text(right.replace("    m, n = ", "    import os\n    os._exit(3)\n    m, n = "))
    outcomes = said("7", kernel)
    assert kernel.read_text() != right
    assert {what.partition(":")[0] for what in outcomes.values()} == {"not evaluated", "not walked"}
