"""On a GPU: what the cases will launch, compiled by other processes while the first cases run.

A scout, which is an evaluator, makes each call and says what it would launch. Builders compile that into
Triton's cache, where the runner finds it. What a scout cannot know the runner compiles for itself, as ever:
nothing but time depends on this.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from queue import Empty, SimpleQueue
from typing import Any

import torch

from grader import datasheets
from grader.challenge import Case, Challenge
from grader.challenge.harness.interleaved_backward import others
from grader.challenge.harness.runner_client import Runner, RunnerLost, ask_to_load
from grader.judge.background_compile import question
from grader.judge.failures import NotMeasured
from grader.judge.session import Session
from grader.judge.speed.compile_for_gpu import builder
from grader.runner_answers import Failed
from grader.runner_measurements import Accepted, Surveyed
from grader.timing_spans import note, span

MOST = 16  # builders; each takes some 100 MB beside what all share
PATIENCE = 60.0  # seconds for a kernel
SCOUTED = 10.0  # seconds for a call that launches nothing: no case waits longer for one that never ends
# Seconds that a case waits in all, or the clock for all of them: what runners may take comes on top, within
# suite.BUSY.
WAITED = 30.0

Call = tuple[Challenge, Case, str]  # and the part of it that is timed
Compilations = list[Future[bool]]  # True where the compiler does not get done


class Ahead:
    """The kernels of one grading, compiled ahead of their cases.

    Args:
        session: whose GPU may still be waking, and whose file may turn out not to import.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.gpu: dict[str, Any] = {}
        self.cores = len(os.sched_getaffinity(0))
        self.compiling = ThreadPoolExecutor(min(MOST, self.cores))
        self.builders: SimpleQueue[Runner] = SimpleQueue()
        self.compiled: dict[str, Future[bool]] = {}  # by recipe
        self.order: list[str] = []  # in which kernels are launched for the first time
        self.calls = list(_calls(session))
        self.surveyed: dict[str, Future[Compilations]] = {_name(*call[:2]): Future() for call in self.calls}
        threading.Thread(target=self._scout, daemon=True).start()

    def wait(self, challenge: Challenge, case: Case) -> None:
        """Until what this case launches is compiled, as far as that is known; and what another does whose
        forward pass comes before its backward pass.
        """
        cases = [case, *others(challenge, case)] if challenge.gradients and case.calls > 1 else [case]
        names = {_name(challenge, each) for each in cases}
        self._wait([surveyed for name, surveyed in self.surveyed.items() if name in names])

    def _wait(self, surveys: Iterable[Future[Compilations]]) -> None:
        until = time.monotonic() + WAITED
        with span("wait"):
            done, _ = wait(surveys, WAITED)
            begun = [one for survey in done for one in survey.result()]
            wait(begun, max(0.0, until - time.monotonic()))

    def late(self, challenge: Challenge, case: Case) -> bool:
        """Whether the compiler is not done with what this case launches."""
        surveyed = self.surveyed.get(_name(challenge, case))
        begun = surveyed.result() if surveyed is not None and surveyed.done() else []
        return any(not one.done() or (not one.cancelled() and one.result()) for one in begun)

    def finish(self) -> None:
        """Wait for all that is begun, and end the builders: what comes now is timed."""
        self._wait(self.surveyed.values())
        with span("wait"):
            wait(list(self.compiled.values()), WAITED)
        self.stop()

    def stop(self) -> None:
        """Begin no other compilation, and end the builders that have none."""
        self.compiling.shutdown(wait=False, cancel_futures=True)
        while not self.builders.empty():
            self.builders.get().close()

    def _scout(self) -> None:
        """Ask for one call after the other what it launches, and have that compiled."""
        torch.set_num_threads(1)  # of this thread, too
        scout: Runner | None = None
        try:
            scout = self.session.evaluators.runner()
            self.gpu = asdict(datasheets.present(self.session.gpu.result()))
            ask_to_load(scout, self.session.request)
            for challenge, case, part in self.calls:
                recipes = self._surveyed(scout, challenge, case, part)
                self._answer(_name(challenge, case), [self._begun(recipe) for recipe in recipes])
        except Exception:  # of a learner's file that a runner tells of, or a lost scout
            return
        finally:
            if scout is not None:
                scout.close()
            for name in self.surveyed:
                self._answer(name, [])

    def _surveyed(self, scout: Runner, challenge: Challenge, case: Case, part: str) -> list[dict[str, Any]]:
        """What one call launches, as recipes."""
        _, asked, blobs = question(self.session, challenge, case, part)
        asked |= {"gpu": self.gpu, "configs": self.cores // 2}
        with span("survey"):
            report, _ = scout.ask(asked, Surveyed, blobs, timeout=SCOUTED)
        return [] if isinstance(report, Failed) else report.recipes

    def _answer(self, name: str, compilations: Compilations) -> None:
        if not self.surveyed[name].done():
            self.surveyed[name].set_result(compilations)

    def _begun(self, recipe: dict[str, Any]) -> Future[bool]:
        """The compilation of this recipe; equal ones are compiled once."""
        name = json.dumps([recipe.get("kernel"), recipe["alike"], recipe.get("options")])
        if "kernel" in recipe and recipe["kernel"] not in self.order:
            self.order.append(recipe["kernel"])
        if name not in self.compiled:
            asked = {"do": "compile", "recipe": recipe, "order": list(self.order)}
            self.compiled[name] = self.compiling.submit(self._compile, asked)
        return self.compiled[name]

    def _compile(self, asked: dict[str, Any]) -> bool:
        """Have a builder do it; True where it does not get done."""
        if "unknown" in asked["recipe"]:
            return False
        try:
            process = self.builders.get_nowait()
        except Empty:
            try:
                process = builder(self.session, self.gpu)
            except NotMeasured:
                return False
        try:
            report, _ = process.ask(asked, Accepted, timeout=PATIENCE)
            if isinstance(report, Failed):
                note("not built", report.fault.first_line)
        except RunnerLost as lost:
            process.close()
            return lost.outcome == "timeout"
        self.builders.put(process)
        return False


def begin(session: Session) -> Ahead | None:
    """Start, where kernels are compiled to run."""
    return Ahead(session) if session.device == "cuda" else None


def _calls(session: Session) -> Iterator[Call]:
    """All that the checks will call, in their order."""
    for challenge, case in session.asked.cases("correct") + session.asked.cases("edges"):
        yield challenge, case, "both"
    for challenge, relation in session.asked.relations():
        yield challenge, relation.case, "both"
    for challenge in session.challenges if session.timed else []:
        if challenge.memory:
            yield challenge, challenge.memory.case, challenge.memory.part
        for speed in challenge.speeds:
            yield challenge, speed.case, speed.part


def _name(challenge: Challenge, case: Case) -> str:
    return f"{challenge.entry} {case.id}"
