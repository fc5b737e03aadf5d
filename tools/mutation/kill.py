"""Is a mutant killed? Graded on a CPU, values alone, until the first check that does not pass."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.errors import CannotGrade
from grader.grading.warm_client import Warm
from grader.request import Request
from grader.verdict import HARMLESS
from grader.wire import Closed, TimedOut
from tools.grade_in_parallel import each
from tools.mutation.generate import Mutant, files

PATIENCE = 10.0  # seconds that one call may take: a mutant that takes longer is killed
SILENCE = 100.0  # seconds without any event


@dataclass(frozen=True)
class Tried:
    """A mutant, and the first check that it did not pass; empty where it passed all."""

    mutant: Mutant
    killed_by: str


def try_all(mutants: Sequence[Mutant], jobs: int, seed: int) -> Iterator[Tried]:
    """Each mutant, in their order, so many at once."""

    def tried(mutant: Mutant, warm: Warm) -> Tried:
        return Tried(mutant, killed_by(mutant, warm, seed))

    yield from each(tried, mutants, "cpu", jobs)


def killed_by(mutant: Mutant, warm: Warm, seed: int = 1) -> str:
    """The first check that does not pass; empty where there is none.

    Raises:
        CannotGrade: the grader itself failed.
    """
    day = mutant.day
    where = files(day)[mutant.file].resolve()
    request = Request(
        "grade",
        *(day.hidden_tests, where, day.provided),
        mutant.source.encode(),
        warm.device,
        seed,
        PATIENCE,
        speed=False,
        limits=True,
    )
    running = ""
    with contextlib.closing(warm.judge(request)) as events:
        while True:
            try:
                event, _ = events.receive(SILENCE)
            except (Closed, TimedOut):
                return running or "the judge"
            if event["event"] == "finished":
                return ""
            if event["event"] in ("broken", "refused"):
                raise CannotGrade(f"{mutant.name}: {event['text'].splitlines()[-1]}", "track doctor")
            running = event.get("check", running) if event["event"] == "started" else running
            if event["event"] == "checked" and event["check"]["outcome"] not in HARMLESS:
                return str(event["check"]["name"])
