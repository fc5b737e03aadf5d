"""The challenges of a day, loaded from its hidden tests, and the order of their cases."""

from __future__ import annotations

import importlib.util
import itertools
import math
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from grader.challenge import Case, Challenge
from grader.request import Request

_LOADS = itertools.count(1)


def load_challenges(path: Path) -> tuple[Challenge, ...]:
    """The challenge, or challenges, of a hidden_tests.py; its folder is a package, so `from .suspects` works.

    Every load makes modules of its own, under a name of its own: days and courses do not mix.

    Raises:
        AttributeError: it has none; else whatever its own code raises.
    """
    name = f"hidden_tests_{next(_LOADS)}"
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=[str(path.parent)])
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    importlib.invalidate_caches()  # a file may have come into the folder since it was last looked at
    spec.loader.exec_module(module)
    found = getattr(module, "challenge", ())
    challenges = tuple(found) if isinstance(found, tuple | list) else (found,)
    if not challenges or not all(isinstance(one, Challenge) for one in challenges):
        raise AttributeError(f"{path} has no `challenge = Challenge(...)`")
    return challenges


def drawn(request: Request) -> tuple[Challenge, ...]:
    """The challenges that a grading asks for, the sizes of their cases drawn by its seed."""
    challenges = load_challenges(request.hidden_tests)
    return tuple(challenge.drawn(request.seed, request.only or "") for challenge in challenges)


def weight(case: Case) -> float:
    """Smallest first, but empty cases last: they say least about what is wrong."""
    sizes = {k: abs(s) for k, s in case.sizes.items() if isinstance(s, int) and not isinstance(s, bool)}
    empty = any(sizes.get(name) == 0 for name in ("n", "m", "rows", "cols", "M", "N", "B", "t"))
    return math.inf if empty else math.prod(max(size, 1) for size in sizes.values())


def tallest(cases: Sequence[Case]) -> list[Case]:
    """For each size the case that has most of it."""
    names = dict.fromkeys(name for case in cases for name, size in case.sizes.items() if type(size) is int)
    return [max(cases, key=partial(_most, name)) for name in names]


def _most(name: str, case: Case) -> int:
    size = case.get(name)
    return size if type(size) is int else 0
