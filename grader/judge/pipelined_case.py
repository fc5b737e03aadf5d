"""On a GPU: the next case, whose call the runner makes while the answer of this one is looked at.

It is drawn while the runner is busy, and asked for as soon as the runner is not. Checks keep their order: it
is judged in its turn. Where the runner is wanted for something else first, it is judged at once, and kept or
forgotten as whatever is tried out of its turn (out_of_order.py).
"""

from __future__ import annotations

from contextlib import suppress

import torch

from grader.challenge import Case, Challenge
from grader.challenge.cases.attempt import Attempt
from grader.challenge.cases.interleaved_backward import several
from grader.challenge.cases.replayed_launches import wanted
from grader.challenge.cases.runner_client import RunnerLost
from grader.challenge.cases.trial import Trial
from grader.judge.out_of_order import Meanwhile
from grader.judge.session import Session
from grader.runner_answers import Failed


class Following:
    """The case that comes next.

    Args:
        session: whose runner is asked.
        meanwhile: what tells which case that is, and keeps it if it has passed.
    """

    def __init__(self, session: Session, meanwhile: Meanwhile) -> None:
        self.session, self.meanwhile = session, meanwhile
        self.next: Attempt | None = None

    def prepare(self) -> None:
        """Draw it, unless that is done."""
        pair = None if self.next else self.meanwhile.next()
        if pair:
            with suppress(torch.cuda.OutOfMemoryError):
                self.next = Attempt(*pair, self.session.names[pair[0].entry], self.session.request)

    def ask(self, behind: Attempt) -> None:
        """Have the runner make its call, unless it is still wanted for the one before, or ends with that."""
        runner, trial = behind.asked, behind.trial
        if not self.next or not self.next.beside or runner is not self.session.runner or not runner:
            return
        raised = trial.answer and isinstance(trial.answer.report, Failed)
        if not raised and self._done_with(trial):
            with suppress(RunnerLost):  # which its turn will tell
                self.next.ask(runner)

    def taken(self, challenge: Challenge, case: Case) -> Attempt | None:
        """Now it is the turn of this case: the attempt, asked of the runner, if it is the next one."""
        one = self.next
        if one is None or one.trial.case is not case or one.trial.challenge is not challenge:
            return None
        self.next = None
        if one.asked is None or one.asked is not self.session.runner:
            one.ask(self.session.ready_runner())
        return one

    def settle(self) -> None:
        """The runner is wanted for something else: read its answer first, if it was asked."""
        one, runner = self.next, self.session.runner
        if one is None or runner is None or one.asked is not runner:
            return
        self.next, trial = None, None
        with suppress(RunnerLost, torch.cuda.OutOfMemoryError):
            one.read()
            trial = one.judged()
        if trial is None or not trial.passed or self._done_with(trial):
            self.meanwhile.tried(trial)

    def _done_with(self, trial: Trial) -> bool:
        """Whether the runner is not asked for more of this one."""
        return not several(trial) and not wanted(trial, self.session.request, self.session.ways)
