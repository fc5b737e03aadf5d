"""A strict grading: where the learner's code may write, and what it may not read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grader.course import catalog
from grader.course.learner import workspace
from grader.grading.environment import bytecode
from grader.request import CACHE

# Where people keep files, and where other gradings have theirs.
SHARED = ("/home", "/root", "/tmp", "/var/tmp", "/dev/shm")


@contextmanager
def confinement(path: Path, private: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The fields of a Request that confine what runs the file `path`; the scratch folder goes with them.

    Args:
        private: folders and files that it may not read beside those that no file may.
    """
    found = workspace.find()
    around = (*path.parents, found.root) if found else path.parents
    journals = [folder / ".track" for folder in around]
    shared = [Path(place) for place in (tempfile.gettempdir(), *SHARED, *private)]
    trees = [catalog.ROOT, Path.home(), bytecode(), *journals, *shared]
    hidden = sorted({str(tree.resolve()) for tree in trees if tree.exists()} - {"/"})
    with tempfile.TemporaryDirectory(prefix="track-strict-", ignore_cleanup_errors=True) as scratch:
        Path(scratch, CACHE).mkdir()  # who compiles kernels shares it with who runs them
        yield {"hidden": hidden, "scratch": str(Path(scratch).resolve())}
