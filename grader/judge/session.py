"""What the checks of one grading share: the challenge, the runner, and all that was seen so far."""

from __future__ import annotations

import importlib.util
import itertools
import math
import sys
from pathlib import Path
from typing import Any, TypeVar

import torch

from grader.challenge import Case, Challenge, Relation
from grader.judge import reports
from grader.judge.attempt import attempt
from grader.judge.compare import Finding
from grader.judge.evidence import Evidence
from grader.judge.link import Runner, RunnerLost
from grader.judge.oracle import Values
from grader.judge.trial import Trial
from grader.parent import announce_builder
from grader.verdict import Outcome
from grader.wire import Channel

Item = TypeVar("Item", Case, Relation)
_LOADS = itertools.count(1)


class CheckFailed(Exception):
    """A check did not pass.

    Args:
        outcome: failed, slow, inconclusive, crashed or timeout.
        cause: the facts, for the check's record.
        told: the sentence and the thing to look at, where the check itself knows them.
    """

    def __init__(self, outcome: Outcome, cause: dict[str, Any], told: tuple[str, str] | None = None) -> None:
        super().__init__(cause.get("reason", outcome))
        self.outcome, self.cause, self.told = outcome, cause, told


class NotMeasured(Exception):
    """A check has no meaning here, and says why."""


class Session:
    """What the checks of one grading share.

    Args:
        request: hidden_tests, path, device (cpu, gpu), seed, only (substring of case ids or None),
            call_timeout, cases and speed (whether cases and bars are tried), mute (the canaries that were
            silent at an earlier grading, None at the first).
        parent: the channel on which runners are asked for.
    """

    def __init__(self, request: dict[str, Any], parent: Channel) -> None:
        self.path: str = request["path"]
        self.device = "cuda" if request["device"] == "gpu" else "cpu"
        self.seed: int = request["seed"]
        self.only: str | None = request["only"]
        self.tried = bool(request.get("cases", True))
        self.timed = bool(request.get("speed", True)) and not self.only
        self.timeout = float(request["call_timeout"])
        self.parent = parent
        self.challenges = load_challenges(Path(request["hidden_tests"]))
        self.names: dict[str, list[str]] = {}
        source = Path(self.path).read_text(encoding="utf-8", errors="replace")
        self.evidence = Evidence(source=source, compiled=self.device == "cuda")
        self.speed: dict[str, Any] | None = None
        self.runner: Runner | None = None
        self.printed = bytearray()
        self.mute: list[str] = []
        self.announced = False
        self.stem = Path(request["hidden_tests"]).parent.name
        if self.device == "cpu":
            from grader.meter import canaries

            self.mute = canaries.failures() if request.get("mute") is None else request["mute"]

    def cases(self, group: str) -> list[tuple[Challenge, Case]]:
        """The cases of a group, smallest first, as asked for by -k."""
        cases = [(c, case) for c in self.challenges for case in c.cases if case.group == group]
        return sorted(self._asked_for(cases), key=lambda pair: _weight(pair[1]))

    def relations(self) -> list[tuple[Challenge, Relation]]:
        """The relations between two calls, as asked for by -k."""
        return self._asked_for([(c, relation) for c in self.challenges for relation in c.relations])

    def _asked_for(self, pairs: list[tuple[Challenge, Item]]) -> list[tuple[Challenge, Item]]:
        return [
            pair
            for pair in pairs
            if self.tried
            and not (pair[1].gpu and self.device == "cpu")
            and (self.only is None or self.only in self.case_id(pair))
        ]

    def case_id(self, pair: tuple[Challenge, Case | Relation]) -> str:
        """A case's id, with its entry in front where the day has several."""
        challenge, case = pair
        return case.id if len(self.challenges) == 1 else f"{challenge.entry}-{case.id}"

    def fresh_runner(self) -> Runner:
        """A new runner, in the place of the old one."""
        self.close()
        self.runner = Runner(self.parent)
        return self.runner

    def close(self) -> None:
        """End the runner, if there is one, and keep what it printed."""
        if self.runner is not None:
            self.runner.close()
            self.printed += self.runner.printed
        self.runner = None

    def load(self, runner: Runner) -> dict[str, Any]:
        """Have a runner import the learner's file."""
        try:
            return dict(
                runner.ask({"do": "load", "path": self.path}, reports.LOADED, timeout=self.timeout)[0]
            )
        except RunnerLost as lost:
            raise self.lost(None, lost) from None

    def ready_runner(self) -> Runner:
        """The runner, with the file loaded; a fresh one after a loss."""
        if self.runner is None:
            self.load(self.fresh_runner())
        assert self.runner is not None
        return self.runner

    def attempt(self, challenge: Challenge, case: Case) -> None:
        """Try one case.

        Raises:
            CheckFailed: something is wrong with it, or its runner was lost.
            NotMeasured: the interpreter cannot be trusted with it.
        """
        self._trust(case)
        try:
            trial = self._trial(challenge, case)
        except RunnerLost as lost:
            raise self.lost(case, lost) from None
        if not trial.passed and not self.evidence.failed:
            self._try_afresh(trial)
        self._conclude(trial)

    def _try_afresh(self, trial: Trial) -> None:
        """The first wrong values: are they right in a process that made no call before?"""
        kind = trial.findings[0].kind
        if kind not in ("values", "nan", "inf", "special") or not self.evidence.trials:
            return
        self.close()
        try:
            again = self._trial(trial.challenge, trial.case)
        except RunnerLost:
            self.close()
            return
        if again.passed:
            reason = "the values are right in the first call of a process, and wrong in a later one"
            trial.findings.insert(0, Finding("stale", reason))

    def relate(self, challenge: Challenge, relation: Relation) -> None:
        """Try a relation between two calls.

        Raises:
            CheckFailed: it does not hold, or one of the calls is wrong by itself.
            NotMeasured: the interpreter cannot be trusted with it.
        """
        self._trust(relation.case)
        try:
            one = self._trial(challenge, relation.case)
            two = self._trial(challenge, relation.case, relation.other(*one.arguments))
        except RunnerLost as lost:
            raise self.lost(relation.case, lost) from None
        trial = two if one.passed and not two.passed else one
        assert one.answer is not None
        assert two.answer is not None
        if trial.passed and not relation.holds(tuple(one.answer.outputs), tuple(two.answer.outputs)):
            trial.findings = [Finding("relation", relation.says, told=(relation.says, relation.name))]
        self._conclude(trial)

    def _trial(self, challenge: Challenge, case: Case, arguments: Values | None = None) -> Trial:
        runner, names = self.ready_runner(), self.names[challenge.entry]
        how: dict[str, Any] = {"seed": self.seed, "device": self.device, "timeout": self.timeout}
        return attempt(runner, challenge, case, names, **how, arguments=arguments)

    def _conclude(self, trial: Trial) -> None:
        """Keep a trial.

        Raises:
            CheckFailed: something is wrong with it.
        """
        self.evidence.trials.append(trial)
        if not trial.passed:
            self._after_fault(trial)
            finding = trial.findings[0]
            raise CheckFailed("failed", {"reason": finding.reason, **finding.facts})

    def lost(self, case: Case | None, lost: RunnerLost) -> CheckFailed:
        """The failure of a check whose runner was lost."""
        self.close()
        self.evidence.lost = (case, lost)
        return CheckFailed(lost.outcome, {"reason": lost.reason})

    def faulted(self, fault: dict[str, Any]) -> CheckFailed:
        """The failure of a check in which the learner's code raised, at a size no case had."""
        sentence = f"At full size your code raised {fault['type']}: {fault['message'].splitlines()[0]}"
        return CheckFailed("failed", {"reason": sentence, **fault}, (sentence, f"line {fault['line']}"))

    def keep_speed(self, result: dict[str, Any]) -> None:
        """Remember a speed result; of several bars the one with the least room."""
        if self.speed is None or result["ratio"] < self.speed["ratio"]:
            self.speed = result

    def _after_fault(self, trial: Trial) -> None:
        """A CUDA context that saw an illegal access answers nothing any more: take a fresh runner."""
        if self.device == "cuda" and trial.findings[0].kind == "error":
            self.close()

    def _trust(self, case: Case) -> None:
        words = {torch.bfloat16: "bf16", torch.float16: "fp16"}
        for canary in self.mute:
            word = words.get(case.dtype)
            if (word and word in canary) or canary in self.evidence.source:
                raise NotMeasured(
                    f"Triton's interpreter computes {canary} wrongly in this version; not graded"
                )

    def expect_builder(self) -> None:
        """Without a GPU, kernels will be compiled at the end: have that process started meanwhile."""
        if self.device == "cpu" and self.timed and not self.announced:
            self.announced = True
            if any(challenge.speeds for challenge in self.challenges):
                announce_builder(self.parent)


def load_challenges(path: Path) -> tuple[Challenge, ...]:
    """The challenge, or challenges, of a hidden_tests.py; its folder is a package, so `from .suspects` works.

    Every load makes modules of its own, under a name of its own: days and courses do not mix.
    """
    name = f"hidden_tests_{next(_LOADS)}"
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=[str(path.parent)])
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    importlib.invalidate_caches()  # a file may have come into the folder since it was last looked at
    spec.loader.exec_module(module)
    challenge = module.challenge
    return (challenge,) if isinstance(challenge, Challenge) else tuple(challenge)


def _weight(case: Case) -> float:
    """Smallest first, but empty cases last: they say least about what is wrong."""
    sizes = [abs(s) for s in case.sizes.values() if isinstance(s, int) and not isinstance(s, bool)]
    empty = any(case.sizes.get(name) == 0 for name in ("n", "m", "rows", "cols", "M", "N", "B", "t"))
    return math.inf if empty else math.prod(max(size, 1) for size in sizes)
