"""One planted file, graded: what it got, and what of that is not what it must get."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Any, Literal

from grader.challenge.loading import load_challenges
from grader.cli.screens.result_footer import spoken
from grader.course.catalog import Day
from grader.diagnosis.lines import lines_named
from grader.errors import TrackError
from grader.grading.grade import grade
from grader.grading.warm_client import Warm
from grader.judge.bug_hunt_progress import states
from grader.judge.main import UNSEEN
from grader.verdict import HARMLESS, SpeedResult, Verdict
from tools import planted
from tools.diagnosis_validity import untrue

Kind = Literal["solution", "fast", "right", "laggard", "mistake", "bugs", "exploit"]
RIGHT: tuple[Kind, ...] = ("solution", "fast", "right")


@dataclass(frozen=True)
class Bugged:
    """The solution with some of the bugs of a hunt."""

    bugs: tuple[str, ...]

    @property
    def name(self) -> str:
        return " and ".join(self.bugs)

    def source(self, day: Day) -> str:
        return planted.with_bugs(day, self.bugs)


@dataclass(frozen=True)
class Planted:
    """A file that a day is proved by."""

    day: Day
    kind: Kind
    file: Path | planted.Mistake | planted.Laggard | planted.Exploit | Bugged

    @property
    def name(self) -> str:
        return self.file.stem if isinstance(self.file, Path | planted.Exploit) else self.file.name

    @property
    def source(self) -> str:
        if isinstance(self.file, planted.Exploit):
            return self.file.path.read_text(encoding="utf-8")
        return (
            self.file.read_text(encoding="utf-8")
            if isinstance(self.file, Path)
            else self.file.source(self.day)
        )

    @property
    def timed(self) -> bool:
        """Whether it must be seen how fast it is; what is wrong before fails first."""
        wrong = isinstance(self.file, planted.Mistake) and self.file.fails != "fast"
        return not (wrong or isinstance(self.file, Bugged))

    @property
    def strictly_right(self) -> bool:
        """Whether it passes where every limit is a requirement."""
        limited = isinstance(self.file, Path) and planted.may_have_limits(self.file)
        return self.kind in RIGHT and not limited

    @property
    def by_values(self) -> bool:
        """Whether it gets what it must where nothing is timed."""
        return not self.timed or self.kind in RIGHT


@dataclass(frozen=True)
class Tried:
    """What became of a planted file.

    Attributes:
        sha256: of its source and of what the day judges it by.
        status: of the verdict; empty where there is none.
        wrong: each thing that is not as it must be, in words.
    """

    day: str
    kind: Kind
    name: str
    sha256: str
    device: str
    strict: bool
    status: str = ""
    wrong: tuple[str, ...] = ()
    speed: SpeedResult | None = None
    seconds: float = 0.0

    def written(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, line: str) -> Tried:
        """Of what `written` wrote."""
        found = json.loads(line)
        speed = found["speed"]
        found["speed"] = speed and SpeedResult(**{**speed, "interval": tuple(speed["interval"])})
        return cls(**{**found, "wrong": tuple(found["wrong"])})


def planned(day: Day, on_gpu: bool) -> Iterator[Planted]:
    """All that is planted for a day and shows there; of a hunt every set of its bugs."""
    yield Planted(day, "solution", day.solution)
    if day.fast_solution.is_file():
        yield Planted(day, "fast", day.fast_solution)
    yield from (Planted(day, "right", path) for path in planted.right(day))
    yield from (Planted(day, "laggard", each) for each in planted.laggards(day))
    yield from (Planted(day, "mistake", each) for each in planted.mistakes(day) if each.shows(on_gpu))
    every = list(planted.bugs(day))
    sets = chain.from_iterable(combinations(every, size + 1) for size in range(len(every)))
    yield from (Planted(day, "bugs", Bugged(names)) for names in sets)
    yield from (Planted(day, "exploit", each) for each in planted.exploits(day) if each.shows(on_gpu))


def attempt(each: Planted, warm: Warm, strict: bool = False, *, timed: bool = True) -> Tried:
    """Grade it, an exploit whole, and where a case is enough for its message that alone, too.

    Args:
        timed: see how fast it is, where that must be seen.
    """
    tried: dict[str, Any] = {"day": str(each.day.key), "kind": each.kind, "name": each.name}
    tried |= {"sha256": sha256(each), "device": warm.device, "strict": strict}
    exploit = each.file if isinstance(each.file, planted.Exploit) else None
    try:
        verdict = _graded(each, warm, strict, timed and not exploit)
        if exploit and timed and verdict.status == "passed":
            verdict = _graded(each, warm, strict, timed)  # only its time can show it, alone on its GPU
        told = _graded(each, warm, strict, False, exploit.only) if exploit and exploit.only else verdict
    except TrackError as error:
        return Tried(**tried, wrong=(f"{error}",))
    wrong = tuple(CHECKS[each.kind](each, verdict, told))
    return Tried(**tried, status=verdict.status, wrong=wrong, speed=verdict.speed, seconds=verdict.seconds)


def sha256(each: Planted) -> str:
    """Of its source and of the hidden tests."""
    return hashlib.sha256(each.source.encode() + each.day.hidden_tests.read_bytes()).hexdigest()


def speed_of(each: Planted, warm: Warm) -> Verdict:
    """The verdict on its speed alone.

    Raises:
        TrackError: there is none.
    """
    return _graded(each, warm, False, True, cases=False)


def _graded(
    each: Planted, warm: Warm, strict: bool, timed: bool, only: str | None = None, *, cases: bool = True
) -> Verdict:
    strict = strict or (isinstance(each.file, planted.Exploit) and each.file.strict)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(each.source, encoding="utf-8")
        return grade(
            each.day,
            path,
            warm=warm,
            strict=strict,
            only=only,
            cases=cases,
            speed=each.timed and timed,
            limits=each.strictly_right,
        )


def passed(verdict: Verdict) -> bool:
    """Whether it passes; without a GPU, kernels that run on one alone are only compiled."""
    return verdict.status == "passed" or verdict.diagnosis == UNSEEN


def _right(each: Planted, verdict: Verdict, _: Verdict) -> Iterator[str]:
    if not passed(verdict):
        yield said(verdict)


def _slow(each: Planted, verdict: Verdict, _: Verdict) -> Iterator[str]:
    """Where it cannot be seen that a laggard is one, it passes."""
    assert isinstance(each.file, planted.Laggard)
    stores = each.file.stores and (verdict.on_gpu or _failed_group(verdict) == "memory")
    got = "passed" if passed(verdict) else verdict.status
    wanted = "slow" if verdict.on_gpu or not each.file.unseen else "passed"
    if got != ("failed" if stores else wanted) or (stores and _failed_group(verdict) != "memory"):
        yield said(verdict)


def _caught(each: Planted, verdict: Verdict, _: Verdict) -> Iterator[str]:
    """It fails where it must, or passes with a limit; it is told why, and all that is said of it is true."""
    mistake = each.file
    assert isinstance(mistake, planted.Mistake)
    told = mistake.heard(verdict) != mistake.wish
    words = " or ".join(map(repr, mistake.words(verdict.on_gpu)))
    limit = mistake.fails == "limit"
    at = {_failed_group(verdict), _way(verdict)} & {*mistake.groups(verdict.on_gpu)}
    if (verdict.status == "passed") != limit:
        yield "no case shows it: it passes" if not limit else f"it fails, not with a limit: {said(verdict)}"
    elif not at and not limit:
        yield f"it fails another check than {mistake.fails}: {said(verdict)}"
    elif not told:
        yield (
            f"{words} is said, so wish=True goes" if mistake.wish else f"{words} is not said: {said(verdict)}"
        )
    if limit:
        return
    yield from (f"untrue: {what}" for what in untrue(verdict, each.source))
    if mistake.at and not verdict.on_gpu and mistake.at not in named(verdict.look_at, each.source):
        yield f"look at {verdict.look_at!r}, which does not name {mistake.at!r}"
    so_far = "" if verdict.on_gpu else spoken(verdict.pieces)
    if so_far and so_far != (mistake.so_far or so_far):
        yield f"so far {so_far}"


def named(look_at: str, source: str) -> str:
    """The lines of a source that are named: `lines 18, 19 and 26`."""
    lines = source.splitlines()
    return "\n".join(lines[number - 1] for number in lines_named(look_at))


def _hunted(each: Planted, verdict: Verdict, _: Verdict) -> Iterator[str]:
    """Of a bug hunt, what nothing hides stands, and what is absent is gone."""
    assert isinstance(each.file, Bugged)
    bugs = [bug for challenge in load_challenges(each.day.hidden_tests) for bug in challenge.bugs]
    found = [bug.state for bug in verdict.hunt.bugs] if verdict.hunt else []
    wanted = states(bugs, {bug.name: bug.name not in each.file.bugs for bug in bugs})
    if found != wanted or verdict.status != "failed":
        yield f"{', '.join(found)}; {said(verdict)}"


def _held(each: Planted, verdict: Verdict, told: Verdict) -> Iterator[str]:
    """It earns no pass, and is told what it does."""
    exploit = each.file
    assert isinstance(exploit, planted.Exploit)
    meant = _failed_group(told) == exploit.fails and exploit.heard(told.diagnosis)
    # On a GPU those for a CPU end by host memory that is none of a kernel's, in whatever words.
    if verdict.status == "passed" or not (meant or (verdict.on_gpu and not exploit.gpu)):
        yield f"{said(verdict)}; {said(told)}"


CHECKS = {
    "solution": _right,
    "fast": _right,
    "right": _right,
    "laggard": _slow,
    "mistake": _caught,
    "bugs": _hunted,
    "exploit": _held,
}


def _failed_group(verdict: Verdict) -> str:
    """Of the first check that did not pass."""
    return next((c.group for c in verdict.checks if c.outcome not in HARMLESS), "")


def _way(verdict: Verdict) -> str:
    """`by addresses` where the first check that did not pass looked at nothing else."""
    failed = next((c.name for c in verdict.checks if c.outcome not in HARMLESS), "")
    return "by addresses" if failed.endswith(("-evaluated]", "-walked]")) else ""


def said(verdict: Verdict) -> str:
    """The verdict in a line."""
    speed = f" ({verdict.speed.ratio:.2f} of the bar)" if verdict.speed else ""
    failed = next((c.name for c in verdict.checks if c.outcome not in HARMLESS), "")
    limits = "".join(f" [{limit.demand} {limit.check}: {limit.says}]" for limit in verdict.limits)
    return f"{verdict.status}{speed} {failed}: {verdict.diagnosis}{limits}"
