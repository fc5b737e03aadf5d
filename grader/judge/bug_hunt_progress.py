"""Of a bug hunt: which bugs are gone from a file, which stand, and which nobody can see yet."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from typing import Any, Literal

import torch

from grader.bug_hunt_result import Hunt, Hunted
from grader.challenge import Bug, Challenge
from grader.challenge.harness.run_case import attempt
from grader.challenge.harness.runner_client import Runner, RunnerLost, ask_to_load
from grader.challenge.harness.trial import Trial
from grader.judge.checks.honest import COPIES
from grader.judge.pieces.piece_states import FORM
from grader.judge.session import Session
from grader.runner_answers import Failed
from grader.strip_comments import bare

# The findings that each kind of witness looks at.
SHOWN = {
    "values": {"values", "nan", "inf", "special", "unwritten"},
    "inputs": {"input"},
    "races": {"race"},
}
State = Literal["fixed", "standing", "hidden", "not judged"]


def hunted(session: Session) -> dict[str, Any] | None:
    """How far the hunt is, as a `Hunt`; None if there is none, or no case was tried."""
    request = session.request
    bugs = [bug for challenge in session.challenges for bug in challenge.bugs]
    if not bugs or not session.evidence.trials:
        return None
    mine, skeleton = request.source.decode("utf-8-sig"), request.skeleton
    told = tuple(_told(bugs, dict(_heard(session))))
    ours = changed(skeleton, request.solution) if request.solution else 0
    return asdict(Hunt(told, changed(skeleton, mine), ours))


def states(bugs: Sequence[Bug], heard: Mapping[str, bool | None]) -> list[State]:
    """What became of each bug.

    Args:
        heard: of bugs by name, whether the witness passes; None where it tells nothing.
    """

    def state(bug: Bug) -> State:
        before = [state(other) for other in bugs if bug.name in other.hides]
        if heard.get(bug.name) is None or "not judged" in before:
            return "not judged"
        if any(one != "fixed" for one in before):
            return "hidden"
        return "fixed" if heard[bug.name] else "standing"

    return [state(bug) for bug in bugs]


def _told(bugs: Sequence[Bug], heard: Mapping[str, bool | None]) -> Iterator[Hunted]:
    """The states, with a name for what is gone, and for nothing else."""
    for bug, state in zip(bugs, states(bugs, heard), strict=True):
        yield Hunted(state, bug.name, bug.kind) if state == "fixed" else Hunted(state)


def _heard(session: Session) -> Iterator[tuple[str, bool | None]]:
    """What the witnesses say, in a process of their own, until that is lost."""
    with closing(session.evaluators.runner()) as runner, suppress(RunnerLost):
        if isinstance(ask_to_load(runner, session.request), Failed):
            return
        for challenge in session.challenges:
            for bug in challenge.bugs:
                yield bug.name, _passes(session, runner, challenge, bug)


def _passes(session: Session, runner: Runner, challenge: Challenge, bug: Bug) -> bool | None:
    """Whether a witness passes; None where that tells nothing: it raises, or torch hides the bug."""
    request = session.evaluators.request
    trial = attempt(runner, challenge, bug.witness, session.names[challenge.entry], request)
    kinds = {finding.kind for finding in trial.findings}
    if kinds & SHOWN[bug.shows] or (_ran_off(trial) and bug.shows == "values"):
        return False
    return None if kinds & {"error", *FORM} or _covered(trial, bug.shows) else True


def _covered(trial: Trial, shows: str) -> bool:
    """Whether torch's work may hide the bug: a copy of what is written into, or of what lies unusually."""
    worked = set(trial.called.foreign) - set(trial.challenge.allow) if trial.called else set()
    scattered = any(isinstance(v, torch.Tensor) and not v.is_contiguous() for v in trial.arguments)
    return bool(worked) if shows == "inputs" or scattered else bool(worked - set(COPIES))


def _ran_off(trial: Trial) -> bool:
    """Whether it ended in an access so far from every tensor that nothing came back."""
    answer = trial.answer.report if trial.answer else None
    return isinstance(answer, Failed) and answer.fault.kind == "bounds"


def changed(before: str, after: str) -> int:
    """How many lines of code differ: replaced, added or left out; the file's own demonstration aside."""
    matched = difflib.SequenceMatcher(None, _code(before), _code(after), autojunk=False)
    steps = [step for step in matched.get_opcodes() if step[0] != "equal"]
    return sum(max(i2 - i1, j2 - j1) for _, i1, i2, j1, j2 in steps)


def _code(source: str) -> list[str]:
    """Each statement on a line of its own, spelt in one way."""
    tree = bare(ast.parse(source))
    tree.body = [node for node in tree.body if not _is_demonstration(node)]
    return ast.unparse(tree).splitlines()


def _is_demonstration(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
