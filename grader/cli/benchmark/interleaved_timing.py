"""Kernels timed in turns at one point, by the stopwatch that grades.

Each is called once and held against torch, as a timed call of a grading is, and warmed up. Then come rounds,
in each of which every kernel is timed in a shuffled order, so that a clock that changes changes for all.
Short calls are captured in CUDA graphs, of every kernel that can be; the clock on the wall is asked before,
so that it has the launches from Python.
"""

from __future__ import annotations

import contextlib
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from grader.challenge import Case, Challenge, Speed
from grader.challenge.case import SHORT, readable
from grader.challenge.harness import rounding_ties
from grader.challenge.harness.oracle import Values, as_asked, as_tuple, gradient_positions, values_of
from grader.challenge.harness.trial import draw, draw_upstream
from grader.cli.benchmark.contenders import Contender
from grader.cli.benchmark.kernel_attributes import noting
from grader.cli.benchmark.libraries import Function
from grader.cli.benchmark.results import COPY
from grader.cli.benchmark.times import Times
from grader.judge.speed.values_of_timed_calls import widened, wrong
from grader.performance.timing.autograd_passes import Timed, timed
from grader.performance.timing.stopwatch import Stopwatch, copying, rollable, short

SEED, DEVICE = 4021, "cuda"
ROUNDS, ROUND_US = 11, 5000.0  # how many, and of how much work each
WARM = 0.1  # seconds
SAMPLED = 4096  # elements from each end of an output, and as many from anywhere
BURST = 20  # calls for the clock on the wall
INEXACT = "its values are further off than a case allows"


class Turns:
    """The kernels of one bar at one case.

    Args:
        trying: called with a kernel's name before it runs for the first time, and again before each turn.
    """

    def __init__(
        self, challenge: Challenge, speed: Speed, case: Case, trying: Callable[[str], object]
    ) -> None:
        self.challenge, self.speed, self.trying = challenge, speed, trying
        self.arguments = draw(challenge, case, SEED, DEVICE)
        self.of = gradient_positions(challenge, self.arguments)
        self.upstream: tuple[Any, ...] = ()
        if speed.part != "forward":
            outputs = values_of(challenge, self.arguments)
            self.upstream = draw_upstream(case, outputs, SEED, DEVICE, len(challenge.writes))
        self.writes = challenge.writes if speed.part != "backward" else ()
        self.moved = float(speed.moved(*self.arguments))
        self.flops = float(speed.flops(*self.arguments)) if speed.flops else 0.0
        self.operands = SHORT[next(x.dtype for x in self.arguments if isinstance(x, torch.Tensor))]
        self.length = challenge.reduces(case) if challenge.reduces else 1
        self.wanted: list[tuple[torch.Tensor, torch.Tensor]] | None = None

    def _timed(self, function: Function, arguments: Sequence[Any], writes: Sequence[int] = ()) -> Timed:
        return timed(function, arguments, self.upstream, self.of, self.speed.part, writes)

    def _written(self, one: Contender) -> Sequence[int]:
        return self.challenge.writes if one.in_place else ()

    def run(self, given: Sequence[Contender], times: dict[str, Times]) -> None:
        """Fills in the times of each, and of a copy of as many bytes.

        Who had no memory beside the others is timed alone, behind them.

        Raises:
            RuntimeError: the GPU is lost; `times` has who did it.
        """
        times.update({one.name: Times() for one in given} | {COPY: Times()})
        watches = {one.name: watch for one in given if (watch := self._ready(one, times[one.name]))}
        watches[COPY] = self._copy()
        times[COPY].wall_us = _wall(watches[COPY])
        self._capture(watches, times)
        self._rounds(watches, times)
        watches.clear()
        torch.cuda.empty_cache()
        for one in given if len(given) > 1 else ():
            if times[one.name].problem.startswith(torch.cuda.OutOfMemoryError.__name__):
                kept = times[COPY]
                self.run([one], times)
                times[COPY] = kept

    def once(self, one: Contender) -> None:
        """Call it, on copies of the arguments: it is compiled then."""
        function = one.make(self.arguments)
        part, handed = self._timed(function, _fresh(self.arguments), self._written(one))
        part(*handed)

    def _ready(self, one: Contender, times: Times) -> Stopwatch | None:
        """Its stopwatch, warm; None where it cannot be timed, and `times` says why."""
        self.trying(one.name)
        writes = self._written(one)
        try:
            function = one.make(self.arguments)
            part, handed = self._timed(function, _fresh(self.arguments), writes)
            with noting(times.kernels):
                result = part(*handed)
            if self._differs(result):
                times.problem = INEXACT
            del result
            # A backward pass alone keeps the arguments of its forward pass, and may write to them.
            own = _fresh(self.arguments) if self.speed.part == "backward" else self.arguments
            part, handed = self._timed(function, own, writes)
            watch = Stopwatch(part, handed, rollable(handed, self.speed.rolled, self.writes), self.writes)
            watch.warm_up(WARM)
            times.wall_us = _wall(watch)
        except Exception as error:
            times.problem = first_line(error)
            torch.cuda.synchronize()  # an illegal access, for one, ends all work of a process
            torch.cuda.empty_cache()
            return None
        return watch

    def _copy(self) -> Stopwatch:
        copy, source = copying(self.moved)
        watch = Stopwatch(copy, [source], [])
        watch.warm_up(WARM)
        return watch

    def _differs(self, result: Any) -> bool:
        """Whether some output is wrong; of what is random nothing can be said here."""
        if self.challenge.chance or self.challenge.frequencies:
            return False
        got = [_sampled(out) for out in as_tuple(result) if isinstance(out, torch.Tensor)]
        if self.wanted is None:
            self.wanted = self._wanted()
        return any(  # a library may return fewer
            out.shape != plain.shape or wrong(self._settled(out, plain), plain, wide, self.length)
            for out, (plain, wide) in zip(got, self.wanted, strict=False)
        )

    def _settled(self, out: torch.Tensor, plain: torch.Tensor) -> torch.Tensor:
        return rounding_ties.without(out, plain) if self.challenge.accept else out

    def _wanted(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Of each output some elements: by torch, and by torch in fp32."""

        def of(arguments: Sequence[Any], upstream: Sequence[Any]) -> Values:
            how = upstream, self.of, self.speed.part
            function, handed = timed(lambda *a: values_of(self.challenge, a), arguments, *how)
            return as_tuple(function(*handed))

        def sampled(results: Values) -> list[torch.Tensor]:
            return [_sampled(out) for out in results if isinstance(out, torch.Tensor)]

        results = of(self.arguments, self.upstream)
        wide = sampled(results)
        plain = sampled(as_asked(self.challenge, self.arguments, results, self.speed.part, self.of))
        del results
        # A backward pass alone has its forward pass behind it, in its own dtype.
        if self.speed.part != "backward":
            with contextlib.suppress(torch.cuda.OutOfMemoryError):
                wide = sampled(of([widened(x) for x in self.arguments], [widened(x) for x in self.upstream]))
        return list(zip(plain, wide, strict=True))

    def _capture(self, watches: dict[str, Stopwatch], times: Mapping[str, Times]) -> None:
        """Where one contender's call is short, each that can be captured is, and the copy."""
        us = {name: self._turn(name, watches, times, 3, [1, 2, 3]) for name in list(watches)}
        if any(short(us[name]) for name in watches if name != COPY):
            for name, watch in watches.items():
                self.trying(name)
                watch.capture(us[name])

    def _rounds(self, watches: dict[str, Stopwatch], times: Mapping[str, Times]) -> None:
        """All rounds; the first says how many calls make one and is not counted."""
        rng, calls = random.Random(SEED), dict.fromkeys(watches, 3)
        for number in range(ROUNDS + 1):
            for name in rng.sample(list(watches), len(watches)):
                us = self._turn(name, watches, times, calls[name], _nonces(rng, calls[name]))
                times[name].rounds += [us] if number and name in watches else []
                calls[name] = max(1, min(50, int(ROUND_US / max(us, 1.0))))

    def _turn(
        self,
        name: str,
        watches: dict[str, Stopwatch],
        times: Mapping[str, Times],
        calls: int,
        nonces: Sequence[int],
    ) -> float:
        """The median of some calls, µs. Who breaks has no time, and no stopwatch any more."""
        self.trying(name)
        try:
            return float(statistics.median(watches[name].round(calls, nonces)))
        except Exception as error:
            times[name].problem, times[name].rounds = first_line(error), []
            torch.cuda.synchronize()  # an illegal access, for one, ends all work of a process
            del watches[name]
            return 0.0


def _fresh(arguments: Sequence[Any]) -> list[Any]:
    """Copies, for a call that may write to them."""
    return [value.clone() if isinstance(value, torch.Tensor) else value for value in arguments]


def _nonces(rng: random.Random, count: int) -> list[int]:
    return [rng.randrange(1, 1 << 40) for _ in range(count)]


def _sampled(out: torch.Tensor) -> torch.Tensor:
    """Elements from both ends and from anywhere between, always the same ones; on the CPU, readable."""
    flat, count = out.detach().reshape(-1), out.numel()
    if count <= 3 * SAMPLED:
        return readable(flat.cpu())
    between = torch.randint(count, (SAMPLED,), generator=torch.Generator().manual_seed(SEED))
    places = torch.cat([torch.arange(SAMPLED), torch.arange(count - SAMPLED, count), between])
    return readable(flat[places.to(flat.device)].cpu())


def _wall(watch: Stopwatch) -> float:
    """µs of one of many calls in a row by the clock on the wall, less what a burst costs by itself."""

    def clock(calls: int) -> float:
        begin = time.perf_counter()
        watch.burst(calls)
        return (time.perf_counter() - begin) * 1e6

    few = 2 if clock(1) > ROUND_US else BURST
    return max(0.0, min((clock(2 * few) - clock(few)) / few for _ in range(3)))


def first_line(error: Exception) -> str:
    """What went wrong, in one line."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:200]}" if text else type(error).__name__
