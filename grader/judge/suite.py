"""The checks of one grading: which they are, their order, and what is told of each as it starts and ends."""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from grader.challenge import Case, Challenge, Speed
from grader.challenge.harness.case_name_glossary import meanings
from grader.judge import background_compile, compile_ahead
from grader.judge.checks import (
    autotuner,
    capability,
    compilations,
    compiles,
    correct,
    cross_compile,
    honest,
    huge_case_addresses,
    import_check,
    launcher_on_fake_gpu,
    measured_speed,
    peak_memory,
    predicted_speed,
    registered_operator,
    small_cases_on_evaluator,
    speed_claims,
)
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.session import Session
from grader.judge.speed import predict_call
from grader.verdict import HARMLESS, Check, Outcome
from grader.wire import Channel, Closed

# Once so many cases of a group have failed, only a few of the rest are tried, evenly spread: together they
# still tell sizes, dtypes and layouts apart, and what is wrong altogether is said in half the time.
ENOUGH = 6
MORE = 5
# Seconds that a check may take beyond what its runner may; on a GPU it waits for compilers.
BUSY = {"cpu": 100.0, "gpu": 150.0}
MANY = 8  # cores: on fewer an evaluator that is begun at once holds up those who compile for the first case


class TooLong(BaseException):
    """A check of ours does not end."""


@dataclass(frozen=True)
class Planned:
    """A check that is to come.

    Attributes:
        group, name: as a screen has them, `edges` and `edges[rows=4-cols=8-fp32-sliced]`.
        run: raises CheckFailed or NotMeasured; whatever else escapes is our own bug, and no verdict.
        case: that it tries; `way` is how, where it is not run as it stands.
    """

    group: str
    name: str
    run: Callable[[], None]
    case: tuple[Challenge, Case] | None = None
    way: str = ""


def planned(session: Session) -> Iterator[Planned]:
    """All checks, in their order."""
    asked, only = session.asked, session.request.only
    yield Planned("imports", "imports", partial(_imports, session))
    for group, check in (("correct", correct.check), ("edges", _edge)):
        for pair in asked.cases(group):
            yield Planned(group, f"{group}[{asked.case_id(pair)}]", partial(check, session, *pair), pair)
    for challenge, relation in asked.relations():
        name = f"edges[{asked.case_id((challenge, relation))}]"
        yield Planned("edges", name, partial(correct.check_relation, session, challenge, relation))
    for part, looked in (("compilations", compilations.check), ("operator", registered_operator.check)):
        for challenge, name in asked.having(part):
            yield Planned("edges", f"edges[{name}]", partial(looked, session, challenge))
    for way, pairs, check in (
        ("staged", asked.staged(), launcher_on_fake_gpu.check),
        ("evaluated", asked.evaluated(), small_cases_on_evaluator.check),
        ("walked", asked.walks(), huge_case_addresses.check),
    ):
        for pair in pairs:
            name = f"edges[{asked.case_id(pair, way)}]"
            yield Planned("edges", name, partial(check, session, *pair), pair, way)
    if background_compile.wanted(session):
        yield Planned("compiles", "compiles", partial(compiles.check, session))
    for challenge, name in asked.having("targets"):
        yield Planned("compiles", f"compiles[{name}]", partial(cross_compile.check, session, challenge))
    yield Planned("honest", "honest", partial(honest.check, session))
    several = len(session.challenges) > 1
    for challenge in (one for one in session.challenges if one.memory and not only):
        name = f"memory[{challenge.entry}]" if several else "memory"
        yield Planned("memory", name, partial(peak_memory.check, session, challenge))
    bars = [(one, speed) for one in session.challenges for speed in one.speeds if not only]
    for challenge, speed in bars:
        name = "fast" if not several and len(bars) == 1 else f"fast[{bar_id(session, challenge, speed)}]"
        yield Planned("fast", name, partial(_fast, session, challenge, speed))
    for challenge, claim, case in asked.claims():
        name = f"claims[{claim.backend}-{claim.part}-{asked.case_id((challenge, case))}]"
        yield Planned("claims", name, partial(speed_claims.check, session, challenge, claim, case))


def bar_id(session: Session, challenge: Challenge, speed: Speed) -> str:
    """The case's id, and which pass is timed where it is not the forward pass."""
    name = session.asked.case_id((challenge, speed.case))
    return name if speed.part == "forward" else f"{name}-{speed.part}"


def _imports(session: Session) -> None:
    session.ahead = compile_ahead.begin(session)
    import_check.check(session)
    session.acceptance = background_compile.begin(session)
    predict_call.begin(session)
    if session.device == "cuda" and len(os.sched_getaffinity(0)) >= MANY:
        small_cases_on_evaluator.begin(session)
        huge_case_addresses.begin(session)


def _edge(session: Session, challenge: Challenge, case: Case) -> None:
    small_cases_on_evaluator.begin(session)
    correct.check(session, challenge, case)


def _fast(session: Session, challenge: Challenge, speed: Speed) -> None:
    """The bar; then what the autotuner chose among, where the day asks for one."""
    if not session.timed:
        raise NotMeasured("not asked for")
    capability.check(session, speed.capability)
    autotuner.named(session, challenge)
    (predicted_speed if session.device == "cpu" else measured_speed).check(session, challenge, speed)
    autotuner.check(session, challenge)


class Suite:
    """Runs the checks of one grading, and streams each as it starts and ends.

    Attributes:
        outcomes: the checks so far, in order.
        limits: of these, those that met one.
        broken: a traceback of our own, when a check failed by no fault of the learner's.
    """

    def __init__(self, session: Session, events: Channel) -> None:
        self.session, self.events = session, events
        self.failed_group: str | None = None
        self.stopped_group: str | None = None
        self.failures = 0
        self.left = Counter[str]()  # by group: how many of its checks are still to come
        self.step = 1  # of those, every how manyth is tried
        self.outcomes: list[Check] = []
        self.limits: dict[str, CheckFailed] = {}  # by check
        self.broken = ""
        self.knows_why = False
        self.left_open = False  # what is on the screen by noise

    def run(self) -> None:
        """Run all that are reached."""
        checks = list(planned(self.session))
        self.left = Counter(one.group for one in checks)
        self._tell({"event": "planned", "checks": [one.name for one in checks]})
        for one in checks:
            self.left[one.group] -= 1
            if self._unreachable(one.group):
                self._record(Check(one.name, "not reached"))
            else:
                self._try(one)

    def _try(self, one: Planned) -> None:
        self._tell({"event": "started", "check": one.name})
        begin, error = time.perf_counter(), None
        most = self.session.request.call_timeout + BUSY[self.session.request.device]
        signal.signal(signal.SIGALRM, _end)
        signal.setitimer(signal.ITIMER_REAL, most)
        try:
            one.run()
        except (Exception, TooLong) as raised:
            error = raised
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        outcome, cause = self._outcome(one, error)
        self._record(Check(one.name, outcome, round(time.perf_counter() - begin, 4), cause))
        if outcome not in HARMLESS:
            self.failed_group = one.group
            self.failures += 1
            if self.failures == ENOUGH:
                self.step = max(1, self.left[one.group] // MORE)
            if outcome in ("crashed", "timeout"):
                self.stopped_group = one.group

    def _unreachable(self, group: str) -> bool:
        """A group is not reached once one before it failed; nor is the rest of a group that lost its
        runner, or failed where that is enough, nor most of one that has failed often enough.
        """
        past = self.failed_group if self.session.request.fail_fast else self.stopped_group
        if self.failed_group not in (None, group) or past == group:
            return True
        return self.left[group] % self.step != 0

    def _outcome(self, one: Planned, error: BaseException | None) -> tuple[Outcome, dict[str, Any]]:
        if error is None:
            return "passed", {}
        if isinstance(error, NotMeasured):
            return "not measured", {"reason": str(error)}
        if isinstance(error, CheckFailed):
            if error.outcome == "limit":
                self.limits[one.name] = error
            else:
                self.own(one.name, error)
            words = meanings(*one.case, one.way) if one.case else {}
            return error.outcome, {**error.cause, **({"words": words} if words else {})}
        self.broken = "".join(traceback.format_exception(error))
        return "failed", {"reason": "the grader failed here"}

    def own(self, name: str, error: CheckFailed) -> None:
        """Keep what the first check says that knows why, or else the first; the first is on the screen, or
        where noise left it open the first that it did not.
        """
        evidence = self.session.evidence
        decides = self.left_open and error.outcome != "inconclusive"
        if not error.told or (evidence.own and not decides and (self.knows_why or not error.why)):
            return
        sentence, look_at = error.told
        if evidence.own and not decides:
            sentence = f"With {name.partition('[')[2].removesuffix(']')}: {sentence}"
        evidence.own, self.knows_why = (name, (sentence, look_at)), error.why
        self.left_open = error.outcome == "inconclusive"

    def _tell(self, event: dict[str, Any]) -> None:
        try:
            self.events.send(event)
        except Closed:
            os._exit(0)  # whoever asked is gone, and has heard enough: the rest would be for nobody

    def _record(self, check: Check) -> None:
        self.outcomes.append(check)
        self._tell({"event": "checked", "check": vars(check)})


def _end(*_: object) -> None:
    raise TooLong("a check took too long")
