"""Triton Track: the course's grader and command line.

`from grader import grade, grade_many, Pool, Verdict` is its door for Python: grading/api.py has the promises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.version import REPOSITORY, __version__

if TYPE_CHECKING:
    from grader.grading.api import Pool, grade, grade_many
    from grader.verdict import Verdict

__all__ = ["REPOSITORY", "Pool", "Verdict", "__version__", "grade", "grade_many"]


def __getattr__(name: str) -> Any:
    """What is promised to Python, imported when it is first wanted: `track status` has no use for it."""
    if name not in ("grade", "grade_many", "Pool", "Verdict"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from grader.grading import api

    return getattr(api, name)
