"""What a grading saw, for the diagnosis at its end."""

from __future__ import annotations

from dataclasses import dataclass, field

from grader.challenge import Case
from grader.challenge.harness.runner_client import RunnerLost
from grader.challenge.harness.trial import Trial

Diagnosis = tuple[str, str]  # a sentence, and one thing to look at
Speech = tuple[str, str, Trial]  # the same of one trial, which need not be the first that failed


@dataclass
class Evidence:
    """All that a grading saw up to its end.

    Attributes:
        trials: those that were answered, in order.
        lost: the case whose runner was lost, and how; the case is None for the import.
        source: of the learner's file.
        compiled: what failed first is known from a GPU alone.
        right_evaluated: evaluated, the case that failed first comes out right.
        several: the day asks for several functions, and a case is told with its function in front.
        given: lines of it that are the skeleton's.
        right: its functions that are right with our code around them, where others are not.
        wrong: those others.
        own: a failure outside of cases: its group and what a check says of it (`honest`, `memory`, `fast`).
    """

    trials: list[Trial] = field(default_factory=list)
    lost: tuple[Case | None, RunnerLost] | None = None
    own: tuple[str, Diagnosis] | None = None
    source: str = ""
    compiled: bool = False
    right_evaluated: bool = False
    several: bool = False
    given: frozenset[int] = frozenset()
    right: frozenset[str] = frozenset()
    wrong: frozenset[str] = frozenset()

    def see(self, trial: Trial, closer: Trial) -> None:
        """Put what the evaluator saw of a case in the place of what a GPU showed."""
        others = [one for one in self.trials if one is not trial]
        at = next((place for place, one in enumerate(self.trials) if one is trial), len(others))
        self.trials = [*others[:at], closer, *others[at:]]  # one that was lost on the GPU is none of them yet
        self.compiled = False

    @property
    def failed(self) -> list[Trial]:
        """Those that fail the file, then those that would not by themselves; none where nothing fails it."""
        failed = sorted((trial for trial in self.trials if not trial.passed), key=lambda trial: trial.limit)
        return [] if failed and failed[0].limit else failed

    @property
    def passed(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.passed]
