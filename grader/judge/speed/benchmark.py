"""A benchmark on a GPU: the learner's kernel, torch and this GPU's own copy, timed in turns in one run."""

from __future__ import annotations

import functools
import math
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from grader.challenge import Challenge, Speed
from grader.challenge.case import readable
from grader.challenge.harness import rounding_ties
from grader.challenge.harness.argument_serialization import pack_arguments, read_outputs
from grader.challenge.harness.compare import CLOSE
from grader.challenge.harness.goodness_of_fit import possible
from grader.challenge.harness.message_validation import Form
from grader.challenge.harness.oracle import Values, as_asked, as_tuple, gradient_positions, values_of
from grader.challenge.harness.runner_client import Runner
from grader.challenge.harness.timeouts import in_line
from grader.challenge.harness.trial import SLICE, draw, draw_upstream
from grader.judge.failures import CheckFailed, by_kernels, failed
from grader.judge.session import Session
from grader.judge.speed.ratio import Ratio, bar_ratio
from grader.judge.speed.values_of_timed_calls import distance, near, widened, wrong
from grader.performance.timing.autograd_passes import Timed, timed
from grader.performance.timing.stopwatch import Stopwatch, copying, roll_into, rollable
from grader.runner_measurements import Burst, Prepared, Round, Verified

ROUND_US = 2000.0  # of work in a round; with 5000 the ratios of five gradings spread no less
FIRST = 15  # rounds
BRIEFLY = 0.05  # seconds: the learner's kernel has brought the GPU to its clocks by then
HOPELESS, FEW = 4.0, 3  # so many times too slow while warming up: as many rounds are enough to say so
AUDITED = 4000.0  # µs of work that the judge's own clock is held around, in at most 20 calls
AUDITS, PAUSE = 4, 0.3  # how often at most, with so many seconds in between
BUSY = 0.05  # of the time: who stands in line for a core so long shares a busy machine
IMPOSSIBLE = 0.8  # of the time of a copy: a copy reaches about 0.88 of the data sheet, so nothing is faster


class Benchmark:
    """The learner's kernel, torch and two copies, timed in turns.

    Args:
        session: whose runner holds the learner's file.
    """

    def __init__(self, session: Session, challenge: Challenge, speed: Speed) -> None:
        self.session, self.challenge, self.speed = session, challenge, speed
        self.random = session.request.rng(speed.case.id, "rounds")
        self.arguments = draw(challenge, speed.case, session.request.seed, "cuda")
        self.of = gradient_positions(challenge, self.arguments)
        self.upstream = self._upstream() if speed.part != "forward" else ()
        self.right, self.timed_arguments = self._timed(self._reference)
        self.writes = challenge.writes if speed.part != "backward" else ()
        self.rolled = rollable(self.timed_arguments, speed.rolled, self.writes)
        self.moved = speed.moved(*self.arguments)
        self.times: dict[str, list[float]] = {"yours": [], "torch": [], "copy": [], "again": []}
        self.runner: Runner = session.ready_runner()
        self.begin, self.in_line_before = time.monotonic(), self._in_line()

    def _reference(self, *arguments: Any) -> Values:
        return values_of(self.challenge, arguments)

    def _upstream(self) -> Values:
        outputs = values_of(self.challenge, self.arguments)
        written = len(self.challenge.writes)
        return draw_upstream(self.speed.case, outputs, self.session.request.seed, "cuda", written)

    def _timed(self, function: Callable[..., Any]) -> Timed:
        return timed(function, self.arguments, self.upstream, self.of, self.speed.part)

    def prepare(self) -> None:
        """Warm everything up; short calls are captured in graphs, all of them or none."""
        mine = self._prepare_runner()
        self.graph_calls = mine.graph_calls
        copy, source = copying(self.moved)
        self.copy: Callable[[], Any] = functools.partial(copy, source)
        peer, handed = self._timed(self.speed.torch or self._reference)
        self.watches = {
            "torch": Stopwatch(peer, handed, self.rolled, self.writes),
            "copy": Stopwatch(copy, [source], []),
            "again": Stopwatch(copy, [source], []),
        }
        needed = 0.0
        for who, watch in self.watches.items():
            us = watch.warm_up(0.0 if who == "again" else BRIEFLY)  # the copy is warm by then
            share = {"copy": self.speed.of_copy, "torch": self.speed.of_torch}.get(who)
            needed = max(needed, us / share if share else 0.0)
            if self.graph_calls:
                watch.capture(us)
        self.rounds = FIRST if mine.us < HOPELESS * needed else FEW
        self.calls = max(1, min(50, int(ROUND_US / max(mine.us, 1.0))))

    def _prepare_runner(self) -> Prepared:
        count = len(self.arguments)
        names = [
            *self.session.names[self.challenge.entry][:count],
            *["an upstream gradient"] * len(self.upstream),
        ]
        specs, blobs = pack_arguments((*self.arguments, *self.upstream), names)
        request = {
            "do": "prepare",
            "entry": self.challenge.entry,
            "arguments": specs[:count],
            "upstream": specs[count:],
            "of": self.of,
            "part": self.speed.part,
            "writes": list(self.challenge.writes),
            "rolled": self.rolled,
            "allow": list(self.challenge.allow),
        }
        prepared, _ = self.ask(request, Prepared, blobs)
        by_kernels(prepared.work)
        return prepared

    def ask(
        self, command: dict[str, Any], form: type[Form], storages: Sequence[torch.Tensor] = ()
    ) -> tuple[Form, list[bytearray]]:
        """One command to the runner; a fault of the learner's code fails the check."""
        return self.session.ask(self.speed.case, command, form, storages)

    def round(self) -> None:
        """Time each once, in a shuffled order, and look at one output of the learner's."""
        order = list(self.times)
        self.random.shuffle(order)
        for who in order:
            calls = self.random.randint(self.calls, self.calls + 2)
            nonces = [self.random.randrange(1, 1 << 40) for _ in range(calls)]
            if who == "yours":
                report, _ = self.ask({"do": "round", "calls": calls, "nonces": nonces}, Round)
                by_kernels(report.work)
                us = report.us
            else:
                us = self.watches[who].round(calls, nonces)
            self.times[who].append(statistics.median(us))

    def ratio(self) -> Ratio:
        """How many times the needed speed was reached, with its interval."""
        return bar_ratio(self.times, self.speed.of_copy, self.speed.of_torch, random.Random(0))

    @functools.cached_property
    def smallest(self) -> int:
        """Elements of the smallest output, asked of torch once: its pass is the longest of all."""
        outputs = as_tuple(self.right(*self.timed_arguments))
        return min(out.numel() for out in outputs if isinstance(out, torch.Tensor))

    def verify(self) -> None:
        """An output of the last timed round must be right for the inputs of that very call."""
        smallest = self.smallest
        size = min(SLICE, smallest)
        starts = sorted(
            {0, smallest - size, *(self.random.randrange(smallest - size + 1) for _ in range(14))}
        )
        slices = [[start, start + size] for start in starts]
        request = {"do": "verify", "which": self.random.randrange(1 << 16), "slices": slices}
        report, data = self.ask(request, Verified)
        outputs, _ = read_outputs(report, data, size * len(slices))
        plain = self._wanted(outputs, slices, report.nonce)
        if self.challenge.accept:
            outputs = [rounding_ties.without(got, want) for got, want in zip(outputs, plain, strict=False)]
        length = self.challenge.reduces(self.speed.case) if self.challenge.reduces else 1
        if all(near(got, want, length) for got, want in zip(outputs, plain, strict=False)):
            return
        try:
            wide = self._wanted(outputs, slices, report.nonce, wide=True)
        except torch.cuda.OutOfMemoryError:
            wide = plain
        for number, (got, want, exact) in enumerate(zip(outputs, plain, wide, strict=False)):
            if wrong(got, want, exact, length):
                first = self._wanted(outputs, slices, None)[number]
                stale = bool(self.rolled) and near(got, first, length)
                raise _wrong_when_timed(distance(got, exact), stale)

    def _wanted(
        self, outputs: list[torch.Tensor], slices: list[list[int]], nonce: int | None, wide: bool = False
    ) -> list[torch.Tensor]:
        """Those slices of each output as torch has them for the inputs of that call, of the first one where
        `nonce` is None; `wide`, in fp32.
        """
        rolled = list(self.timed_arguments)
        if nonce is not None:
            for position in self.rolled:
                rolled[position] = torch.empty_like(self.timed_arguments[position])
                roll_into(rolled[position], self.timed_arguments[position], nonce)

        def pick(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            return readable(torch.cat([value.reshape(-1)[start:stop] for start, stop in slices]).cpu())

        # A backward pass alone has its forward pass behind it, in its own dtype.
        if wide and self.speed.part != "backward":
            rolled = [widened(value) for value in rolled]
        if self.challenge.frequencies:
            right = self.challenge.reference(*rolled)
            places = torch.cat([torch.arange(start, stop) for start, stop in slices])
            drawn = right.index_copy(0, places.to(right.device), outputs[0].to(right.device))
            could = possible(self.challenge.frequencies, tuple(rolled), drawn)
            return [pick(torch.where(could, drawn, right))]
        if self.challenge.chance is None:
            results = as_tuple(self.right(*rolled))
            if not wide:
                results = as_asked(self.challenge, self.arguments, results, self.speed.part, self.of)
            return [pick(out) for out in results]
        # What was dropped is told from the slices alone: every element by itself.
        few = [pick(value) for value in rolled]
        count = len(self.arguments)
        keep = self.challenge.chance.keep(*few[:count], *outputs)
        function, handed = timed(
            lambda *a: self.challenge.reference(*a, keep), few[:count], few[count:], self.of, self.speed.part
        )
        return list(as_tuple(function(*handed)))

    def audit(self) -> None:
        """The judge's own clock around back-to-back calls bounds what the runner says of one.

        A clock is no proof: on a busy machine a call lasts longer than its work. So where the two do not fit
        the time is left open, and nobody is accused.

        Raises:
            CheckFailed: inconclusive.
        """
        claimed, copied = (statistics.median(self.times[who]) for who in ("yours", "copy"))
        if claimed < IMPOSSIBLE * copied:
            raise _left_open(
                f"{claimed:.1f} µs were measured, and a copy of all bytes that must move takes {copied:.1f}."
            )
        each = max(1, min(20, int(AUDITED / (claimed * max(self.graph_calls, 1)))))
        once, twice = math.inf, math.inf
        for turn in range(AUDITS):
            time.sleep(PAUSE if turn else 0.0)
            for _ in range(3):
                once, twice = min(once, self._burst(each)), min(twice, self._burst(2 * each))
            # Their difference is less what a burst costs by itself.
            wall = (twice - once) / each / max(self.graph_calls, 1)
            if wall <= 2 * claimed + 100:
                return
        raise _left_open(f"{claimed:.0f} µs a call were measured on the GPU, and {wall:.0f} µs by the clock.")

    def _burst(self, calls: int) -> float:
        """µs of so many calls in a row by the judge's own clock."""
        begin = time.perf_counter()
        self.ask({"do": "burst", "calls": calls}, Burst)
        return (time.perf_counter() - begin) * 1e6

    def _in_line(self) -> float:
        return in_line(os.getpid()) + in_line(self.runner.pid)

    def check_idle(self) -> None:
        """That what was found slow was timed on a machine with cores to spare.

        Raises:
            CheckFailed: inconclusive, for this grading stood in line for a core.
        """
        waited, took = self._in_line() - self.in_line_before, time.monotonic() - self.begin
        if waited > BUSY * took:
            raise _left_open(
                f"This grading stood in line for a core for {waited:.1f} s while it timed for {took:.1f} s."
            )


def _left_open(seen: str) -> CheckFailed:
    """The end of a timing that is not to be trusted, by what was seen."""
    sentence = f"{seen} So its speed is not known: the machine is busy, or work is done where no timer looks."
    look_at = "what else runs on this machine; other streams and threads, if your code starts any"
    return failed(sentence, look_at, "inconclusive")


def _wrong_when_timed(off: float, stale: bool) -> CheckFailed:
    """The failure of a timed call with a wrong result."""
    if stale:
        sentence = "A timed call gave the result of the inputs that the first call had, and these are others."
        look_at = "what is kept from one call to the next"
    else:
        sentence = f"A timed call gave a wrong result: off by {off:.1g} of its norm."
        look_at = "sums that grow with the sizes" if off < CLOSE else "what is done at this size alone"
    return failed(sentence, look_at)
