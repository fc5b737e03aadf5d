"""How far a file is that is not right yet: each piece of the day, tried with our own code around it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from typing import Any

import torch

from grader.challenge import Case, Challenge, Piece
from grader.challenge.harness.argument_serialization import pack_arguments
from grader.challenge.harness.run_case import again, untried
from grader.challenge.harness.runner_client import RunnerLost, ask_to_load
from grader.challenge.harness.trial import Trial
from grader.challenge.loading import tallest, weight
from grader.diagnosis.launch_record import programs
from grader.diagnosis.provenance import of_nothing
from grader.judge.pieces.piece_states import STATES, read
from grader.judge.pieces.splice_functions import Files
from grader.judge.session import Session
from grader.performance.counting.access_trace import TracedLaunch
from grader.performance.counting.access_tracer import FINAL, FIRST, STEPS
from grader.runner_answers import Called, Failed
from grader.runner_measurements import Traced
from grader.verdict import Part

FAILED = 3  # at most so many cases of those that failed
FEW, FAR = 5, 3  # others where something is left to do; the largest among them
TRACED = 3  # cases whose loads are looked at: tall, wide, with a mask that is another side's
DRAWN = FIRST + FINAL  # programs of a launch of which a trace knows all


def pieces(session: Session) -> list[dict[str, Any]]:
    """The pieces of the day once a case failed, as `Part`s; nothing for a file that is built otherwise.

    Only evaluated: each function becomes a file of its own, which a GPU would have to compile. Where one of
    these is wrong, those that are right are none to look at.
    """
    request = session.request
    challenges = [challenge for challenge in session.challenges if challenge.pieces]
    if session.evidence.compiled or not session.evidence.failed or not challenges or not request.solution:
        return []
    files = Files(request.source.decode("utf-8-sig"), request.skeleton, request.solution)
    if not files.fit():
        return []
    parts = [part for challenge in challenges for part in _of_one(session, challenge, files)]
    session.evidence.right, session.evidence.wrong = _told_apart(challenges, parts)
    return [asdict(part) for part in parts]


def _told_apart(
    challenges: Sequence[Challenge], parts: Sequence[Part]
) -> tuple[frozenset[str], frozenset[str]]:
    """Functions all of whose pieces are right, and those that have a wrong one; none where none is."""
    states: dict[str, set[str]] = {}
    for piece, part in zip((p for challenge in challenges for p in challenge.pieces), parts, strict=True):
        states.setdefault(piece.of, set()).add(part.state)
    wrong = frozenset(name for name, found in states.items() if "wrong" in found)
    return frozenset(name for name, found in states.items() if wrong and found == {"right"}), wrong


def _of_one(session: Session, challenge: Challenge, files: Files) -> list[Part]:
    started = {piece.of for c in session.challenges for piece in c.pieces if files.started(piece.of)}
    whole = all(piece.of in started for c in session.challenges for piece in c.pieces)
    trials = _chosen(session, challenge, whole and not session.request.only) if started else []
    known: dict[str, Alone] = {}
    parts = []
    with ExitStack() as stack:
        for piece in challenge.pieces:
            if piece.of not in started:
                parts.append(Part(piece.name, "not started"))
                continue
            if piece.of not in known:
                alone = Alone(session, files.alone(piece.of), trials)
                known[piece.of] = stack.enter_context(closing(alone))
            part = known[piece.of].judge(piece)
            bare = files.bare(piece.of, session.evidence.given) if part.state == "right" else []
            parts.append(replace(part, bare=" and ".join(bare)))
    return parts


class Alone:
    """A file in which one function is the learner's, and what it does in a few cases.

    Args:
        source: the file; what lies behind the learner's lines is ours.
        trials: the cases, of one challenge.

    Attributes:
        worked: in some case the whole file gives what is asked, so that all of it is started.
    """

    def __init__(self, session: Session, source: str, trials: Sequence[Trial]) -> None:
        self.trials, self.lines = trials, session.request.source.count(b"\n") + 1
        passed = [one for one in session.evidence.passed if one.challenge in [t.challenge for t in trials]]
        self.worked = any(want.exact.numel() for one in passed for want in one.wanted)
        self.request = replace(session.evaluators.request, source=source.encode())
        self.tree = _last_of_each(ast.parse(source))
        self.tried: dict[bool, list[Trial]] = {}
        self.runner = session.evaluators.runner()
        try:
            self.lost = isinstance(ask_to_load(self.runner, self.request), Failed)
        except RunnerLost:
            self.lost = True

    def close(self) -> None:
        """End its runner."""
        self.runner.close()

    def judge(self, piece: Piece) -> Part:
        """What the cases show of a piece."""
        trials = self._try(_forward(piece, self.trials))
        if not trials:
            return Part(piece.name, "not judged")
        if piece.by == "loads":
            return Part(piece.name, read(self._launches(trials, piece.of), piece))
        answers = [trial.answer.report for trial in trials if trial.answer]
        faults = [answer.fault for answer in answers if isinstance(answer, Failed)]
        raised = next((fault for fault in faults if fault.kind != "bounds"), None)
        if raised and piece.by in ("all", "values"):
            return Part(piece.name, "wrong", raised.line if raised.line <= self.lines else 0)
        state = STATES[piece.by](trials, piece)
        if state == "not started" and self.worked:
            return Part(piece.name, "wrong")
        return Part(piece.name, "not started" if state == "wrong" and self._left(trials, piece) else state)

    def _left(self, trials: Sequence[Trial], piece: Piece) -> bool:
        """Whether the piece's results, where they are wrong, are made from what its function never wrote."""
        of = piece.results
        wrong = [
            trial for trial in trials if any(found.facts.get("result") in of for found in trial.findings)
        ]
        answers = [trial.answer.report for trial in wrong if trial.answer]
        return bool(answers) and all(
            isinstance(answer, Called) and of_nothing(answer, of, self.tree) for answer in answers
        )

    def _try(self, forward: bool) -> list[Trial]:
        """The cases with this file, once each; none where its runner was lost.

        Args:
            forward: the forward pass alone.
        """
        try:
            if forward not in self.tried and not self.lost:
                self.tried[forward] = [again(self.runner, t, self.request, forward) for t in self.trials]
        except RunnerLost:
            self.lost = True
        return [] if self.lost else self.tried[forward]

    def _launches(self, trials: Sequence[Trial], kernel: str) -> list[TracedLaunch]:
        """The launches of a kernel in the largest of the cases of which a trace knows every access."""
        small = [trial for trial in trials if trial.case.group == "correct" and programs(trial) <= DRAWN]
        return [
            launch for trial in sorted(small, key=_size)[-TRACED:] for launch in self._traced(trial, kernel)
        ]

    def _traced(self, trial: Trial, kernel: str) -> list[TracedLaunch]:
        specs, blobs = pack_arguments(trial.arguments, trial.names)
        ask = {"do": "trace", "entry": trial.challenge.entry, "arguments": specs, "of": []}
        try:
            report, _ = self.runner.ask(ask, Traced, blobs, timeout=self.request.call_timeout)
        except RunnerLost:
            self.lost = True
            return []
        found = [] if isinstance(report, Failed) else [one for one in report.launches if one.kernel == kernel]
        known = all(len(program.steps) < STEPS for launch in found for program in launch.programs)
        return found if known else []


def _last_of_each(tree: ast.Module) -> ast.Module:
    """A file without definitions that a later one of the same name replaces."""
    last = {getattr(node, "name", id(node)): node for node in tree.body}
    return ast.Module([node for node in tree.body if last[getattr(node, "name", id(node))] is node], [])


def _chosen(session: Session, challenge: Challenge, whole: bool) -> list[Trial]:
    """A few cases with something to compute.

    Args:
        whole: nothing is left to do. Then the cases that failed show whose fault it is; while something is,
            all of them fail, and others show more.
    """
    failed = [
        trial for trial in session.evidence.failed if trial.challenge is challenge and not trial.case.gpu
    ]
    unlike = {trial.findings[0].kind: trial for trial in reversed(failed)}
    spread = failed[:: -(-len(failed) // FAILED) or 1]
    failed = _distinct([*unlike.values(), *spread])[:FAILED] if whole else failed[:1]
    done = [trial.case for trial in failed]
    cases = [] if whole and failed else [case for case in _telling(challenge) if case not in done]
    far = [
        untried(challenge, case, session.names[challenge.entry], session.evaluators.request) for case in cases
    ]
    trials = [trial.on_cpu() for trial in failed] + far
    return [trial for trial in trials if any(want.exact.numel() for want in trial.wanted)]


def _distinct(trials: list[Trial]) -> list[Trial]:
    return list({id(trial): trial for trial in trials}.values())


def _telling(challenge: Challenge) -> list[Case]:
    """For each size the case that has most of it, one whose inputs lie apart, one of each dtype, others."""
    cases = [case for case in challenge.cases if not case.gpu and case.calls == 1]
    apart = [case for case in cases if case.layout not in ("contiguous", "offset")]
    dtypes = {case.dtype: case for case in cases if case.group == "correct"}.values()
    others = cases[:: max(len(cases) // FEW, 1)]
    most = sorted(tallest(cases), key=weight)[:FAR]
    return list(dict.fromkeys([*most, *apart[:1], *dtypes, *others]))[:FEW]


def _forward(piece: Piece, trials: Sequence[Trial]) -> bool:
    """Whether the forward pass alone shows a piece, and there is another."""
    outputs = sum(not want.label for trial in trials[:1] for want in trial.wanted)
    alone = piece.by == "loads" or (bool(piece.results) and max(piece.results) < outputs)
    return alone and any(trial.challenge.gradients for trial in trials)


def _size(trial: Trial) -> int:
    return sum(value.numel() for value in trial.arguments if isinstance(value, torch.Tensor))
