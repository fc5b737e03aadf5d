"""The result of one grading: what the journal keeps, `--json` prints and the screens draw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from grader.bug_hunt_result import Hunt
from grader.claim_result import Claimed

SCHEMA = 1

Status = Literal["passed", "failed", "slow", "unstarted", "crashed", "timeout", "inconclusive"]
Outcome = Literal[
    "passed", "limit", "failed", "slow", "inconclusive", "crashed", "timeout", "not reached", "not measured"
]
HARMLESS = ("passed", "limit", "not reached", "not measured")  # outcomes that decide nothing

EXIT_PASSED, EXIT_NOT_YET, EXIT_USAGE, EXIT_CANNOT_GRADE = 0, 1, 2, 3


@dataclass(frozen=True)
class Check:
    """One line of a grading.

    Attributes:
        name: the group and, in brackets, the case: `imports`, `correct[rows=4-cols=8-fp32]`, `fast`.
        outcome: how it ended; `not reached` when a group before it failed, `not measured` without a GPU;
            `limit` where it failed by a demand that is no requirement of the day (requirements.py).
        seconds: wall time of the check in the judge.
        cause: for a failure, its facts: `reason` (one line), and where they apply `index` (of the
            worst element), `at` (that index, and of which result), `expected`, `got`, `off` (their distance),
            `max_error` and `allowed`, shares of the norm of `over` (norms where `relative` is False: 0 is
            right in all of it), `line` (of the learner's file), `traceback`, `fact` (what was compiled or
            counted of its launches, on which `gpu`: see speed_facts.py), `words` of the case's name with
            what they mean. Of a limit also its `demand`.
    """

    name: str
    outcome: Outcome
    seconds: float = 0.0
    cause: dict[str, Any] = field(default_factory=dict)

    @property
    def group(self) -> str:
        """`correct` for `correct[rows=4-cols=8-fp32]`."""
        return self.name.partition("[")[0]


@dataclass(frozen=True)
class SpeedResult:
    """What the `fast` check found; times in microseconds, shares as fractions.

    Attributes:
        evidence: `measured` on a GPU, `predicted` without one.
        yours_us: median time of one call.
        needed_us: the slowest time that passes the bar.
        torch_us: the same call by torch.
        copy_us: a plain device copy that moves as many bytes.
        of_copy: copy_us / yours_us.
        of_torch: torch_us / yours_us.
        bar: the bar in words, "0.60 of copy".
        ratio: how many times the needed speed was reached; 1.0 is the bar.
        interval: 95 % bootstrap interval of `ratio`.
        rounds: timing rounds taken.
        noise: the same copy timed twice in the same run, one over the other; 1.0 on a quiet machine.
        gpu: the GPU that a predicted time is for. Of a prediction torch_us and of_torch are 0, the interval
            is a point, and nothing was run.
        ours_us: what is predicted for our solution; 0 where it was measured, for ours was not.
    """

    evidence: Literal["measured", "predicted"]
    yours_us: float
    needed_us: float
    torch_us: float
    copy_us: float
    of_copy: float
    of_torch: float
    bar: str
    ratio: float
    interval: tuple[float, float]
    rounds: int
    noise: float | None = None
    gpu: str = ""
    ours_us: float = 0.0


@dataclass(frozen=True)
class Limit:
    """A demand that the file does not meet, and that fails nothing.

    Attributes:
        demand: its kind, of requirements.DEMANDS.
        check: the first check that shows it.
        says: one sentence.
        look_at: one thing to look at; may be empty.
    """

    demand: str
    check: str
    says: str
    look_at: str = ""


State = Literal["right", "wrong", "not started", "not judged"]


@dataclass(frozen=True)
class Part:
    """How far one piece of the day is: the learner's, tried on some cases with our code around it.

    Attributes:
        name: what the day calls it.
        state: `right` in all of those cases; `not judged` where nothing is known of it yet.
        line: of the learner's file, where trying it raised an exception; else 0.
        bare: of what is right, the TODOs below which no line was written: `TODO 8`.
    """

    name: str
    state: State
    line: int = 0
    bare: str = ""


def decisive(checks: Iterable[Check]) -> Check | None:
    """The first check that did not pass, though it was reached and could be measured.

    One that noise left open decides nothing where another did not pass: of two bars, say, which both count.
    """
    failed = [one for one in checks if one.outcome not in HARMLESS]
    return next((one for one in failed if one.outcome != "inconclusive"), failed[0] if failed else None)


@dataclass(frozen=True)
class Verdict:
    """How one file did on one day.

    Attributes:
        day: its number; the slug of an extra.
        seed: replays this grading: `track grade 13 --seed 4021`.
        device: "NVIDIA H200" or "cpu".
        sha256: of the file as it was graded.
        diagnosis: one sentence that names the likely mistake; empty on a pass.
        look_at: one thing to look at, such as "line 14" or "the mask of the store"; may be empty.
        edit: of a file that fails, one edit with which every case that was tried is right. `track hint`
            tells it with the last hint. Empty where none is known.
        beside: of a pass whose speed was predicted, how our solution differs; else empty.
        limits: of a file that is right, what it does not meet and need not.
        pieces: of a file that is not right yet, how far each part of it is; empty where that is not known.
        confined, not_confined: of a strict grading that loaded the file, what was put in force before, and
            what this machine does not grant; by the names of runner_answers.CONFINEMENTS.
        hunt: of a bug hunt, how far it is; None of all else, and where nothing was tried.
        interpreted: the case that failed on a GPU does so evaluated without it, and what that saw is told.
        claims: what came of the claims about such kernels, where that was asked for.
    """

    day: int | str
    status: Status
    seed: int
    device: str
    versions: dict[str, str]
    checks: tuple[Check, ...] = ()
    speed: SpeedResult | None = None
    diagnosis: str = ""
    look_at: str = ""
    edit: str = ""
    beside: str = ""
    sha256: str = ""
    seconds: float = 0.0
    output: str = ""
    limits: tuple[Limit, ...] = ()
    pieces: tuple[Part, ...] = ()
    confined: tuple[str, ...] = ()
    not_confined: tuple[str, ...] = ()
    hunt: Hunt | None = None
    interpreted: bool = False
    claims: tuple[Claimed, ...] = ()

    @property
    def exit_code(self) -> int:
        return EXIT_PASSED if self.status == "passed" else EXIT_NOT_YET

    @property
    def on_gpu(self) -> bool:
        return not self.device.startswith("cpu")

    @property
    def failed(self) -> Check | None:
        """The check that decided; None where all passed."""
        return decisive(self.checks)

    @property
    def for_the_hint(self) -> bool:
        """Whether the diagnosis may name a bug that is still to be found: `track hint` tells it then.

        Not what the file does wrong otherwise: where it raises, or does not do its own work.
        """
        failed, bugs = self.failed, self.hunt.bugs if self.hunt else ()
        wrong = failed is not None and failed.group in ("correct", "edges") and "type" not in failed.cause
        return wrong and any(bug.state in ("standing", "hidden") for bug in bugs)

    @property
    def correct(self) -> bool:
        """Whether all values are right and the file's own kernel made them, however fast it is."""
        late = self.failed is not None and self.failed.group in ("memory", "fast")
        return self.status in ("passed", "slow") or (late and self.status == "inconclusive")

    def score(self) -> float:
        """How good the file is, from 0 to 1: for a leaderboard, or as the reward of a training loop.

        0 for what does not import, and for what is not honest: a result that did not come from the file's
        own kernel is worth nothing; nor is one of which no value was seen. Else the sum of

        - 0.3 × the share of `correct` cases that passed, and 0.2 × that of `edges`; what was not reached
          has not passed, what cannot be measured here is left out;
        - 0.1 for a grading that passed as a whole;
        - 0.2 × the share of the needed speed that was reached, once every case is right;
        - 0.2 × how far a pass is on its way from the needed time to the limit, a plain copy of the bytes
          that the task must move (see SpeedResult): 0 at the bar, 1 where nothing is left to gain.

        It is one scale whatever was asked for. A pass is at least 0.8 where its speed is known, 0.6 where it
        could not be measured or was not asked for, and 1 on a day without a bar. Of a prediction the times
        are predicted ones: `speed.evidence` says which.
        """
        first = self.failed
        unseen = self.status == "unstarted" or (self.status == "inconclusive" and not first)
        if not self.checks or unseen or (first and first.group in ("imports", "honest")):
            return 0.0
        right = 0.3 * self._share("correct") + 0.2 * self._share("edges")
        passed = self.status == "passed"
        if self.speed is None:
            barred = any(check.group == "fast" for check in self.checks)
            return right + 0.1 * passed + 0.4 * (passed and not barred)
        speed = self.speed
        room = speed.needed_us - speed.copy_us
        gained = min(1.0, max(0.0, (speed.needed_us - speed.yours_us) / room)) if room > 0 else 1.0
        return right + 0.1 * passed + 0.2 * min(1.0, speed.ratio) + 0.2 * gained * passed

    def _share(self, group: str) -> float:
        """Of the group's cases that could be tried, how many passed; all of none, once the rest is right."""
        outcomes = [check.outcome for check in self.checks if check.group == group]
        tried = [outcome for outcome in outcomes if outcome != "not measured"]
        if not tried:
            return float(self.status in ("passed", "slow", "inconclusive"))
        return sum(outcome in ("passed", "limit") for outcome in tried) / len(tried)

    def to_json(self) -> dict[str, Any]:
        """The document that `--json` prints; `schema` changes when a field changes its meaning."""
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Verdict:
        """The verdict that `to_json` wrote.

        Raises:
            KeyError, TypeError: it is not such a document.
        """
        fields = {name: value for name, value in document.items() if name in cls.__dataclass_fields__}
        fields["checks"] = tuple(Check(**check) for check in fields.get("checks", ()))
        fields["limits"] = tuple(Limit(**limit) for limit in fields.get("limits", ()))
        fields["pieces"] = tuple(Part(**part) for part in fields.get("pieces", ()))
        fields |= {name: tuple(fields.get(name, ())) for name in ("confined", "not_confined")}
        fields["hunt"] = Hunt.from_json(fields.get("hunt"))
        fields["claims"] = tuple(Claimed.from_json(claim) for claim in fields.get("claims", ()))
        if fields.get("speed"):
            fields["speed"] = SpeedResult(
                **{**fields["speed"], "interval": tuple(fields["speed"]["interval"])}
            )
        return cls(**fields)
