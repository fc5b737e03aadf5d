"""What students get: the course with some of its days, with or without our solutions."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner.earlier_kernels import taken
from grader.course.learner.workspace import writing
from grader.errors import CannotGrade, TrackError

TREES = ("days", "solutions", "hints", "grader", "examples")
FILES = ("track", "pyproject.toml", "LICENSE", "SETUP.md", "TEACHING.md", "Dockerfile", ".gitignore")
README = Path(__file__).with_name("edition.txt")


def write(folder: Path, days: Collection[Day], *, solutions: bool) -> None:
    """Copy the course into a new folder, with `days` and the warm-up alone.

    Args:
        solutions: ours of these days, too; else the warm-up's alone.

    Raises:
        TrackError: something is there, or a day takes a kernel of one that is left out.
        CannotGrade: this is no whole clone.
    """
    needed = (catalog.ROOT / "track", *(day.solution for day in days))
    if lacking := next((path for path in needed if not path.is_file()), None):
        raise CannotGrade(f"There is no {lacking} to hand out.", "Use a whole clone of the course.")
    if folder.exists() and (folder.is_file() or any(folder.iterdir())):
        raise TrackError(f"{folder} is there already.", "Name a new folder.")
    for day in days:
        for one in taken(day.hidden_tests, day.solution, day.solution.read_bytes()):
            if one.day not in days:
                problem = f"{day.name} takes {one.name} of {one.day.kind} {one.day.key}, which is left out."
                raise TrackError(problem, f"Add {one.day.key} to --days.")
    hidden = set(_left_out(days, solutions))
    with writing(folder):
        for tree in TREES:
            shutil.copytree(
                catalog.ROOT / tree,
                folder / tree,
                ignore=lambda place, names: [
                    name for name in names if name == "__pycache__" or Path(place, name) in hidden
                ],
            )
        for name in FILES:
            shutil.copy2(catalog.ROOT / name, folder / name)
        shutil.copy(README, folder / "README.md")
        syllabus = folder / "days" / "README.md"
        gone = [f"]({day.place}/README.md)" for day in catalog.course() if day not in days]
        lines = syllabus.read_text(encoding="utf-8").replace("# The 35 days", "# The days").splitlines(True)
        kept = "".join(line for line in lines if not any(link in line for link in gone))
        syllabus.write_text(kept, encoding="utf-8")


def _left_out(days: Collection[Day], solutions: bool) -> Iterator[Path]:
    for day in catalog.course():
        if day not in days:
            yield from (day.folder, day.hints, day.solution, day.fast_solution)
    if not solutions:
        yield from {*(catalog.ROOT / "solutions").iterdir()} - {catalog.WARM_UP.solution}
        tasks = catalog.ROOT / "examples" / "tasks"
        yield from (*tasks.glob("*/solution.py"), *tasks.glob("*/wrong.py"), tasks / "plain_check.py")
