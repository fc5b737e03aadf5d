"""Edits of a file that failed, tried: is there one with which every case is right?

They run where the learner's file ran, confined alike, in runners that evaluate. A candidate first meets the
quickest case that failed, and only its result, its addresses and its races are looked at. What survives
that is judged on all cases that this grading tried, and on others while there is time. Our solution is not
looked at.
"""

from __future__ import annotations

import ast
import os
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, islice
from typing import Any

from grader.challenge.harness.answer_checks import form_findings
from grader.challenge.harness.argument_serialization import Answer, pack_arguments, read_outputs
from grader.challenge.harness.run_case import again, attempt, judged, untried
from grader.challenge.harness.runner_client import Runner, RunnerLost, ask_to_load, made_of
from grader.challenge.harness.trial import Trial
from grader.challenge.loading import weight
from grader.diagnosis.diagnose import WHAT_IS_STORED
from grader.diagnosis.launch_record import involved
from grader.diagnosis.lines import grids, launches, lines_named
from grader.diagnosis.provenance import MISPLACED, alone_behind, made_on
from grader.diagnosis.source_context import functions, jitted, outside_kernels, spelled
from grader.judge.repair.candidates import Candidate, Candidates, Wrong
from grader.judge.repair.edits import KINDS
from grader.judge.session import Session
from grader.request import Request
from grader.runner_answers import Called, Compiled, Failed

JUDGED = 1.25  # times the seconds for all candidates: for the cases of this grading that a survivor must pass
MORE = 0.25  # times them: then for cases that this grading has not tried
WORKERS = 8  # at most: each is a process of its own
LARGEST = 1 << 20  # elements of a case that is tried
AT_ONCE = 16, 128  # candidates that are compiled together: first, and later
COMPILING = 10.0  # seconds that may take
NEARLY = 0.25  # of an element and of the mean magnitude beside it: what lies further off is wrong
FORM = {"arity", "type", "scalar", "shape", "dtype", "device", "layout", "shared", "unconnected"}


@dataclass(frozen=True)
class Repair:
    """An edit with which every case that was tried is right.

    Attributes:
        candidate: the edited file.
        tried: candidates up to it.
    """

    candidate: Candidate
    tried: int

    @property
    def look_at(self) -> str:
        """The line and the kind of edit: a hint, and not the edit itself."""
        says = KINDS[self.candidate.kind].says.format(it=_short(self.candidate.it))
        lines = sorted({self.candidate.line, self.candidate.last or self.candidate.line})
        return f"{spelled(lines)}: with {says} every case that was tried is right"

    @property
    def edit(self) -> str:
        """The edit, in words."""
        was, becomes = _short(self.candidate.it), _short(self.candidate.becomes)
        line = self.candidate.begins or self.candidate.line
        return f"On line {line} `{was}` becomes `{becomes}`: then every case that was tried is right."


def _short(code: str) -> str:
    """On one line; of several statements each without its comment."""
    first, _, rest = code.partition("\n")
    try:
        body = ast.parse(f"{first}\n{textwrap.dedent(rest)}").body
    except SyntaxError:
        body = []
    return "; ".join(map(ast.unparse, body)) if len(body) > 1 else " ".join(code.split())


def repair(session: Session, look_at: str) -> Repair | None:
    """The first candidate that gets every case right, if one was found in time.

    None is looked for where several bugs are hunted, and where a test is judged.

    Args:
        look_at: what the diagnosis points to: the lines that it names are edited first.
    """
    evidence = session.evidence
    hunt = any(challenge.bugs or challenge.judges for challenge in session.challenges)
    failed = [trial for trial in evidence.failed if not trial.limit and _tryable(trial)]
    if hunt or evidence.compiled or not failed:
        return None
    failed.sort(key=lambda trial: weight(trial.case))
    trials = failed + [trial for trial in evidence.passed if _tryable(trial)]
    trials = [trial.on_cpu() for trial in trials] if session.device == "cuda" else trials
    facts = [trial.findings[0] for trial in failed]
    formula = look_at.startswith("the formula")
    pointed = () if look_at.startswith(WHAT_IS_STORED) else lines_named(look_at)
    near = frozenset(pointed).union(int(finding.facts.get("line") or 0) for finding in facts) - {0}
    tree, kind = ast.parse(evidence.source), facts[0].kind
    launched = grids(tree, outside_kernels(tree)) if kind == "unwritten" else set()
    kept = evidence.given | _elsewhere(failed[0], evidence.source, tree)
    alone = alone_behind(failed[0], evidence) | launched
    behind = frozenset(made_on(near, tree) | launches(tree, outside_kernels(tree)))
    wrong: Wrong = "places" if kind in MISPLACED else "values" if formula else ""
    candidates = Candidates(
        evidence.source, kept, near | launched, alone, behind, wrong=wrong, compiles=kind != "error"
    )
    return _Search(session, trials, candidates).run()


def _elsewhere(trial: Trial, source: str, tree: ast.Module) -> frozenset[int]:
    """The lines of kernels that took no part in the wrong result; where its form is wrong, of all."""
    form, apart = trial.findings[0].kind in FORM, involved(trial, source).elsewhere
    kernels = (one for one in functions(tree) if jitted(one) and (form or one.name in apart))
    return frozenset().union(*(range(one.lineno, (one.end_lineno or 0) + 1) for one in kernels))


class _Search:
    """Candidates, tried on every core until one survives or time is up.

    The file as it is comes first. Where it survives, what failed shows in none of these cases, and no edit is
    proved by them: in a relation between two calls, for example.
    """

    def __init__(self, session: Session, trials: list[Trial], candidates: Candidates) -> None:
        self.session, self.trials = session, trials
        unedited = Candidate("", 0, "", "", candidates.source)
        self.candidates = chain([unedited], candidates)
        self.lock = threading.Lock()
        self.tried, self.at_once = 0, AT_ONCE[0]
        self.found: list[Repair] = []

    def run(self) -> Repair | None:
        count = min(WORKERS, len(os.sched_getaffinity(0)))
        workers = [threading.Thread(target=self._work) for _ in range(count)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        first = min(self.found, key=lambda one: one.tried, default=None)
        return first if first and first.candidate.kind else None

    def _work(self) -> None:
        until: float | None = None
        with closing(Trier(self.session, self.trials)) as trier:
            while not self.found and (until is None or time.monotonic() < until):
                with self.lock:
                    several, first = list(islice(self.candidates, self.at_once)), self.tried
                    self.at_once = min(2 * self.at_once, AT_ONCE[1])
                    self.tried += len(several)
                if not several:
                    return
                for number, candidate in enumerate(trier.compiled(several), first):
                    if self.found or (until is not None and time.monotonic() > until):
                        return
                    if candidate and trier.passes(candidate):
                        self.found.append(Repair(candidate, number))
                    # From the first answer on: a busy machine takes its time to start a runner.
                    until = until or time.monotonic() + self.session.request.explain


class Trier:
    """A runner that is handed one candidate after another.

    Args:
        trials: the cases; the first is the one that tells most candidates apart.
    """

    def __init__(self, session: Session, trials: list[Trial]) -> None:
        wants = ((want, getattr(want, "movement", None)) for want in trials[0].expected)
        # How far roundings move a result is drawn once for all candidates.
        expected = [replace(w, movement=cache(lambda m=m: [*m()])) if m else w for w, m in wants]
        self.session, self.trials = session, [replace(trials[0], expected=tuple(expected)), *trials[1:]]
        self.request = replace(session.evaluators.request, call_timeout=session.request.explain)
        self.runner: Runner | None = None
        self.compiles = True  # the file as it is, so that edits can be compiled with it

    def compiled(self, candidates: list[Candidate]) -> list[Candidate | None]:
        """These, of which those that edit kernels are compiled together; None for what does not compile."""
        self.numbers: dict[Candidate, int] = {}
        edits = [candidate for candidate in candidates if candidate.statement]
        if not (edits and self.compiles):
            return [*candidates]
        command = {
            "do": "compile",
            "functions": [one.function for one in edits],
            "lines": [one.at for one in edits],
        }
        try:
            texts = [one.statement.encode() for one in edits]
            report, _ = self._runner().ask(command, Compiled, texts, timeout=COMPILING)
        except RunnerLost:
            self.close()
            report = Compiled([], [])
        if isinstance(report, Failed) or not report.numbers:
            self.compiles = False
            return [*candidates]
        self.numbers = {edits[number - 1]: number for number in report.numbers}
        refused = {edits[number - 1] for number in report.refused}
        return [None if one in refused else one for one in candidates]

    def passes(self, candidate: Candidate) -> bool:
        """Whether a file gets all cases right that are tried."""
        try:
            return self._survives(candidate) and self._judged(candidate.source)
        except RunnerLost:
            self.close()
            self.numbers = {}
            return False

    def _runner(self) -> Runner:
        if self.runner is None:
            self.runner = self.session.evaluators.runner()
            ask_to_load(self.runner, self.request)
            _hand_over(self.runner, self.trials[0], self.request)
        return self.runner

    def _survives(self, candidate: Candidate) -> bool:
        """Whether it gets the first case right where results, addresses and races alone are looked at."""
        first, number = self.trials[0], self.numbers.get(candidate, 0)
        command = {"do": "edited", "number": number, "function": candidate.function}
        sources = [candidate.body.encode(), candidate.source.encode()]
        report, data = self._runner().ask(command, Called, sources, timeout=self.request.explain)
        if isinstance(report, Failed):
            return False
        answer = Answer(report, *read_outputs(report, data, None))
        return _may_be_right(first, answer) and judged(first, answer, self.request).passed

    def _judged(self, source: str) -> bool:
        request = replace(self.request, source=source.encode(), scratch="")  # it is confined by now
        assert self.runner is not None
        if isinstance(ask_to_load(self.runner, request), Failed):
            return False
        until = time.monotonic() + JUDGED * self.request.explain
        for trial in self.trials:
            if time.monotonic() > until or not _tried(self.runner, trial, request).passed:
                return False
        until = time.monotonic() + MORE * self.request.explain
        for trial in self._others():
            if time.monotonic() > until:
                break
            if not _tried(self.runner, trial, request).passed:
                return False
        return True

    def _others(self) -> Iterator[Trial]:
        """Small cases of the same function that this grading has not tried."""
        challenge, known = self.trials[0].challenge, [trial.case for trial in self.trials]
        for case in challenge.cases:
            if case.gpu or case.huge or case in known or challenge.is_limit(case.demand):
                continue
            trial = untried(challenge, case, self.session.names[challenge.entry], self.request)
            if _tryable(trial):
                yield trial

    def close(self) -> None:
        """End its runner."""
        if self.runner:
            self.runner.close()
        self.runner = None


def _may_be_right(trial: Trial, answer: Answer) -> bool:
    """Whether the element that was most wrong is nearly right now: that alone tells most candidates apart."""
    facts, trial = trial.findings[0].facts, replace(trial, answer=answer)
    if "index" not in facts or "result" not in facts or trial.challenge.chance or form_findings(trial):
        return True
    out, want = trial.outputs[facts["result"]], trial.wanted[facts["result"]]
    if not out.is_floating_point():
        return True
    exact = want.exact.double()
    one, right = (float(each.view(want.shape)[tuple(facts["index"])]) for each in (out, exact))
    return one == right or not abs(one - right) > NEARLY * (abs(right) + float(exact.abs().mean()))


def _hand_over(runner: Runner, trial: Trial, request: Request) -> None:
    """Have a runner take the case that candidates meet first."""
    values, names = trial.runner_arguments()
    specs, blobs = pack_arguments(values, names)
    given = len(trial.arguments)
    command: dict[str, Any] = {
        "do": "case",
        "entry": trial.challenge.entry,
        "probe": trial.challenge.probe,
        "of": trial.of,
        "made": made_of(trial.challenge),
    }
    command |= {"arguments": specs[:given], "upstream": specs[given:], "writes": list(trial.challenge.writes)}
    runner.ask(command, Called, blobs, timeout=request.call_timeout)


def _tried(runner: Runner, trial: Trial, request: Request) -> Trial:
    if trial.challenge.chance or trial.case.calls > 1:
        return attempt(runner, trial.challenge, trial.case, trial.names, request)
    return again(runner, trial, request)


def _tryable(trial: Trial) -> bool:
    sizes = [value.numel() for value in trial.arguments if hasattr(value, "numel")]
    return not trial.case.gpu and not trial.case.huge and sum(sizes) <= LARGEST
