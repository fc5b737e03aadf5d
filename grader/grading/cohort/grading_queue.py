"""Grade what has no verdict yet: what was handed in goes to the slots, what comes back into the database.

Of the whole cohort only what the slots are about to grade is in memory.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from grader.course.catalog import Day
from grader.grading.cohort.store import Conditions, Store, Twice
from grader.grading.cohort.submission import Submission, Trouble
from grader.grading.cohort.worker import Outcome
from grader.grading.grade import versions
from grader.verdict import Check, Verdict

Key = tuple[str, str]  # a source's sha256, and a day
AHEAD = 3  # gradings for each slot that are on their way, so that no slot waits for us
LOOK = 5.0  # seconds between two looks at how many slots there are
WHOLE = 1000  # submissions written at once, where nothing has to be graded


class Slots(Protocol):
    """Who grades: ray_backend.Graders."""

    @property
    def slots(self) -> int: ...

    def begin(self, submission: Submission, conditions: Conditions) -> Any: ...

    def ended(self, references: Collection[Any], timeout: float) -> Iterable[tuple[Any, Outcome]]: ...


@dataclass
class Tally:
    """How a run stands.

    Attributes:
        graded: verdicts of this run, by status.
        known: submissions whose verdict was there, or on its way for an identical source.
        troubles: what is not graded, and looks like work.
        others: files that are not graded, and do not look like it.
        lacking: of the confinement that was asked for, what some node did not grant.
        slots: gradings that can run at once.
        share: of what was handed in, read so far; None where nobody knows.
        begun: by the monotonic clock.
    """

    graded: Counter[str] = field(default_factory=Counter)
    known: int = 0
    troubles: int = 0
    others: int = 0
    lacking: set[str] = field(default_factory=set)
    slots: int = 1
    share: float | None = None
    begun: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun


class Feed:
    """One run.

    Args:
        told: called with the tally after each grading, and at least once a second.
    """

    def __init__(self, store: Store, graders: Slots, told: Callable[[Tally], None]) -> None:
        self.store, self.graders, self.told = store, graders, told
        self.tally = Tally(slots=graders.slots)
        self.looked = time.monotonic()
        self.flying: dict[Any, tuple[Submission, Key]] = {}

    def all(self, items: Iterable[Submission | Trouble]) -> Tally:
        """Grade them all."""
        for number, item in enumerate(items):
            if isinstance(item, Trouble):
                self._trouble(item)
            else:
                self._take(item)
            if number % WHOLE == 0:
                self.store.commit()
                self.told(self.tally)
        while self.flying:
            self._land()
        self.store.commit()
        self.tally.share = 1.0
        return self.tally

    def _take(self, submission: Submission) -> None:
        self.tally.share = submission.share
        try:
            key = self.store.hand_in(submission), str(submission.day.key)
        except Twice as twice:
            return self._trouble(Trouble(submission.id, str(twice)))
        if any(key == other for _, other in self.flying.values()) or self.store.has(*key):
            self.tally.known += 1
            return
        while len(self.flying) >= AHEAD * self.tally.slots:
            self._land()
        conditions = self.store.conditions.of(submission.day)
        self.flying[self.graders.begin(submission, conditions)] = submission, key

    def _land(self) -> None:
        """Wait for a grading and write down what has come."""
        if time.monotonic() - self.looked > LOOK:
            self.tally.slots, self.looked = max(1, self.graders.slots), time.monotonic()
        for reference, outcome in self.graders.ended(self.flying, timeout=1.0):
            self._keep(*self.flying.pop(reference), outcome)
        self.store.commit()
        self.told(self.tally)

    def _keep(self, submission: Submission, key: Key, outcome: Outcome) -> None:
        if problem := outcome.get("problem"):
            where = f"{submission.id}, day {submission.day.key}"
            return self._trouble(Trouble(where, problem))
        if "verdict" in outcome:
            verdict = Verdict.from_json(outcome["verdict"])
        else:
            verdict = _ended(submission.day, key[0], self.store.conditions, outcome["ended"])
        self.store.keep(verdict)
        self.tally.graded[verdict.status] += 1
        self.tally.lacking |= set(verdict.not_confined)

    def _trouble(self, trouble: Trouble) -> None:
        if not trouble.work:
            self.tally.others += 1
            return
        self.store.note(trouble)
        self.tally.troubles += 1


def _ended(day: Day, sha256: str, conditions: Conditions, times: int) -> Verdict:
    """The verdict on a source that nobody survived who graded it."""
    said = f"It ended the process that graded it {times} times, and is not graded again."
    check = Check("imports", "crashed", 0.0, {"reason": "the grading did not survive this file"})
    return Verdict(day.key, "crashed", 0, conditions.gpu, versions(), (check,), diagnosis=said, sha256=sha256)
