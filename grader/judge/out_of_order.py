"""On a GPU: cases that are tried while another one waits for the compiler.

Checks keep their order, and so does what is told of them. A case that passes before its turn is kept until
then; one that does not is tried again in its turn, as if it had not been tried before.
"""

from __future__ import annotations

import time
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import suppress

import torch

from grader.challenge import Case, Challenge
from grader.challenge.cases.runner_client import RunnerLost
from grader.challenge.cases.trial import Trial
from grader.judge.compile_ahead import WAITED
from grader.judge.failures import CheckFailed
from grader.judge.session import Session
from grader.timing_spans import span


class Meanwhile:
    """What is tried out of its turn.

    Args:
        session: whose kernels are compiled ahead.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        asked = session.asked.cases("correct") + session.asked.cases("edges")
        # A test of the learner's may be wrong so often; large ones want the memory for themselves.
        self.left = [pair for pair in asked if not (pair[0].judges or pair[1].gpu)]
        self.passed: dict[str, Trial] = {}

    def wait(self, challenge: Challenge, case: Case) -> Trial | None:
        """Until what this case launches is compiled, as far as that is known; its trial, if it has passed."""
        until, name = time.monotonic() + WAITED, _name(challenge, case)
        self.left = [pair for pair in self.left if _name(*pair) != name]
        while name not in self.passed and (pending := self.session.ahead.pending(challenge, case)):
            left = until - time.monotonic()
            if left <= 0:
                break
            # A call that is the first of its process is told from later ones: that is the first case's.
            other = self._ready() if self.session.evidence.trials else None
            if other is not None:
                self._try(*other)
                continue
            others = [one for pair in self.left for one in self.session.ahead.pending(*pair)]
            with span("wait"):
                wait({*pending, *others}, left, FIRST_COMPLETED)
        return self.passed.pop(name, None)

    def next(self) -> tuple[Challenge, Case] | None:
        """The one to go on with; none once anything is wrong."""
        return None if self.session.evidence.failed else self._ready()

    def tried(self, trial: Trial | None) -> None:
        """What came of a case before its turn, if its runner was not lost; whatever is wrong, no other one is
        tried out of its turn.
        """
        if trial is not None and trial.passed:
            self.passed[_name(trial.challenge, trial.case)] = trial
            self.left = [pair for pair in self.left if pair[1] is not trial.case]
            return
        self.left = []
        if trial is None or trial.findings[0].kind == "error":
            self.session.close()  # a CUDA context that saw an illegal access answers nothing any more

    def _ready(self) -> tuple[Challenge, Case] | None:
        """The first whose kernels are there."""
        return next((pair for pair in self.left if not self.session.ahead.pending(*pair)), None)

    def _try(self, challenge: Challenge, case: Case) -> None:
        """Try a case at once."""
        self.left.remove((challenge, case))
        trial: Trial | None = None
        with suppress(RunnerLost, CheckFailed, torch.cuda.OutOfMemoryError):
            trial = self.session.attempted(challenge, case)
        if trial is None:
            self.session.evidence.lost = None  # it was no turn of that case
        self.tried(trial)


def _name(challenge: Challenge, case: Case) -> str:
    return f"{challenge.entry} {case.id}"
