"""A strict grading: where the learner's code may write, and what it may not read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grader import catalog
from grader.learner import workspace

# Whatever holds an answer, or a way to one. A clone has it all, a wheel the first four.
ANSWERS = ("days", "solutions", "hints", "examples", "tests", ".git")


@contextmanager
def confinement(path: Path) -> Iterator[dict[str, Any]]:
    """The fields of a Request that confine what runs the file `path`; the scratch folder goes with them."""
    known = [found.root for found in (workspace.find(), workspace.remembered()) if found]
    journals = [folder / ".track" for folder in (*path.parents, *known)]
    trees = [*(catalog.ROOT / name for name in ANSWERS), *journals]
    hidden = sorted({str(tree.resolve()) for tree in trees if tree.is_dir()})
    with tempfile.TemporaryDirectory(prefix="track-strict-", ignore_cleanup_errors=True) as scratch:
        yield {"hidden": hidden, "scratch": str(Path(scratch).resolve())}
