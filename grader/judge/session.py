"""What the checks of one grading share: the challenge, the runner, and all that was seen so far."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

import torch

from grader.challenge import Case, Challenge
from grader.challenge.harness.interleaved_backward import interleaved
from grader.challenge.harness.message_validation import Form
from grader.challenge.harness.oracle import Values
from grader.challenge.harness.replay_with_new_inputs import Way, repeated
from grader.challenge.harness.run_case import attempt
from grader.challenge.harness.runner_client import Runner, RunnerLost, ask_to_load
from grader.challenge.harness.trial import Trial, draw
from grader.challenge.harness.value_checks import excess, passes_with
from grader.challenge.loading import drawn
from grader.claim_result import Shape
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.skeleton import handed_out
from grader.diagnosis.triton_errors import slip
from grader.judge.cuda_init import known, wake
from grader.judge.evaluator_runners import Evaluators
from grader.judge.failures import CheckFailed, raised, unevaluated
from grader.judge.selected_cases import Asked
from grader.pass_requirements import HAIR, WELL_INSIDE
from grader.request import Request
from grader.runner_answers import Confined, Failed, Fault, Loaded
from grader.wire import Channel


class Session:
    """What the checks of one grading share.

    Args:
        request: what was asked.
        parent: the channel on which runners are asked for.

    Attributes:
        device: where tensors lie: `cpu` or `cuda`.
        asked: which cases are asked for.
        evaluators: whoever evaluates kernels, beside the runner of the cases.
        names: of each entry, what the learner calls its parameters.
        claimed: of each claim, by entry, words, backend and part, what came of its shapes.
        confined: what was put in force before the file was loaded, of a strict grading.
    """

    def __init__(self, request: Request, parent: Channel) -> None:
        self.request = request
        self.device = request.torch_device
        self.timed = request.speed and not request.only
        self.parent = parent
        self.challenges = drawn(request)
        self.asked = Asked(request, self.challenges, self.device)
        self.names: dict[str, list[str]] = {}
        source = request.source.decode("utf-8-sig", "replace")
        hunt = any(challenge.bugs for challenge in self.challenges)
        self.evidence = Evidence(
            source=source,
            compiled=self.device == "cuda",
            several=len(self.challenges) > 1,
            given=handed_out(source, "" if hunt else request.skeleton),
        )
        self.speed: dict[str, Any] | None = None
        self.beside = ""
        self.claimed: dict[tuple[str, ...], list[Shape]] = {}
        self.ways: set[Way] = set()  # in which kernels were launched so far
        self.missed = 0  # wrong candidates that the learner's test took for right ones
        self.runner: Runner | None = None
        self.evaluators = Evaluators(request, parent, self.load)
        self.printed = bytearray()
        self.confined: Confined | None = None
        self.background = ThreadPoolExecutor(1)  # asks what the cases do not wait for
        self.acceptance: Any = None  # of the compiler, in the background: a Future of background_compile.py
        self.foreseen: dict[str, Future[Any]] = {}  # by bar, in the background: speed/predict_call.py
        self.evaluated: Any = None  # on a GPU, in the background: checks/small_cases_on_evaluator.py
        # Huge cases, walked in the background: checks/huge_case_addresses.py
        self.walked: dict[str, Future[Any]] = {}
        self.ahead: Any = None  # on a GPU: what judge/compile_ahead.py compiles in the background
        self.gpu: Future[Any] = Future()  # what torch says of it
        self.stem = request.hidden_tests.parent.name

    def wake(self) -> None:
        """On a GPU: make it ready here and for a runner, before either is asked for anything."""
        if self.device == "cuda":
            self.fresh_runner()
            waking = ThreadPoolExecutor(1)
            self.gpu = waking.submit(known)
            waking.submit(wake)

    def all_compiled(self) -> None:
        """What comes now is measured: let nothing be compiled beside it."""
        if self.ahead is not None:
            self.ahead.finish()

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

    def load(self, runner: Runner) -> Loaded | Failed:
        """Have a runner import the learner's file."""
        try:
            return ask_to_load(runner, self.request)
        except RunnerLost as lost:
            raise self.lost(None, lost) from None
        finally:
            self.confined = self.confined or runner.confined

    def ready_runner(self) -> Runner:
        """The runner, with the file loaded; a fresh one after a loss."""
        if self.runner is None:
            self.load(self.fresh_runner())
        assert self.runner is not None
        return self.runner

    def trial(self, challenge: Challenge, case: Case, arguments: Values | None = None) -> Trial:
        """One case, tried.

        Args:
            arguments: instead of those that the case draws.

        Raises:
            CheckFailed: its runner was lost.
        """
        if self.ahead is not None:
            self.ahead.wait(challenge, case)
        try:
            runner, names = self.ready_runner(), self.names[challenge.entry]
            trial = attempt(runner, challenge, case, names, self.request, arguments)
            if arguments is not None:
                return trial
            trial.repeated = repeated(runner, trial, self.request, self.ways)
            if trial.repeated and trial.repeated.answer:
                return trial.repeated
            found = interleaved(runner, trial, self.request)
            trial.findings += [found] if found else []
            return trial
        except RunnerLost as lost:
            lost.compiling = self.ahead is not None and self.ahead.late(challenge, case)
            raise self.lost(case, lost, challenge) from None

    def ask(
        self, case: Case, command: dict[str, Any], form: type[Form], storages: Sequence[torch.Tensor] = ()
    ) -> tuple[Form, list[bytearray]]:
        """One command about a case to the runner.

        Raises:
            CheckFailed: the runner was lost, or the learner's code raised.
        """
        timeout = self.request.call_timeout
        try:
            report, data = self.ready_runner().ask_with(command, form, list(storages), timeout=timeout)
        except RunnerLost as lost:
            raise self.lost(case, lost) from None
        if isinstance(report, Failed):
            raise self.faulted(report.fault)
        return report, data

    def conclude(self, trial: Trial) -> None:
        """Keep a trial.

        Raises:
            CheckFailed: something is wrong with it, or only a GPU tells.
        """
        if trial.unevaluated:
            raise unevaluated(trial.findings[0].facts)
        self.evidence.trials.append(trial)
        if trial.passed:
            return
        if self.device == "cuda" and trial.findings[0].kind == "error":
            self.close()  # a CUDA context that saw an illegal access answers nothing any more
        demand = "rounding_margin" if self._by_a_hair(trial) else self._demand(trial.challenge, trial.case)
        trial.limit = self.is_limit(trial.challenge, demand)
        cause = self.cause(trial)
        if trial.limit:
            raise CheckFailed("limit", cause | {"demand": demand}, trial=trial)
        raise CheckFailed("failed", cause)

    def is_limit(self, challenge: Challenge, demand: str) -> bool:
        """Whether what fails by such a demand is told with a pass."""
        return challenge.is_limit(demand) and not self.request.limits

    def weighed(self, challenge: Challenge, demand: str, failed: CheckFailed, brief: str = "") -> CheckFailed:
        """The failure of a check, or where it is by such a demand the limit that it is.

        Args:
            brief: the sentence of the limit, where it is shorter than that of the failure.
        """
        if not self.is_limit(challenge, demand):
            return failed
        sentence, look_at = failed.told or (str(failed), "")
        return CheckFailed("limit", failed.cause | {"demand": demand}, (brief or sentence, look_at))

    def _demand(self, challenge: Challenge, case: Case) -> str:
        """The kind of demand that a case makes."""
        if case.demand != "values":
            return case.demand
        arguments = draw(challenge, case, self.request.seed, self.device)
        empty = any(isinstance(value, torch.Tensor) and not value.numel() for value in arguments)
        return "degenerate_sizes" if empty else "values"

    def _by_a_hair(self, trial: Trial) -> bool:
        """Whether this is the one result of its function that is a little beyond its gate."""
        tried = self.evidence.trials
        others = [one for one in tried if one.challenge is trial.challenge and one is not trial]
        if excess(trial) > HAIR or not all(one.passed for one in others):
            return False
        return all(passes_with(one, 1 / WELL_INSIDE) for one in others)

    def cause(self, trial: Trial) -> dict[str, Any]:
        """The facts of its check that failed."""
        finding = trial.findings[0]
        told = slip(finding.facts, self.evidence.source) if finding.kind == "error" else None
        return {"reason": finding.reason, **finding.facts, **({"line": told.line} if told else {})}

    def forgives(self, trial: Trial) -> bool:
        """Whether a test that missed a wrong candidate is let off: so often as its challenge says."""
        judges = trial.challenge.judges
        if judges is None or trial.passed or trial.findings[0].kind != "missed":
            return False
        self.missed += 1
        return self.missed <= judges.missed

    def lost(self, case: Case | None, lost: RunnerLost, challenge: Challenge | None = None) -> CheckFailed:
        """The failure of a check whose runner was lost."""
        self.close()
        if case and challenge and self.is_limit(challenge, demand := self._demand(challenge, case)):
            said = f"with {case.id} its process is lost: {lost.reason}"
            return CheckFailed("limit", {"reason": lost.reason, "demand": demand}, (said, ""))
        self.evidence.lost = (case, lost)
        return CheckFailed(lost.outcome, {"reason": lost.reason})

    def faulted(self, fault: Fault) -> CheckFailed:
        """The failure of a check in which the learner's code raised, at a size no case had."""
        if fault.kind == "unevaluated":
            return unevaluated(asdict(fault))
        what = f"Triton cannot compile line {fault.line}" if fault.kind == "compile" else ""
        sentence = f"At full size {what or f'your code raised {fault.type}'}: {fault.first_line}"
        return raised(fault, self.evidence.source, sentence)

    def keep_speed(self, result: dict[str, Any], beside: str = "") -> None:
        """Remember a speed result, and how ours differs; of several bars the one with the least room."""
        if self.speed is None or result["ratio"] < self.speed["ratio"]:
            self.speed, self.beside = result, beside
