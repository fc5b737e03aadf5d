"""Alike by tokens: other names and comments hide nothing, and what everybody has says nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.course import catalog
from grader.grading.cohort import likeness
from grader.grading.cohort.store import Conditions, Store, reading
from grader.grading.cohort.submission import Submission
from grader.verdict import Verdict

HERE = Conditions("0.1.0+abc", "2.13.0", "3.7.1", "cpu", True)
DAY = catalog.find("13")
RIGHT = sorted((Path(__file__).parents[2] / "right" / DAY.place).glob("*.py"))
OWN = [path.read_text(encoding="utf-8") for path in RIGHT]


def renamed(source: str) -> str:
    """Its own names changed, its comments gone."""
    for number, name in enumerate(sorted(set(re.findall(r"\b(?!tl|tensor)[a-z]\w*_\w+", source)))):
        source = re.sub(rf"\b{name}\b", f"v{number}", source)
    return "# all by myself\n" + re.sub(r"#.*", "", source)


def compared(path: Path, *sources: str) -> list[tuple[list[str], list[str]]]:
    with Store(path / "cohort.db", HERE) as kept:
        for number, source in enumerate(sources):
            sha256 = kept.hand_in(Submission(f"ann{number:02d}", DAY, source.encode()))
            kept.keep(Verdict(13, "passed", 1, HERE.gpu, {}, sha256=sha256))
    with reading(path / "cohort.db") as db:
        return [one.ids for one in likeness.alike(db)]


SOLUTION, SKELETON = DAY.solution.read_text(encoding="utf-8"), DAY.skeleton.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("sources", "pairs"),
    [
        ((OWN[0], OWN[1]), []),
        ((OWN[0], renamed(OWN[0])), [(["ann00"], ["ann01"])]),
        ((OWN[0], renamed(OWN[0]) + "\nprint(1, 2, 3)\n", OWN[1]), [(["ann00"], ["ann01"])]),
        ((SOLUTION, renamed(SOLUTION), SKELETON, SKELETON + "# mine"), []),
        (("def f(:", "\0", "x = (", "x = ("), []),
    ],
    ids=["two ways", "other names", "a line more", "ours, and untouched", "no Python"],
)
def test_only_what_is_own_is_compared(
    sources: tuple[str, ...], pairs: list[tuple[list[str], list[str]]], tmp_path: Path
) -> None:
    assert compared(tmp_path, *sources) == pairs


def test_what_more_than_a_few_wrote_is_how_one_writes_it(tmp_path: Path) -> None:
    many = [f"{OWN[0]}\nprint(torch.{chr(97 + number)})\n" for number in range(likeness.COMMON + 1)]
    assert compared(tmp_path, *many) == []
