"""What the checks of one grading share: the challenge, the runner, and all that was seen so far."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any, TypeVar

import torch

from grader.answers import Confined, Failed, Fault, Loaded
from grader.challenge import Case, Challenge, Relation
from grader.judge.case.attempt import attempt
from grader.judge.case.link import Runner, RunnerLost, Specs, announce_sibling, ask_to_load, pack_arguments
from grader.judge.case.oracle import Values
from grader.judge.case.repeating import repeated
from grader.judge.case.trial import Trial
from grader.judge.challenges import load_challenges, weight
from grader.judge.diagnosis.evidence import Evidence
from grader.judge.diagnosis.handed import handed_out
from grader.judge.diagnosis.slips import slip
from grader.request import Request
from grader.spans import span
from grader.verdict import Outcome
from grader.wire import Channel

Item = TypeVar("Item", Case, Relation)
PATIENCE = 20.0  # seconds for one call where it is interpreted beside a GPU


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
        request: what was asked.
        parent: the channel on which runners are asked for.

    Attributes:
        device: where tensors lie: `cpu` or `cuda`.
        names: of each entry, what the learner calls its parameters.
        mute: the interpreter's canaries that are silent here.
        confined: what was put in force before the file was loaded, of a strict grading.
    """

    def __init__(self, request: Request, parent: Channel) -> None:
        self.request = request
        self.device = "cuda" if request.device == "gpu" else "cpu"
        self.timed = request.speed and not request.only
        self.parent = parent
        self.challenges = load_challenges(request.hidden_tests)
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
        self.missed = 0  # wrong candidates that the learner's test took for right ones
        self.runner: Runner | None = None
        self.walker: Runner | None = None
        self.holds: Any = None  # which runner has the arguments of which case from the command before
        self.printed = bytearray()
        self.mute: list[str] = []
        self.confined: Confined | None = None
        self.announced = False
        self.acceptance: Any = None  # of the compiler, in the background: a Future of judge/acceptance.py
        self.ahead: Any = None  # on a GPU: what judge/ahead.py compiles in the background
        self.gpu: Future[Any] = Future()  # what torch says of it, once it is awake
        self.stem = request.hidden_tests.parent.name
        if self.device == "cpu":
            from grader.interpreter import canaries

            self.mute = canaries.failures(canaries.OF_CASES) if request.mute is None else list(request.mute)

    def wake(self) -> None:
        """On a GPU: make it ready here and for a runner, before either is asked for anything."""
        if self.device == "cuda":
            self.fresh_runner()
            if self.walks():
                self.expect_sibling()
            self.gpu = ThreadPoolExecutor(1).submit(_awake)

    def handing(self, case: Case, values: Values, names: list[str]) -> tuple[Specs | None, list[memoryview]]:
        """The arguments of a case as a command to the runner has them; None where it has them already."""
        runner = self.ready_runner()
        held, self.holds = self.holds, (runner, case)
        return (None, []) if held == self.holds and self.device == "cuda" else pack_arguments(values, names)

    def all_compiled(self) -> None:
        """What comes now is measured: let nothing be compiled beside it."""
        if self.ahead is not None:
            self.ahead.finish()

    def cases(self, group: str) -> list[tuple[Challenge, Case]]:
        """The cases of a group, smallest first, as asked for by -k."""
        cases = [(c, case) for c in self.challenges for case in c.cases if case.group == group]
        return sorted(self._asked_for(cases), key=lambda pair: weight(pair[1]))

    def walks(self) -> list[tuple[Challenge, Case]]:
        """The huge cases, of which a few programs are followed."""
        cases = [(c, case) for c in self.challenges for case in c.cases if case.huge]
        return [pair for pair in cases if self._is_asked_for(self.walk_id(pair))]

    def compilations(self) -> list[Challenge]:
        """The challenges whose compilations are counted, as asked for by -k."""
        return [c for c in self.challenges if c.compilations and self._is_asked_for(self.compilations_id(c))]

    def compilations_id(self, challenge: Challenge) -> str:
        """The id of that count."""
        return "compilations" if len(self.challenges) == 1 else f"{challenge.entry}-compilations"

    def relations(self) -> list[tuple[Challenge, Relation]]:
        """The relations between two calls, as asked for by -k."""
        return self._asked_for([(c, relation) for c in self.challenges for relation in c.relations])

    def _asked_for(self, pairs: list[tuple[Challenge, Item]]) -> list[tuple[Challenge, Item]]:
        return [
            pair
            for pair in pairs
            if not (pair[1].gpu and self.device == "cpu") and not pair[1].huge
            if self._is_asked_for(self.case_id(pair))
        ]

    def _is_asked_for(self, name: str) -> bool:
        only = self.request.only
        return self.request.cases and (only is None or only in name)

    def case_id(self, pair: tuple[Challenge, Case | Relation]) -> str:
        """A case's id, with its entry in front where the day has several."""
        challenge, case = pair
        return case.id if len(self.challenges) == 1 else f"{challenge.entry}-{case.id}"

    def walk_id(self, pair: tuple[Challenge, Case]) -> str:
        """The id of a case that is walked."""
        return f"{self.case_id(pair)}-walked"

    def fresh_runner(self) -> Runner:
        """A new runner, in the place of the old one."""
        self.close()
        sleeps = self.device == "cpu" or self.request.scratch
        self.runner = Runner(self.parent, "runner" if sleeps else "awake")
        return self.runner

    @property
    def interprets(self) -> bool:
        """Whether kernels can be interpreted here: on a GPU, beside what is compiled."""
        return self.device == "cpu" or self.request.interprets

    @property
    def interpreted(self) -> Request:
        """The request as whoever asks an interpreter has it."""
        return replace(self.request, device="cpu", call_timeout=min(self.request.call_timeout, PATIENCE))

    def interpreter(self) -> Runner:
        """A new runner that interprets kernels, on a GPU too: it sees what no GPU tells."""
        return Runner(self.parent, "interpreter")

    def ready_walker(self) -> Runner:
        """A runner with the file loaded that believes in a GPU; a fresh one after a loss."""
        if self.walker is None:
            self.walker = self.interpreter()
            self.load(self.walker)
        return self.walker

    def drop_walker(self) -> None:
        """End it, if there is one."""
        if self.walker is not None:
            self.walker.close()
        self.walker = None

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
            NotMeasured: the interpreter cannot be trusted with it.
            CheckFailed: its runner was lost.
        """
        self.trust(case)
        if self.ahead is not None:
            self.ahead.wait(challenge, case)
        runner, names = self.ready_runner(), self.names[challenge.entry]
        try:
            trial = attempt(runner, challenge, case, names, self.request, arguments)
            trial.repeated = repeated(runner, trial, self.request) if arguments is None else None
            return trial
        except RunnerLost as lost:
            raise self.lost(case, lost) from None

    def conclude(self, trial: Trial) -> None:
        """Keep a trial.

        Raises:
            CheckFailed: something is wrong with it.
        """
        self.evidence.trials.append(trial)
        if trial.passed:
            return
        if self.device == "cuda" and trial.findings[0].kind == "error":
            self.close()  # a CUDA context that saw an illegal access answers nothing any more
        self.expect_sibling()
        raise CheckFailed("failed", self.cause(trial))

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

    def trust(self, case: Case) -> None:
        """Hold the interpreter's canaries against a case.

        Raises:
            NotMeasured: it cannot be trusted with this one.
        """
        words = {torch.bfloat16: "bf16", torch.float16: "fp16"}
        for canary in self.mute:
            word = words.get(case.dtype)
            if (word and word in canary) or canary in self.evidence.source:
                raise NotMeasured(
                    f"Triton's interpreter computes {canary} wrongly in this version; not graded"
                )

    def lost(self, case: Case | None, lost: RunnerLost) -> CheckFailed:
        """The failure of a check whose runner was lost."""
        self.close()
        self.expect_sibling()
        self.evidence.lost = (case, lost)
        return CheckFailed(lost.outcome, {"reason": lost.reason})

    def faulted(self, fault: Fault) -> CheckFailed:
        """The failure of a check in which the learner's code raised, at a size no case had."""
        told = slip(asdict(fault), self.evidence.source)
        sentence = f"At full size your code raised {fault.type}: {fault.first_line}"
        line = told.line if told else fault.line
        cause = {"reason": sentence, **asdict(fault), "line": line}
        return CheckFailed("failed", cause, (told.says if told else sentence, f"line {line}"))

    def keep_speed(self, result: dict[str, Any], beside: str = "") -> None:
        """Remember a speed result, and how ours differs; of several bars the one with the least room."""
        if self.speed is None or result["ratio"] < self.speed["ratio"]:
            self.speed, self.beside = result, beside

    def expect_sibling(self) -> None:
        """Without a GPU kernels will be compiled, on one interpreted: have that process started meanwhile."""
        if self.interprets and not self.announced:
            self.announced = True
            announce_sibling(self.parent)


def _awake() -> Any:
    """The first things that a CUDA context takes time for, done; torch's properties of the GPU."""
    with span("cuda"):
        one = torch.ones(1, 1, device="cuda", dtype=torch.float64)
        torch.randn(1, device="cuda", generator=torch.Generator("cuda"))
        (one @ one).cpu()
        return torch.cuda.get_device_properties(0)
