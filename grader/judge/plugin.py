"""The pytest plugin of the judge: orders the checks, and streams each as it starts and ends."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from grader.challenge import Challenge, Speed
from grader.judge import acceptance
from grader.judge.case.words import meanings
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.session import Session
from grader.verdict import HARMLESS, Check, Outcome
from grader.wire import Channel, Closed

CHECKS = Path(__file__).with_name("suite.py")
# Once so many cases of a group have failed, only a few of the rest are tried, evenly spread: together they
# still tell sizes, dtypes and layouts apart, and what is wrong altogether is said in half the time.
ENOUGH = 6
EDGES = "related", "compiled", "staged", "interpreted", "walked"  # checks that are shown as edges
MORE = 5


class Reporter:
    """Turns what happens in pytest into events and checks.

    Attributes:
        outcomes: the checks so far, in order.
        limits: of these, those that met one.
        broken: a traceback of our own, when a check failed by no fault of the learner's.
    """

    def __init__(self, session: Session, events: Channel) -> None:
        self.session_, self.events = session, events
        self.failed_group: str | None = None
        self.stopped_group: str | None = None
        self.failures = 0
        self.left: dict[str, int] = {}  # by group: how many of its checks are still to come
        self.step = 1  # of those, every how manyth is tried
        self.outcomes: list[Check] = []
        self.limits: dict[str, CheckFailed] = {}  # by check
        self.begin = 0.0
        self.broken = ""
        self.knows_why = False
        self.left_open = False  # what is on the screen by noise

    @pytest.fixture
    def session(self) -> Session:
        return self.session_

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        session = self.session_
        if "case" in metafunc.fixturenames:
            pairs = session.asked.cases(metafunc.function.__name__.removeprefix("test_"))
            metafunc.parametrize("case", pairs, ids=[session.asked.case_id(pair) for pair in pairs])
        if "relation" in metafunc.fixturenames:
            relations = session.asked.relations()
            metafunc.parametrize(
                "relation", relations, ids=[session.asked.case_id(pair) for pair in relations]
            )
        if "compiled" in metafunc.fixturenames:
            found = session.asked.compilations()
            metafunc.parametrize("compiled", found, ids=[session.asked.compilations_id(c) for c in found])
        if "staged" in metafunc.fixturenames:
            staged = session.asked.staged()
            metafunc.parametrize("staged", staged, ids=[session.asked.staged_id(pair) for pair in staged])
        if "interpreted" in metafunc.fixturenames:
            pairs = session.asked.interpreted()
            ids = [session.asked.interpreted_id(pair) for pair in pairs]
            metafunc.parametrize("interpreted", pairs, ids=ids)
        if "walk" in metafunc.fixturenames:
            walks = session.asked.walks()
            metafunc.parametrize("walk", walks, ids=[session.asked.walk_id(pair) for pair in walks])
        if "part" in metafunc.fixturenames:
            parts = [c for c in session.challenges if c.memory and not session.request.only]
            metafunc.parametrize("part", parts, ids=[c.entry for c in parts])
        if "bar" in metafunc.fixturenames:
            bars: list[tuple[Challenge, Speed]] = [
                (c, s) for c in session.challenges for s in c.speeds if session.timed
            ]
            metafunc.parametrize("bar", bars, ids=[bar_id(session, *bar) for bar in bars])

        if "claimed" in metafunc.fixturenames:
            shapes = session.asked.claims()
            ids = [
                f"{claim.backend}-{claim.part}-{session.asked.case_id((c, case))}"
                for c, claim, case in shapes
            ]
            metafunc.parametrize("claimed", shapes, ids=ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """The checks are one file: pytest need not look at those beside it."""
        return True if collection_path.is_file() and collection_path.name != CHECKS.name else None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drop what pytest made of empty parameter lists, and what the cases of a GPU show by themselves."""
        items[:] = [item for item in items if not any(mark.name == "skip" for mark in item.iter_markers())]
        if not acceptance.wanted(self.session_):
            items[:] = [item for item in items if item.name != "test_compiles"]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        names = [self._name(item) for item in session.items]
        self.left = dict(Counter(_group(name) for name in names))
        self._tell({"event": "planned", "checks": names})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        name = self._name(item)
        self.left[_group(name)] -= 1
        if self._unreachable(_group(name)):
            self._record(Check(name, "not reached"))
            if _group(name) != self.failed_group:
                self._end(item)
            pytest.skip("not reached")
        self._tell({"event": "started", "check": name})
        self.begin = time.perf_counter()

    def _end(self, item: pytest.Item) -> None:
        """No group after a failed one is reached: leave the rest out at once."""
        items = item.session.items
        rest = items.index(item) + 1
        for other in items[rest:]:
            self._record(Check(self._name(other), "not reached"))
        del items[rest:]  # `shouldstop` raises, and pytest writes out who called whom: a tenth of a second

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Turn what a check raised into its outcome; the report that pytest makes of it is not used."""
        if call.when != "call":
            if call.excinfo and not call.excinfo.errisinstance(pytest.skip.Exception):
                self.broken = str(call.excinfo.getrepr())
            return
        name = self._name(item)
        outcome, cause = self._outcome(item, call.excinfo)
        self._record(Check(name, outcome, round(time.perf_counter() - self.begin, 4), cause))
        if outcome not in HARMLESS:
            self.failed_group = _group(name)
            self.failures += 1
            if self.failures == ENOUGH:
                self.step = max(1, self.left[self.failed_group] // MORE)
            if outcome in ("crashed", "timeout"):
                self.stopped_group = self.failed_group

    def _name(self, item: pytest.Item) -> str:
        group, bracket, rest = item.name.removeprefix("test_").partition("[")
        group = "edges" if group in EDGES else group
        single = group in ("memory", "fast") and len(self.session_.challenges) == 1
        single = single and (group == "memory" or len(self.session_.challenges[0].speeds) == 1)
        return group if single else group + bracket + rest

    def _unreachable(self, group: str) -> bool:
        """A group is not reached once one before it failed; nor is the rest of a group that lost its
        runner, nor most of one that has failed often enough.
        """
        if self.failed_group not in (None, group) or self.stopped_group == group:
            return True
        return self.left[group] % self.step != 0

    def _outcome(
        self, item: pytest.Item, raised: pytest.ExceptionInfo[BaseException] | None
    ) -> tuple[Outcome, dict[str, Any]]:
        error = raised.value if raised else None
        if error is None:
            return "passed", {}
        if isinstance(error, NotMeasured):
            return "not measured", {"reason": str(error)}
        if isinstance(error, CheckFailed):
            if error.outcome == "limit":
                self.limits[self._name(item)] = error
            else:
                self._own(item.name, error)
            return error.outcome, {**error.cause, **_words(item)}
        assert raised is not None
        self.broken = str(raised.getrepr())
        return "failed", {"reason": "the grader failed here"}

    def _own(self, name: str, error: CheckFailed) -> None:
        """Keep what the first check says that knows why, or else the first; the first is on the screen, or
        where noise left it open the first that it did not.
        """
        evidence = self.session_.evidence
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


def _group(name: str) -> str:
    return name.partition("[")[0]


def _words(item: pytest.Item) -> dict[str, Any]:
    """What the words in the name of a check's case mean."""
    given: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
    for name, way in (("case", ""), ("walk", "walked"), ("staged", "staged"), ("interpreted", "interpreted")):
        challenge, case = given.get(name, (None, None))
        if case is not None and (found := meanings(challenge, case, way)):
            return {"words": found}
    return {}


def bar_id(session: Session, challenge: Challenge, speed: Speed) -> str:
    """The case's id, and which pass is timed where it is not the forward pass."""
    name = session.asked.case_id((challenge, speed.case))
    return name if speed.part == "forward" else f"{name}-{speed.part}"
